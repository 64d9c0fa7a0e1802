import type { Clock } from '../model/glossary.js'
import type { Rpc } from './rpc/rpc.js'

/**
 * Endpoints that kept a walk waiting. Others are asked before them for a while: one that hangs at each block would
 * otherwise cost the whole wait for each, and a chain that is faster than that would never be caught up with.
 */
export interface Lateness {
	/** This endpoint reads the blocks from there on now. */
	asks(from: bigint, rpc: Rpc): void
	/** What was asked from there on did not come in time. */
	note(from: bigint): void
	/** It has given blocks. */
	cameWell(from: bigint, rpc: Rpc): void
	/** As `Need` wants it. */
	readonly rank: (rpc: Rpc) => number
}

const firstMs = 30_000
const longestMs = 600_000
/** So many pieces may be under way, and some more that were left. */
const mostAsked = 64

export function createLateness(clock: Clock): Lateness {
	const asked = new Map<bigint, Rpc>()
	const late = new Map<Rpc, { readonly sinceMs: number; readonly forMs: number }>()

	function isLate(rpc: Rpc): boolean {
		const { sinceMs = 0, forMs = 0 } = late.get(rpc) ?? {}
		return clock() - sinceMs < forMs
	}

	return {
		asks(from, rpc) {
			asked.delete(from)
			asked.set(from, rpc)
			const [oldest] = asked.keys()
			if (asked.size > mostAsked && oldest !== undefined) asked.delete(oldest)
		},
		note(from) {
			const rpc = asked.get(from)
			if (rpc === undefined || isLate(rpc)) return
			const { forMs = firstMs / 2 } = late.get(rpc) ?? {}
			late.set(rpc, { sinceMs: clock(), forMs: Math.min(longestMs, 2 * forMs) })
		},
		cameWell(from, rpc) {
			asked.delete(from)
			late.delete(rpc)
		},
		rank: (rpc) => (isLate(rpc) ? 1 : 0),
	}
}
