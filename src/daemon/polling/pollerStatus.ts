import type { PollReport, Unread } from '../../scan/poll.js'

/** The condition of one network's polling, for health, metrics and the log. */
export interface PollerStatus {
	readonly lastReport: PollReport | null
	/** When a poll last succeeded; null before the first success. */
	readonly lastDoneAtMs: number | null
	/** Why polls fail now; null while they succeed. */
	readonly failure: string | null
	/** Result of the last poll; null before the first. */
	readonly lastResult: TickResult | null
	/** Since when the head is below a scanned block, by the steady clock; null if it is not. */
	readonly backSinceMs: number | null
	/** Whether the last two polls found it so: one of several nodes behind an endpoint may lag for a moment. */
	readonly isBackTwice: boolean
	/** By the steady clock: when a poll last succeeded; before the first one, when polling began. */
	readonly wellAtMs: number
	/** The second look and the backfill that are stuck, and since when by the steady clock. */
	readonly unread: readonly (Unread & { readonly sinceMs: number })[]
}

/**
 * Failures that do not pass by themselves. `misconfigured`: the endpoints are on another chain than configured.
 * `unwritten`: the state cannot be written, or belongs to another chain. `backlog`: too many deliveries wait.
 */
type Lasting = 'misconfigured' | 'unwritten' | 'backlog'

/** `broken`: a bug in this program. */
export type TickResult = 'done' | 'failed' | Lasting | 'stopped' | 'broken'

/** The status before the first poll; `wellAtMs`: now. */
export const freshStatus = (wellAtMs: number): PollerStatus => ({
	lastReport: null,
	lastDoneAtMs: null,
	failure: null,
	lastResult: null,
	backSinceMs: null,
	isBackTwice: false,
	wellAtMs,
	unread: [],
})
