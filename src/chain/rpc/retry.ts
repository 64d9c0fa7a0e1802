/**
 * Whether a request that failed is asked again by itself, and when: what passes in a moment should cost one request.
 * Pure.
 */

import type { RpcError } from '../../errors.js'
import type { Refusal } from '../endpoints/speed.js'

export interface Patience {
	/** Times that one request is asked, the first included. Default 6. */
	readonly tries: number
	/** Counted from the first; what would be asked later is left to the caller. Default 75 s. */
	readonly withinMs: number
}

export const defaultPatience: Patience = { tries: 6, withinMs: 75_000 }

/** A refused speed is waited for, and each wait is longer: what bounds it is the time. */
const triesForSpeed = 4
/** Most failures are of the moment: the first time it is asked again nearly at once. */
const firstWaitMs = 10
const secondWaitMs = 100
const longestWaitMs = 2_000

/**
 * How long to wait before the same is asked again; null: it is not. `tried`: times that it was asked; `random` from 0
 * up to, not including, 1. A wait for the endpoint's speed is not counted here: the endpoint's speed keeps it.
 */
export function retryInMs(error: RpcError, tried: number, { tries }: Patience, random: number): number | null {
	if (tried >= triesFor(error, tries)) return null
	if (error.kind === 'rate') return 0
	const waitMs = tried === 1 ? firstWaitMs : secondWaitMs * 2 ** (tried - 2)
	return Math.min(longestWaitMs, waitMs) * (0.5 + random)
}

function triesFor({ kind, facts }: RpcError, tries: number): number {
	switch (kind) {
		case 'network':
			return tries
		// An answer that came whole and contradicts itself will do so again.
		case 'malformed':
			return facts.content === true || facts.wrongChainId !== undefined ? 1 : tries
		case 'rate':
			return tries <= 1 ? 1 : tries + triesForSpeed
		// A node that says in good form that it failed may mean this very question.
		case 'server':
			return (facts.status ?? 500) < 500 ? Math.min(2, tries) : tries
		// It has cost much time already; the patience ends most of these.
		case 'timeout':
			return Math.min(4, tries)
		default:
			return 1
	}
}

/** What an error says of the speed; null when nothing. */
export function refusalIn({ kind, facts: { retryAfterMs } }: RpcError): Refusal | null {
	const isBusy = kind === 'rate' || ((kind === 'server' || kind === 'timeout') && retryAfterMs !== undefined)
	if (isBusy) return { kind: 'busy', retryAfterMs: retryAfterMs ?? null }
	return kind === 'timeout' ? { kind: 'slow', retryAfterMs: null } : null
}
