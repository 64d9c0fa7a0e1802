/** All that was learnt of what one endpoint bears, in one place: how much at once, how many at once, how fast. */

import type { Clock } from '../../model/glossary.js'
import { type Bounds, type SpanSize, startSpanSize } from './spanSize.js'
import { createSpeed, type Speed, type SpeedOptions } from './speed.js'

export interface Limits {
	/** Requests under way, and calls a second. */
	readonly speed: Speed
	/**
	 * How long to wait, where one waits so long for others: as many times longer as its quickest answer took longer than
	 * usual, up to eight times, and for that no longer than half a minute.
	 */
	patience(usualMs: number): number
	/** An answer came after so long. */
	noteAnswer(tookMs: number): void
	/** Calls in one request. */
	readonly batch: Limit
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
	/** The endpoint takes no more than so many. */
	learn(limit: number): void
}

/** For people and metrics. */
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
/** Nearly all endpoints answer a simple question sooner. */
const usualAnswerMs = 500
const mostSlowness = 8
const longestPatienceMs = 30_000
/** How long a refusal is kept in mind: the node behind an address may be replaced, or the plan paid for. */
const keptMs = 10 * 60_000

export function createLimits({ batch: most, clock, ...options }: LimitsOptions): Limits {
	const speed = createSpeed(options)
	const learnt = createLimit(most, clock)
	// Of requests that fill more than half of a second's worth only one fits into it, and the rest of it is lost.
	const fitting = () => Math.max(1, Math.floor((speed.callsPerSecond() ?? Number.POSITIVE_INFINITY) / 3))
	const batch: Limit = {
		now: () => Math.min(learnt.now(), fitting()),
		learn: learnt.learn,
	}
	const list = createLimit(firstList, clock)
	const sizes = new Map<string, SpanSize>()
	let quickestMs = 0
	return {
		speed,
		patience(usualMs) {
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
		learn(limit) {
			learnt = Math.max(1, Math.min(most, limit))
			untilMs = clock() + keptMs
		},
	}
}
