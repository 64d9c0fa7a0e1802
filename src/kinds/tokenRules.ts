import type { Address } from '../model/glossary.js'
import type { KnownTokens, TokenEvent } from '../model/token.js'
import type { Watch } from '../model/watch.js'

export const noTokens: KnownTokens = new Map()

/** Whether any of these rules asks for tokens; otherwise no logs need be read. */
export function asksForTokens(rules: Iterable<Pick<Watch, 'kinds' | 'tokens'>>, known: KnownTokens): boolean {
	const wanted = contractsWanted(rules, known)
	return wanted === null || wanted.size > 0
}

/** The contracts of all tokens that these rules ask for; null: any contract. */
export function contractsWanted(
	rules: Iterable<Pick<Watch, 'kinds' | 'tokens'>>,
	known: KnownTokens,
): ReadonlySet<Address> | null {
	const wanted = new Set<Address>()
	for (const { kinds, tokens = 'known' } of rules) {
		if (!kinds.includes('token') || tokens === 'none') continue
		if (tokens === 'all') return null
		for (const contract of tokens === 'known' ? known.keys() : tokens) wanted.add(contract)
	}
	return wanted
}

/** Why the watch gets no alert of this token; null: it gets one. A transfer of zero needs `tokens: all`. */
export function tokenRefusal(
	{ tokens = 'known' }: Pick<Watch, 'tokens'>,
	{ contract, amountRaw, standard }: TokenEvent,
	known: KnownTokens,
): 'tokens' | 'zero' | 'min_amount' | null {
	const token = known.get(contract)
	const isChosen =
		tokens === 'all' || (tokens === 'known' ? token !== undefined : tokens !== 'none' && tokens.has(contract))
	if (!isChosen) return 'tokens'
	if (amountRaw === 0n && tokens !== 'all') return 'zero'
	const least = standard === 'erc721' ? null : (token?.minAmountRaw ?? null)
	return least !== null && amountRaw < least ? 'min_amount' : null
}
