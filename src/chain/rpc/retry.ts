/** Whether and when a failed request is retried, so that a passing failure costs one request. Pure. */

import type { RpcError } from '../../errors.js'
import type { Refusal } from '../limits/speed.js'

export interface RetryPolicy {
	/** Most attempts of one request, including the first. Default: 6. */
	readonly tries: number
	/** Counted from the first attempt; later retries are the caller's. Default: 75 s. */
	readonly withinMs: number
}

export const defaultRetryPolicy: RetryPolicy = { tries: 6, withinMs: 75_000 }

/** Additional attempts after rate limits: each wait is longer, so time is the real bound. */
const triesForSpeed = 4
/** Most failures pass in a moment: the first retry comes after about 10 ms. */
const firstWaitMs = 10
const secondWaitMs = 100
const longestWaitMs = 2_000

/** Null: no retry. `tried`: attempts so far; `random` in [0, 1). A rate limit returns 0: the speed control waits. */
export function retryInMs(error: RpcError, tried: number, { tries }: RetryPolicy, random: number): number | null {
	if (tried >= triesFor(error, tries)) return null
	if (error.kind === 'rate') return 0
	const waitMs = tried === 1 ? firstWaitMs : secondWaitMs * 2 ** (tried - 2)
	return Math.min(longestWaitMs, waitMs) * (0.5 + random)
}

function triesFor({ kind, facts }: RpcError, tries: number): number {
	switch (kind) {
		case 'network':
			return tries
		// A complete answer that contradicts itself will do so again.
		case 'malformed':
			return facts.content === true || facts.wrongChainId !== undefined ? 1 : tries
		case 'rate':
			return tries <= 1 ? 1 : tries + triesForSpeed
		// An error in JSON-RPC form may be the answer to this particular request.
		case 'server':
			return (facts.status ?? 500) < 500 ? Math.min(2, tries) : tries
		// A timeout has taken much time already; `withinMs` ends most of these.
		case 'timeout':
			return Math.min(4, tries)
		default:
			return 1
	}
}

/** What an error says about the speed; null for other errors. */
export function refusalIn({ kind, facts: { retryAfterMs } }: RpcError): Refusal | null {
	const isBusy = kind === 'rate' || ((kind === 'server' || kind === 'timeout') && retryAfterMs !== undefined)
	if (isBusy) return { kind: 'busy', retryAfterMs: retryAfterMs ?? null }
	return kind === 'timeout' ? { kind: 'slow', retryAfterMs: null } : null
}
