/** Explains in words what `doctor` found at an endpoint. */

import { arbitrumMisses, isArbitrum } from '../chains.js'
import { mostProvedOf } from './cost.js'

/**
 * What was found out about one endpoint: a part of its `Capabilities`, repeated here because this room does not import
 * from `chain`.
 */
export interface Findings {
	readonly clientVersion: string | null
	readonly chainId: bigint | null
	readonly otsLevel: number | null
	readonly head: { readonly number: bigint; readonly timestampS: bigint }
	readonly safeTag: boolean
	readonly finalizedTag: boolean
	readonly methods: Readonly<Record<string, 'yes' | 'no' | 'wrong' | 'unknown'>>
	readonly filterMode: 'union' | 'intersection' | null
	readonly beyondHead: 'refused' | 'empty' | null
	readonly proved: boolean
	readonly sources: readonly string[]
	readonly reasons: readonly string[]
}

export interface Expected {
	readonly chainId: number
	readonly confirmations: number | 'safe' | 'finalized'
	readonly settle: number | 'finalized'
	/** The source that is used; null when there is none. */
	readonly source: string | null
	/** Whether the endpoint can be used, as far as tested. */
	readonly isAble: boolean
	readonly nowMs: number
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

/** Each weakness with what to do about it; empty when there is nothing to fix. */
export function adviceFor(found: Findings, expected: Expected): readonly string[] {
	const advice: string[] = []
	const { methods } = found
	const { source, isAble } = expected
	if (found.chainId !== null && found.chainId !== BigInt(expected.chainId)) {
		advice.push(
			`it is on chain ${found.chainId}, and the configuration says ${expected.chainId}: fix chain_id or the URL`,
		)
	}
	const ageS = Math.round(expected.nowMs / 1000) - Number(found.head.timestampS)
	if (ageS > 600) {
		advice.push(
			`its newest block is ${roughDuration(ageS)} old: the node lags or the chain has stopped; ` +
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
	if (source !== null && !found.proved) {
		advice.push('there were no transactions to prove its answers by: they are proved once the chain has some')
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
	if (found.beyondHead === 'empty') {
		advice.push('it answers requests beyond its head with nothing: it is never asked beyond the head that it reports')
	}
	return advice
}

export interface LogReading {
	readonly isPrivate: boolean
	/** Null: all, or a share if a second endpoint gives the same logs. */
	readonly mostLogProofs: number | null
	/** Number of endpoints that can be asked. */
	readonly endpoints: number
}

/** The proof used that no log of a token is missing. */
export function logProofInWords({ isPrivate, mostLogProofs, endpoints }: LogReading): string {
	const near = 'in polls of up to 3 blocks each is proved by its receipts'
	const most = mostProvedOf(mostLogProofs, endpoints > 1)
	if (isPrivate || most === Number.POSITIVE_INFINITY) {
		return `${near}${isPrivate ? '' : ', and in longer ones where its header does not rule out one more log'}`
	}
	const drawn = `${most} of 500 are drawn and proved`
	const others =
		endpoints > 1
			? 'a second endpoint must tell the same'
			: 'the others are believed: a second endpoint or `log_proof: all` proves them'
	return `${near}; of others whose headers do not rule out one more log, ${drawn}; ${others}`
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
