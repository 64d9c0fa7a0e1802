import type { Clock } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'

/** Endpoints that are asked after the others: 30 s at first, twice as long each time, at most 10 minutes. */
export interface Demotions {
	note(rpc: Rpc): void
	forgive(rpc: Rpc): void
	/** For `Need`: 1 while the endpoint is slow and asked after the others, else 0. */
	readonly rank: (rpc: Rpc) => number
}

/** Endpoints that kept a walk waiting: one that hangs at each block would otherwise cost the whole wait for each. */
export interface SlowEndpoints {
	/** This endpoint now reads the blocks from `from` on. */
	asks(from: bigint, rpc: Rpc): void
	/** The blocks from `from` on did not come in time. */
	note(from: bigint): void
	/** It has given blocks. */
	cameWell(from: bigint, rpc: Rpc): void
	readonly rank: Demotions['rank']
}

const firstMs = 30_000
const longestMs = 600_000
/** Most requests that are remembered, including ones that were given up. */
const mostAsked = 64

export function createDemotions(clock: Clock): Demotions {
	const demoted = new Map<Rpc, { readonly sinceMs: number; readonly forMs: number }>()
	const isDemoted = (rpc: Rpc) => {
		const { sinceMs = 0, forMs = 0 } = demoted.get(rpc) ?? {}
		return clock() - sinceMs < forMs
	}
	return {
		note(rpc) {
			if (isDemoted(rpc)) return
			const { forMs = firstMs / 2 } = demoted.get(rpc) ?? {}
			demoted.set(rpc, { sinceMs: clock(), forMs: Math.min(longestMs, 2 * forMs) })
		},
		forgive: (rpc) => demoted.delete(rpc),
		rank: (rpc) => (isDemoted(rpc) ? 1 : 0),
	}
}

export function createSlowEndpoints(clock: Clock): SlowEndpoints {
	const asked = new Map<bigint, Rpc>()
	const late = createDemotions(clock)
	return {
		asks(from, rpc) {
			asked.delete(from)
			asked.set(from, rpc)
			const [oldest] = asked.keys()
			if (asked.size > mostAsked && oldest !== undefined) asked.delete(oldest)
		},
		note(from) {
			const rpc = asked.get(from)
			if (rpc !== undefined) late.note(rpc)
		},
		cameWell(from, rpc) {
			asked.delete(from)
			late.forgive(rpc)
		},
		rank: late.rank,
	}
}
