import type { PollReport } from '../watch/poll.js'

/** How one network fares; for health, metrics and the log. */
export interface PollerStatus {
	readonly lastReport: PollReport | null
	/** When a poll last ended well; null before the first. */
	readonly lastDoneAtMs: number | null
	/** Why the polls fail now; null while they end well. */
	readonly failure: string | null
	/** Ticks that found a poll running. */
	readonly skipped: number
	/** How the last poll ended; null before the first. */
	readonly lastResult: TickResult | null
	/** Since when, by the steady clock, the head stands before a block that was scanned already; null: it does not. */
	readonly backSinceMs: number | null
	/** Since when, by the steady clock, polls fail; absent: they do not. */
	readonly failingSinceMs?: number | null
	/** Which endpoints give no answer, in words; null: none is known. */
	readonly unanswered?: string | null
}

/**
 * What does not pass by itself. `misconfigured`: the endpoints are on another chain than configured, so that trying
 * again cannot help. `unwritten`: the state could not be written, or is of another chain. `crowded`: too much waits for
 * the receivers.
 */
type Lasting = 'misconfigured' | 'unwritten' | 'crowded'

/** `standby`: another instance polls this network. `broken`: a fault of this program itself. */
export type TickResult = 'done' | 'failed' | Lasting | 'standby' | 'stopped' | 'broken'

/** Before the first poll. */
export const freshStatus: PollerStatus = {
	lastReport: null,
	lastDoneAtMs: null,
	failure: null,
	skipped: 0,
	lastResult: null,
	backSinceMs: null,
}
