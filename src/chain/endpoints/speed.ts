/**
 * How fast an endpoint may be asked, learnt as TCP learns what a way bears: with each answer a little more, with each
 * "slower" (429 and its like) half as much. "Slower" says nothing against the endpoint; it is a speed.
 */

import { setMaxListeners } from 'node:events'
import { waitMs } from '../../base/wait.js'
import { createLearntRate } from './learntRate.js'

export interface Speed {
	/**
	 * Resolves when a request of so many calls may leave, first come first served; whoever got the pass must end it. Null
	 * at once when the endpoint has asked to be left alone for longer than `patienceMs`. Throws the signal's reason.
	 */
	enter(calls: number, patienceMs: number, signal: AbortSignal): Promise<Pass | null>
	/** Requests that may be under way at once, now. */
	width(): number
	/** Calls that may leave in a second, now; null: no limit is known. */
	callsPerSecond(): number | null
	/** Refusals as too fast since the last answer; those of requests that were under way together are one. */
	refusedInRow(): number
	/** How long the endpoint asked to be left alone; 0: it may be asked now. */
	pausedMs(): number
	/** A request made now would have to wait for what was learnt here. */
	isHoldingBack(): boolean
	/** As many requests are under way as it bears. */
	isFull(): boolean
}

/** Of one request under way. */
export interface Pass {
	/** So many of its calls were answered; `refusal`: it was too fast, or too slow to be answered in time. */
	end(answered: number, refusal: Refusal | null): void
	/** It was not sent after all, and takes nobody's turn. */
	giveBack(): void
}

export interface Refusal {
	readonly kind: 'busy' | 'slow'
	/** What the endpoint asked for itself. */
	readonly retryAfterMs: number | null
}

export interface SpeedOptions {
	/** In milliseconds, never backwards. */
	readonly now?: () => number
	readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
	/** From 0 up to, not including, 1. */
	readonly random?: () => number
}

const firstWidth = 6
/** A node of one's own works on each of them: more would be greed. */
const mostWidth = 8
const firstPauseMs = 50
/** Where the limit is one of calls a second, it takes a good part of one to be let through again. */
const ratePauseMs = 250
const longestPauseMs = 10_000
/** Refusals in a row whose own word of how long to wait is taken as it is. */
const strikesBelieved = 3
/** Requests must have queued for so long before a refusal says what a second bears. */
const hungryMs = 1_000
/** So many in a row, each after a longer pause, say the same of requests that leave one after the other. */
const strikesOfRate = 4

