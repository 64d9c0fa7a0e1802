/** Explains in words what `doctor` found at an endpoint. */

import type { Capabilities } from '../../chain/capabilities/capabilities.js'
import { arbitrumMisses, isArbitrum } from '../../core/chains.js'

export interface Expected {
	readonly chainId: number
	readonly confirmations: number | 'safe' | 'finalized'
	readonly settle: number | 'finalized'
	/** The source that is used; null when there is none. */
	readonly source: string | null
	/** Whether the endpoint can be used, as far as tested. */
	readonly isAble: boolean
	readonly blooms: 'plain' | 'extra bits' | 'not known'
	/** Null: its header has no timestamp. */
	readonly headAgeSeconds: number | null
}

/** Blocks a request may span by default, by the beginning of the client's name (docs/nodes.md has the sources). */
const limitsByName: readonly (readonly [name: RegExp, blocks: number])[] = [
	[/^reth/i, 101],
	[/^anvil/i, 301],
	[/^besu/i, 1001],
]

/** The known range limit of an endpoint that has not refused any request yet. */
export function rangeLimitInWords(clientVersion: string | null): string {
	const known = limitsByName.find(([name]) => name.test(clientVersion ?? ''))
	return known === undefined
		? 'none known; learnt when it refuses'
		: `${known[1]} blocks, by its name; learnt when it refuses`
}

/** What was seen that a reader should know of, whether or not something can be done about it. */
export function seenOf({ reasons, beyondHead }: Pick<Capabilities, 'reasons' | 'beyondHead'>): readonly string[] {
	if (beyondHead !== 'empty') return reasons
	return [...reasons, 'it answers requests beyond its head with nothing: it is never asked beyond the head it reports']
}

/** Each weakness with what to do about it; empty when there is nothing to fix. */
export function adviceFor(found: Capabilities, expected: Expected): readonly string[] {
	const advice: string[] = []
	const { methods } = found
	const { source, isAble } = expected
	if (found.chainId !== null && found.chainId !== BigInt(expected.chainId)) {
		advice.push(
			`it is on chain ${found.chainId}, and the configuration says ${expected.chainId}: fix chain_id or the URL`,
		)
	}
	if (expected.headAgeSeconds !== null && expected.headAgeSeconds > 600) {
		advice.push(
			`its newest block is ${roughDuration(expected.headAgeSeconds)} old: the node lags or the chain has stopped; ` +
				'prefer another endpoint',
		)
	}
	if (source !== null && !isAble) {
		advice.push(`\`source: ${source}\` is not what it can do: drop \`source\`, or use another endpoint`)
	} else if (source === null) {
		advice.push(
			'it cannot tell what happens inside of transactions: use a node or a plan with trace_* or debug_* methods',
		)
	} else if (methods['trace_filter'] === 'wrong') {
		advice.push(`its trace_filter gives wrong answers, so ${source} is used; more requests, nothing is missed`)
	} else if (methods['trace_filter'] === 'no') {
		advice.push(`it has no trace_filter, so ${source} is used; catching up takes more requests`)
	}
	if (expected.confirmations === 'safe' && !found.safeTag)
		advice.push('it does not know `safe`: set `confirmations` to a number')
	if (expected.confirmations === 'finalized' && !found.finalizedTag) {
		advice.push('it does not know `finalized`: set `confirmations` to a number')
	} else if (expected.settle === 'finalized' && !found.finalizedTag) {
		advice.push(
			'it does not know `finalized`: blocks count as settled after 64 more; set `settle` if that is not right here',
		)
	}
	if (isArbitrum(expected.chainId) || /^nitro/i.test(found.clientVersion ?? '')) advice.push(arbitrumMisses)
	if (expected.blooms === 'extra bits') {
		advice.push(
			'the bloom of its newest header has bits of no log that it gives: such blooms prove nothing; compare with an ' +
				'endpoint of another provider, which shows whether the chain makes them so or this one leaves logs out',
		)
	}
	return advice
}

/** What no proof can detect if all headers come from one endpoint; null with several endpoints. */
export function witnessInWords(endpoints: number): string | null {
	if (endpoints !== 1) return null
	return (
		'one endpoint: its answers are checked against headers and balances of its own, which finds out a node that has ' +
		'lost or mixed up something, and none that makes up whole blocks; that takes a second endpoint of another provider'
	)
}

export function roughDuration(seconds: number): string {
	if (seconds < 120) return `${Math.max(0, seconds)} s`
	if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
	return `${Math.round(seconds / 3_600)} h`
}
