import type { Authorised, Signed } from '../../model/books.js'
import type { ExplainContext } from './explainFrames.js'

/** An authorisation in words, and whether it counts for a watch; see `ExplainedFrame`. */
export interface ExplainedSigned {
	readonly text: string
	readonly verdicts: readonly string[]
	readonly isSent: boolean
}

/** `held`: those of its transaction that held for the watches. Of several of one authority the last counts. */
export function explainSigned(
	signed: Signed,
	applied: readonly Pick<Authorised, 'at'>[],
	{ watches, checksum }: ExplainContext,
): ExplainedSigned {
	const { at, authority, delegate, chainId, nonce } = signed
	const what = delegate === null ? 'runs no code of others from then on' : `runs the code of ${checksum(delegate)}`
	const chain = chainId === 0n ? 'every chain' : `chain ${chainId}`
	const text = `auth_${at}: ${checksum(authority)} ${what} (signed for ${chain}, nonce ${nonce})`
	const isApplied = applied.some((one) => one.at === at)
	const verdicts: string[] = []
	let isSent = false
	for (const { label, watchlist, kinds, receivers } of watches.get(authority) ?? []) {
		const name = `${label ?? checksum(authority)} (${watchlist})`
		if (!isApplied) verdicts.push(`no alert for ${name}: it did not hold, or another in the list came after it`)
		else if (!kinds.includes('delegation')) verdicts.push(`no alert for ${name}: \`kinds\` leaves delegations out`)
		else {
			isSent = true
			verdicts.push(`counts for ${name}: delegation, if the code changed → ${receivers.join(', ')}`)
		}
	}
	return { text, verdicts: verdicts.length > 0 ? verdicts : ['the account that signed it is not watched'], isSent }
}
