/**
 * How many requests may be under way at an endpoint, adapted as TCP adapts its window: each answer adds a little, each
 * rate-limit answer (429 and its like) halves it. A rate limit is no failure of the endpoint.
 */

import { createLine } from '../../base/waits/line.js'
import { isLowPriority } from '../../base/waits/priority.js'
import { unlessAborted, waitMs } from '../../base/waits/wait.js'
import { createLearntRate } from './learntRate.js'

export interface Speed {
	/**
	 * Resolves when a request of this many calls may leave, first come, first served; the caller must end the pass. Null
	 * at once when the endpoint has asked for a pause longer than `patienceMs`. Throws the signal's reason.
	 */
	enter(calls: number, patienceMs: number, signal: AbortSignal): Promise<Pass | null>
	/** Requests that may be under way at once, now. */
	width(): number
	/** Calls that may leave in a second, now; null: no limit is known. */
	callsPerSecond(): number | null
	/** Rate-limit answers since the last good one; those of requests that were under way together count as one. */
	refusedInRow(): number
	/** The rest of the pause that the endpoint asked for; 0: none. */
	pausedMs(): number
	/** A request made now would have to wait for what was learnt here. */
	isHoldingBack(): boolean
	/** As many requests are under way as may be. */
	isFull(): boolean
}

export interface Pass {
	/** `answered`: how many of its calls were; `refusal`: it was rate limited, or timed out. */
	end(answered: number, refusal: Refusal | null): void
	/** It was not sent after all, and counts for nothing. */
	giveBack(): void
}

export interface Refusal {
	readonly kind: 'busy' | 'slow'
	/** From Retry-After. */
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
/** The operator's own node works on each of them. */
const mostWidth = 8
const firstPauseMs = 50
/** After a limit of calls a second it takes a good part of a second until calls pass again. */
const ratePauseMs = 250
const longestPauseMs = 10_000
/** For this many refusals in a row Retry-After is taken as it is; then it is doubled each time. */
const strikesBelieved = 3
/** Requests must have queued for this long before a refusal shows the rate. */
const hungryMs = 1_000
/** After 4 refusals in a row, each after a longer pause, the same holds without a queue. */
const strikesOfRate = 4

export function createSpeed({ now = monotonicMs, wait = waitMs, random = Math.random }: SpeedOptions = {}): Speed {
	let width = firstWidth
	const rate = createLearntRate(now)
	let underWay = 0
	/** Of those under way, requests that let others overtake them. */
	let lowUnderWay = 0
	const line = createLine(now)
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

	/** After a refusal one request goes first: several would be refused together. */
	function most(): number {
		return strikes > 0 ? 1 : Math.max(1, Math.floor(width))
	}

	function isFull(): boolean {
		return underWay >= most()
	}

	/** Requests of low priority take at most half of the width: where they get no answer, the others still have room. */
	function isFullOfLowPriority(): boolean {
		return lowUnderWay >= Math.max(1, Math.floor(most() / 2))
	}

	/** The others have the other half, even if the width shrank while those were under way. */
	function isFullForUrgent(): boolean {
		return isFull() && underWay - lowUnderWay >= Math.ceil(most() / 2)
	}

	function answered(calls: number, startedAtMs: number): void {
		strikes = 0
		// A width that was not used has not been tried.
		if (fullAtMs >= startedAtMs) width = Math.min(mostWidth, width + 1 / width)
		rate.passed(calls, hungrySinceMs !== null)
	}

	function refused({ kind, retryAfterMs }: Refusal, pass: number): void {
		const nowMs = now()
		if (retryAfterMs !== null) pausedUntilMs = Math.max(pausedUntilMs, nowMs + retryAfterMs)
		// Requests that were under way together are refused together: they count once.
		if (pass <= cutAfter) return
		cutAfter = lastPass
		// A rate is learnt only without a Retry-After: with its pauses, fewer calls pass than the limit allows.
		const isStrained = width < 2 || rate.isStrained()
		const isHungry = isStrained && hungrySinceMs !== null && nowMs - hungrySinceMs >= hungryMs
		const isLikely = isHungry || strikes + 1 === strikesOfRate
		const isRate = kind === 'busy' && retryAfterMs === null && isLikely && rate.learn(isHungry)
		width = Math.max(1, width / 2)
		if (kind === 'slow') return
		strikes += 1
		const leastMs = isRate ? ratePauseMs : 0
		const pauseMs = Math.max(leastMs, Math.min(longestPauseMs, firstPauseMs * 2 ** (strikes - 1))) * (0.5 + random())
		// If the endpoint refuses again after each pause that it named, the pause was too short.
		const askedMs = retryAfterMs === null ? 0 : retryAfterMs * 2 ** Math.max(0, strikes - strikesBelieved)
		const longMs = Math.max(retryAfterMs ?? 0, Math.min(longestPauseMs, askedMs))
		pausedUntilMs = Math.max(pausedUntilMs, nowMs + (retryAfterMs === null ? pauseMs : longMs))
	}

	return {
		async enter(calls, patienceMs, signal) {
			signal.throwIfAborted()
			if (line.isBusy() || isFull() || untilMs() > 0) hungrySinceMs ??= now()
			else hungrySinceMs = null
			const isOne = isLowPriority(signal)
			const mayGo = await line.pass(() => {
				const ms = untilMs()
				if (pausedUntilMs - now() > patienceMs) return { done: false }
				if (ms > 0) return { wait: () => wait(Math.ceil(ms), signal) }
				const isOwn = isOne && isFullOfLowPriority()
				if (isOwn || (isOne ? isFull() : isFullForUrgent()))
					return { isOwn, wait: () => unlessAborted(freed.promise, signal) }
				underWay += 1
				if (isOne) lowUnderWay += 1
				return { done: true }
			}, signal)
			if (!mayGo) return null
			const startedAtMs = now()
			lastPass += 1
			const number = lastPass
			if (isFull()) fullAtMs = startedAtMs
			const perSecond = rate.now()
			const takesMs = perSecond === null ? 0 : (calls / perSecond) * 1_000
			if (perSecond !== null) nextAtMs = Math.max(nextAtMs, startedAtMs) + takesMs
			const leave = () => {
				underWay -= 1
				if (isOne) lowUnderWay -= 1
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
		isHoldingBack: () => line.isBusy() || untilMs() > 0,
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

function monotonicMs(): number {
	return performance.now()
}
