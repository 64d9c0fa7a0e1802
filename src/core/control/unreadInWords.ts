import { asksForContracts } from '../../kinds/all.js'
import type { WatchRules } from '../../model/watch.js'

type Rules = readonly Pick<WatchRules, 'network' | 'kinds'>[]

/** Whether a watch of the network asks for `control` or `code`. */
export function areContractsAsked(rules: Rules, network: string): boolean {
	return rules.some((rule) => rule.network === network && asksForContracts(rule))
}

/** Why watched contracts are not read; null: they are, or no watch of the network asks for `control` or `code`. */
export function contractsUnreadInWords(
	rules: Rules,
	{ name, isPrivate }: { readonly name: string; readonly isPrivate: boolean },
): string | null {
	if (!isPrivate || !areContractsAsked(rules, name)) return null
	return 'none is read on a private network, since that names its address: `control` and `code` are not reported'
}
