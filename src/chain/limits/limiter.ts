/** Keeps calls within `requests_per_second`: first come, first served; those of the scanner overtake the auditor's. */

import { createLine } from '../../base/waits/line.js'
import { waitMs } from '../../base/waits/wait.js'

export interface Limiter {
	/** The most calls that may leave at once; a batch must not be larger. */
	readonly burst: number
	/** Resolves when these may be sent, and counts them; those of low priority come last. Throws the signal's reason. */
	take(calls: number, signal: AbortSignal): Promise<void>
	/** One more call would have to wait. */
	isHoldingBack(): boolean
}

export interface LimiterOptions {
	/** Above 0; below 1 is one call in several seconds. */
	readonly requestsPerSecond: number
	/** In milliseconds, never backwards; the wall clock may be set, and will not do. */
	readonly now?: () => number
	readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * A bucket of one second's worth, in which each token is back one second after it was taken: in no window of a second
 * do more calls leave than allowed. A bucket that drips would let twice as many go in the second after a pause, which
 * providers that count by the second refuse.
 */
export function createLimiter({ requestsPerSecond, now = monotonicMs, wait = waitMs }: LimiterOptions): Limiter {
	const burst = Math.max(1, Math.floor(requestsPerSecond))
	// 2.5 a second are 2 in 0.8 s, and 0.2 a second are 1 in 5 s.
	const windowMs = (burst / requestsPerSecond) * 1_000
	const sent: { readonly atMs: number; readonly calls: number }[] = []
	let spent = 0
	const line = createLine(now)

	/** 0 when this many calls may be sent now. */
	function untilRoomMs(calls: number): number {
		const nowMs = now()
		for (let first = sent[0]; first !== undefined && first.atMs + windowMs <= nowMs; first = sent[0]) {
			sent.shift()
			spent -= first.calls
		}
		// More than ever fits goes when the bucket is full.
		let lacking = spent + Math.min(calls, burst) - burst
		for (const { atMs, calls: back } of sent) {
			if (lacking <= 0) break
			lacking -= back
			if (lacking <= 0) return atMs + windowMs - nowMs
		}
		return 0
	}

	return {
		burst,
		isHoldingBack: () => line.isBusy() || untilRoomMs(1) > 0,
		take: (calls, signal) =>
			line.pass(() => {
				const ms = untilRoomMs(calls)
				if (ms > 0) return { wait: () => wait(Math.ceil(ms), signal) }
				sent.push({ atMs: now(), calls })
				spent += calls
				return { done: undefined }
			}, signal),
	}
}

function monotonicMs(): number {
	return performance.now()
}