export function createSpeed({ now = monotonicMs, wait = waitMs, random = Math.random }: SpeedOptions = {}): Speed {
	let width = firstWidth
	const rate = createLearntRate(now)
	let underWay = 0
	let queued = 0
	let last: Promise<void> = Promise.resolve()
	let freed = deferred()
	let pausedUntilMs = Number.NEGATIVE_INFINITY
	/** By the learnt rate. */
	let nextAtMs = Number.NEGATIVE_INFINITY
	let hungrySinceMs: number | null = null
	/** Passes are numbered; those up to this one left before the last refusal. */
	let cutAfter = 0
	let lastPass = 0
	/** When as many were under way as may be. */
	let fullAtMs = Number.NEGATIVE_INFINITY
	/** Refusals without an answer between them. */
	let strikes = 0

	function untilMs(): number {
		return Math.max(pausedUntilMs, nextAtMs) - now()
	}

	function isFull(): boolean {
		// After a refusal one shows whether the others may follow: they would be refused together.
		return underWay >= (strikes > 0 ? 1 : Math.max(1, Math.floor(width)))
	}

	function answered(calls: number, startedAtMs: number): void {
		strikes = 0
		// What was not made use of has not been tried.
		if (fullAtMs >= startedAtMs) width = Math.min(mostWidth, width + 1 / width)
		rate.passed(calls, hungrySinceMs !== null)
	}

	function refused({ kind, retryAfterMs }: Refusal, pass: number): void {
		const nowMs = now()
		if (retryAfterMs !== null) pausedUntilMs = Math.max(pausedUntilMs, nowMs + retryAfterMs)
		// Requests that were under way together are refused together: that is said once.
		if (pass <= cutAfter) return
		cutAfter = lastPass
		// An endpoint that says how long to wait says all that must be known; what came through between its pauses says
		// less.
		const isStrained = width < 2 || rate.isStrained()
		const isHungry = isStrained && hungrySinceMs !== null && nowMs - hungrySinceMs >= hungryMs
		const isLikely = isHungry || strikes + 1 === strikesOfRate
		const isRate = kind === 'busy' && retryAfterMs === null && isLikely && rate.learn(isHungry)
		width = Math.max(1, width / 2)
		if (kind === 'slow') return
		strikes += 1
		const leastMs = isRate ? ratePauseMs : 0
		const pauseMs = Math.max(leastMs, Math.min(longestPauseMs, firstPauseMs * 2 ** (strikes - 1))) * (0.5 + random())
		// Who asks for a second each time, and answers nothing after it, means more than a second.
		const askedMs = retryAfterMs === null ? 0 : retryAfterMs * 2 ** Math.max(0, strikes - strikesBelieved)
		const longMs = Math.max(retryAfterMs ?? 0, Math.min(longestPauseMs, askedMs))
		pausedUntilMs = Math.max(pausedUntilMs, nowMs + (retryAfterMs === null ? pauseMs : longMs))
	}

	return {
		async enter(calls, patienceMs, signal) {
			signal.throwIfAborted()
			const before = last
			const turn = deferred()
			last = turn.promise
			queued += 1
			if (queued > 1 || isFull() || untilMs() > 0) hungrySinceMs ??= now()
			else hungrySinceMs = null
			try {
				await unlessAborted(before, signal)
				for (;;) {
					const ms = untilMs()
					if (pausedUntilMs - now() > patienceMs) return null
					if (ms > 0) await wait(Math.ceil(ms), signal)
					else if (isFull()) await unlessAborted(freed.promise, signal)
					else break
				}
				underWay += 1
			} finally {
				queued -= 1
				// Whoever gave up has not kept the others from their turn, nor brought it forward.
				void before.then(turn.resolve)
			}
			const startedAtMs = now()
			lastPass += 1
			const number = lastPass
			if (isFull()) fullAtMs = startedAtMs
			const perSecond = rate.now()
			const takesMs = perSecond === null ? 0 : (calls / perSecond) * 1_000
			if (perSecond !== null) nextAtMs = Math.max(nextAtMs, startedAtMs) + takesMs
			const leave = () => {
				underWay -= 1
				freed.resolve()
				freed = deferred()
			}
			return {
				end(count, refusal) {
					rate.ended(refusal?.kind === 'busy' && refusal.retryAfterMs === null)
					if (count > 0) answered(count, startedAtMs)
					if (refusal !== null) refused(refusal, number)
					leave()
				},
				giveBack() {
					nextAtMs -= takesMs
					leave()
				},
			}
		},
		width: () => Math.max(1, Math.floor(width)),
		callsPerSecond: rate.now,
		refusedInRow: () => strikes,
		pausedMs: () => Math.max(0, pausedUntilMs - now()),
		isHoldingBack: () => queued > 0 || untilMs() > 0,
		isFull,
	}
}

interface Deferred {
	readonly promise: Promise<void>
	resolve(): void
}

function deferred(): Deferred {
	let resolve = () => {}
	const promise = new Promise<void>((done) => {
		resolve = done
	})
	return { promise, resolve }
}

/** Throws the signal's reason when it comes first. */
export function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
	// Every request under way listens to the same signal; that is no leak.
	setMaxListeners(0, signal)
	signal.throwIfAborted()
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal.reason)
		signal.addEventListener('abort', abort, { once: true })
		void turn.then(() => {
			signal.removeEventListener('abort', abort)
			resolve()
		})
	})
}

function monotonicMs(): number {
	return performance.now()
}
