/**
 * The room keeps the limits of one endpoint, set or learnt: calls a second, requests at once, calls in a request,
 * addresses in a list, blocks in a span.
 */

import type { Clock } from '../../model/glossary.js'
import { type Bounds, type SpanSize, startSpanSize } from './spanSize.js'
import { createSpeed, type Speed, type SpeedOptions } from './speed.js'

export interface Limits {
	/** Requests under way, and calls a second. */
	readonly speed: Speed
	/** A deadline: longer by as much as the quickest answer took beyond 500 ms, at most 8 times, and at most 30 s. */
	allowance(usualMs: number): number
	/** Notes how long an answer took. */
	noteAnswer(tookMs: number): void
	/** Calls in one request. */
	readonly batch: BatchLimit
	/** Addresses in one list. */
	readonly list: Limit
	/** Blocks in one question to a source of traces, by its name. */
	spanSize(source: string, bounds: Bounds): SpanSize
	setSpanSize(source: string, size: SpanSize): void
	report(): LimitsReport
}

/** A number that refusals make smaller. */
export interface Limit {
	now(): number
	/** The endpoint takes no more than this; kept for 10 minutes, or for `keptMs`. */
	learn(limit: number, keptMs?: number): void
}

export interface BatchLimit extends Limit {
	/** A batch of this many calls was answered. */
	worked(size: number): void
	/** Whether a batch of at least this many calls was answered within the last minute. */
	hasWorked(size: number): boolean
}

export interface LimitsReport {
	readonly requestsUnderWay: number
	/** Null: none is known. */
	readonly callsPerSecond: number | null
	readonly callsPerRequest: number
	readonly addressesPerList: number
	/** By source, as far as it was used. */
	readonly blocksPerQuestion: Readonly<Record<string, number>>
}

export interface LimitsOptions extends SpeedOptions {
	/** Calls in one request, before the node has said anything of it. */
	readonly batch: number
	readonly clock: Clock
}

/** Addresses in one list: some 45 kB of request. */
export const firstList = 1_000
/** Nearly all endpoints answer a simple call sooner. */
const usualAnswerMs = 500
const mostSlowness = 8
const longestPatienceMs = 30_000
/** How long a limit is kept: the node behind the URL may be replaced, or the plan upgraded. */
const keptMs = 10 * 60_000
/** For how long an answered batch proves that batches of its size are taken. */
const recentMs = 60_000

export function createLimits({ batch: most, clock, ...options }: LimitsOptions): Limits {
	const speed = createSpeed(options)
	const learnt = createLimit(most, clock)
	// A request that takes more than half of a second's calls leaves room for no other in that second.
	const fitting = () => Math.max(1, Math.floor((speed.callsPerSecond() ?? Number.POSITIVE_INFINITY) / 3))
	let answered = { size: 0, atMs: Number.NEGATIVE_INFINITY }
	const isRecent = () => clock() - answered.atMs < recentMs
	const batch: BatchLimit = {
		now: () => Math.min(learnt.now(), fitting()),
		learn: learnt.learn,
		worked(size) {
			if (size >= answered.size || !isRecent()) answered = { size, atMs: clock() }
		},
		hasWorked: (size) => answered.size >= size && isRecent(),
	}
	const list = createLimit(firstList, clock)
	const sizes = new Map<string, SpanSize>()
	let quickestMs = 0
	return {
		speed,
		allowance(usualMs) {
			const slowness = Math.min(mostSlowness, Math.max(1, quickestMs / usualAnswerMs))
			return Math.max(usualMs, Math.min(longestPatienceMs, usualMs * slowness))
		},
		noteAnswer(tookMs) {
			quickestMs = quickestMs === 0 ? tookMs : Math.min(quickestMs, tookMs)
		},
		batch,
		list,
		spanSize: (source, bounds) => sizes.get(source) ?? startSpanSize(bounds),
		setSpanSize(source, size) {
			sizes.set(source, size)
		},
		report: () => ({
			requestsUnderWay: speed.width(),
			callsPerSecond: speed.callsPerSecond(),
			callsPerRequest: batch.now(),
			addressesPerList: list.now(),
			blocksPerQuestion: Object.fromEntries([...sizes].map(([source, { blocks }]) => [source, blocks])),
		}),
	}
}

function createLimit(most: number, clock: Clock): Limit {
	let learnt = most
	let untilMs = 0
	return {
		now: () => (clock() < untilMs ? learnt : most),
		learn(limit, forMs = keptMs) {
			learnt = Math.max(1, Math.min(most, limit))
			untilMs = clock() + forMs
		},
	}
}
