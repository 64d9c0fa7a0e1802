/**
 * How many calls a second an endpoint lets through, learnt from what it let through when it refused. Whether a refusal
 * is about that is not known: it is tried, and what does not make refusals fewer is taken back.
 */

export interface LearntRate {
	/** Calls a second; null: no limit is known. */
	now(): number | null
	/** So many calls were let through; `isWanted`: more would have left if they might. */
	passed(calls: number, isWanted: boolean): void
	/** A request ended: it was refused as too fast, without a word of how long to wait, or it was not. */
	ended(isRefused: boolean): void
	/** Of what was asked lately a good part was refused: it may be asked too fast. */
	isStrained(): boolean
	/**
	 * Refusals look like a rate, surely or by their row alone: what was let through lately is taken for the limit. False
	 * where one is known, it was tried in vain lately, or too little was let through to say it.
	 */
	learn(isSure: boolean): boolean
}

/** What was let through lately is remembered for so long. */
const rememberedMs = 10_000
/** Of what the best second bore. */
const afterRefusal = 0.8
/** Of what came through while others were refused. */
const steadyShare = 0.95
/** Pauses may have kept it low: no more than so much is taken away at once. */
const leastLeft = 0.6
/** Each call that is let through at the limit raises it by so much a second. */
const perCall = 0.02
/** Near the rate that was too high the last time it grows by so little of that. */
const nearCeiling = 0.9
const growthThere = 0.2
/** A plan may be paid for, the node behind an address replaced. */
const keptMs = 10 * 60_000
/** A rate is judged by so many requests: by the share of them that is refused. */
const judgedRequests = 25
/** Or by fewer, of which so many were refused: a rate that was learnt wrong is not kept up for long. */
const judgedSooner = 8
const refusedSooner = 3
/** Calls of the best second that say more than that a few were lucky. */
const leastSeen = 10
/** A plan shows alike again and again: so soon, with as many calls in its best second but for so much. */
const againMs = 3_000
const alike = 0.8
const bearableShare = 0.1
const strainedShare = 0.2
const leastEnds = 15
/** What was cut must have made it that much less, or the refusals have nothing to do with the speed. */
const helpedBy = 0.8
/** Then none is learnt for so long; each time twice as long, up to `keptMs`. */
const doubtMs = 60_000

/** `now` in milliseconds, never backwards. */
export function createLearntRate(now: () => number): LearntRate {
	let rate: number | null = null
	/** When it was last seen to be there. */
	let seenAtMs = Number.NEGATIVE_INFINITY
	const lately: { readonly atMs: number; readonly calls: number }[] = []
	/** How the last requests ended, or those since the rate was last judged; true: refused. */
	let ends: boolean[] = []
	/** Share refused before the rate was last cut; null: it was bearable since. */
	let shareBefore: number | null = null
	let doubtedUntilMs = Number.NEGATIVE_INFINITY
	let doubts = 0
	/** The rate that was last seen to be too high. */
	let ceiling = Number.POSITIVE_INFINITY
	/** It is not what a burst bore, but what came through for a while. */
	let isSteady = false
	let cutAtMs = 0
	let passedSince = 0
	/** By refusals in a row. */
	let suspected: { readonly atMs: number; readonly best: number } | null = null

	function forgetOld(): void {
		const nowMs = now()
		while (lately[0] !== undefined && lately[0].atMs < nowMs - rememberedMs) lately.shift()
		if (rate !== null && nowMs - seenAtMs > keptMs) rate = null
	}

	/** The most calls that were let through in any one second, lately. */
	function bestSecond(withinMs: number): number {
		let best = 0
		let sum = 0
		let from = 0
		for (const { atMs, calls } of lately) {
			if (atMs < now() - withinMs) {
				from += 1
				continue
			}
			sum += calls
			for (let old = lately[from]; old !== undefined && old.atMs <= atMs - 1_000; old = lately[++from]) sum -= old.calls
			best = Math.max(best, sum)
		}
		return best
	}

	function isSeenAgain(best: number): boolean {
		const before = suspected
		suspected = { atMs: now(), best }
		if (before === null || now() - before.atMs > againMs || best < leastSeen) return false
		return Math.min(best, before.best) >= alike * Math.max(best, before.best)
	}

	function refusedShare(): number {
		return ends.filter((isRefused) => isRefused).length / Math.max(1, ends.length)
	}

	/** Calls a second that came through since it was last cut. */
	function borne(): number {
		return (passedSince * 1_000) / Math.max(1, now() - cutAtMs)
	}

	function cutTo(next: number): void {
		ceiling = rate ?? Number.POSITIVE_INFINITY
		rate = Math.max(1, next)
		seenAtMs = now()
		cutAtMs = seenAtMs
		passedSince = 0
		shareBefore = refusedShare()
		ends = []
	}

	return {
		now() {
			forgetOld()
			return rate
		},
		passed(calls, isWanted) {
			lately.push({ atMs: now(), calls })
			forgetOld()
			passedSince += calls
			if (rate !== null && isWanted) rate += perCall * calls * (rate > nearCeiling * ceiling ? growthThere : 1)
		},
		ended(isRefused) {
			ends.push(isRefused)
			if (rate === null && ends.length > judgedRequests) ends.shift()
			if (rate === null || ends.length < judgedSooner) return
			const refused = ends.filter((one) => one).length
			if (ends.length < judgedRequests && refused < refusedSooner) return
			const share = refusedShare()
			if (share <= bearableShare) {
				if (share > 0) seenAtMs = now()
				shareBefore = null
				doubts = 0
				ends = []
			} else if (shareBefore === null || share < helpedBy * shareBefore || !isSteady) {
				// A provider may let a second's worth through at once, and then as much again as time goes by.
				isSteady = true
				cutTo(Math.min(rate * afterRefusal, Math.max(rate * leastLeft, borne() * steadyShare)))
			} else {
				// Who refuses by chance, or for all that others ask, refuses as many of few.
				rate = null
				shareBefore = null
				ends = []
				doubtedUntilMs = now() + Math.min(keptMs, doubtMs * 2 ** doubts)
				doubts += 1
			}
		},
		isStrained: () => ends.length >= leastEnds && refusedShare() >= strainedShare,
		learn(isSure) {
			forgetOld()
			if (rate !== null || now() < doubtedUntilMs) return false
			const best = bestSecond(againMs)
			if (best === 0 || (!isSure && !isSeenAgain(best))) return false
			cutTo(best * afterRefusal)
			isSteady = false
			return true
		},
	}
}
