/**
 * Keeps an endpoint's requests within what its plan allows: what is too early waits its turn, first come first served.
 */

import { waitMs } from '../../base/wait.js'
import { unlessAborted } from '../endpoints/speed.js'

export interface Limiter {
	/** The most calls that may go at once; whoever batches asks for no more than this in one `take`. */
	readonly burst: number
	/**
	 * Resolves when so many calls may be sent, and counts them as sent then. Whoever came first goes first, whatever the
	 * size. Throws the signal's reason; the place in the queue is then given up at once.
	 */
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
	let waiting = 0
	let last: Promise<void> = Promise.resolve()

	/** 0 when there is room for so many calls now. */
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
		isHoldingBack: () => waiting > 0 || untilRoomMs(1) > 0,
		async take(calls, signal) {
			signal.throwIfAborted()
			const before = last
			let done = () => {}
			last = new Promise((resolve) => {
				done = resolve
			})
			waiting += 1
			try {
				await unlessAborted(before, signal)
				for (let ms = untilRoomMs(calls); ms > 0; ms = untilRoomMs(calls)) await wait(Math.ceil(ms), signal)
				sent.push({ atMs: now(), calls })
				spent += calls
			} finally {
				waiting -= 1
				// Whoever gave up has not kept the others from their turn, nor brought it forward.
				void before.then(done)
			}
		},
	}
}

function monotonicMs(): number {
	return performance.now()
}
