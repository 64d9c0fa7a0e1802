/** Explains in words what `doctor` found at an endpoint. */

import type { Capabilities } from '../../chain/capabilities/capabilities.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { arbitrumMisses, isArbitrum } from '../../core/chains.js'

export interface Expected extends Pick<NetworkSettings, 'chainId' | 'confirmations' | 'settle'> {
	/** The source that is used; null when there is none. */
	readonly source: string | null
	/** Whether the endpoint can be used, as far as tested. */
	readonly isAble: boolean
	readonly blooms: 'plain' | 'extra bits' | 'not known'
	/** Null: its header has no timestamp. */
	readonly headAgeSeconds: number | null
}

/** What was seen that a reader should know of, whether or not something can be done about it. */
export function seenOf({ reasons, beyondHead }: Pick<Capabilities, 'reasons' | 'beyondHead'>): readonly string[] {
	if (beyondHead !== 'empty') return reasons
	return [...reasons, 'it answers requests beyond its head with nothing: it is never asked beyond the head it reports']
}

/** Each weakness with what to do about it; empty when there is nothing to fix. */
export function adviceFor(found: Capabilities, expected: Expected): readonly string[] {
	const { chainId, confirmations, settle, source, isAble, blooms, headAgeSeconds } = expected
	const filter = found.methods['trace_filter']
	const weaknesses: readonly (readonly [isSo: boolean, words: string])[] = [
		[
			found.chainId !== null && found.chainId !== BigInt(chainId),
			`it is on chain ${found.chainId}, and the configuration says ${chainId}: fix chain_id or the URL`,
		],
		[
			headAgeSeconds !== null && headAgeSeconds > 600,
			`its newest block is ${Math.round((headAgeSeconds ?? 0) / 60)} min old: the node lags or the chain has ` +
				'stopped; prefer another endpoint',
		],
		[
			source !== null && !isAble,
			`\`source: ${source}\` is not what it can do: drop \`source\`, or use another endpoint`,
		],
		[
			source === null,
			'it cannot tell what happens inside of transactions: use a node or a plan with trace_* or debug_* methods',
		],
		[
			isAble && (filter === 'wrong' || filter === 'no'),
			`it ${filter === 'no' ? 'has no trace_filter' : 'gives wrong answers to trace_filter'}, so ${source} is used: ` +
				'catching up takes more requests, and nothing is missed',
		],
		[confirmations === 'safe' && !found.safeTag, 'it does not know `safe`: set `confirmations` to a number'],
		[
			confirmations === 'finalized' && !found.finalizedTag,
			'it does not know `finalized`: set `confirmations` to a number',
		],
		[
			confirmations !== 'finalized' && settle === 'finalized' && !found.finalizedTag,
			'it does not know `finalized`: blocks count as settled after 64 more; set `settle` if that is not right here',
		],
		[isArbitrum(chainId) || /^nitro/i.test(found.clientVersion ?? ''), arbitrumMisses],
		[
			blooms === 'extra bits',
			'the bloom of its newest header has bits of no log that it gives: such blooms prove nothing; compare with an ' +
				'endpoint of another provider, which shows whether the chain makes them so or this one leaves logs out',
		],
	]
	return weaknesses.flatMap(([isSo, words]) => (isSo ? [words] : []))
}

/** What no proof can detect if all headers come from one endpoint; null with several endpoints. */
export function witnessInWords(endpoints: number): string | null {
	if (endpoints !== 1) return null
	return (
		'one endpoint: its answers are checked against headers and balances of its own, which finds out a node that has ' +
		'lost or mixed up something, and none that makes up whole blocks; that takes a second endpoint of another provider'
	)
}
