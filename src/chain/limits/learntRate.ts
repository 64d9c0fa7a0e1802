/**
 * The provider's limit of calls a second, learnt from what the endpoint let through before it refused. A refusal may
 * have another reason: the rate is tried, and dropped again if refusals do not become fewer.
 */

export interface LearntRate {
	/** Calls a second; null: no limit is known. */
	now(): number | null
	/** This many calls were let through. `isWanted`: more calls were waiting. */
	passed(calls: number, isWanted: boolean): void
	/** A request ended. `isRefused`: as too fast, without a Retry-After. */
	ended(isRefused: boolean): void
	/** At least 20 % of the last requests were refused. */
	isStrained(): boolean
	/**
	 * Takes the peak of accepted calls of the last 10 s as the limit. `isSure`: requests were waiting, so one peak is
	 * enough; else the same peak must show twice. False if a limit is known, did not help, or too few were accepted.
	 */
	learn(isSure: boolean): boolean
}

/** How long what was let through counts as lately. */
const rememberedMs = 10_000
/** The first rate, as a share of the best second. */
const afterRefusal = 0.8
/** Each later rate, as a share of what came through since the last cut. */
const steadyShare = 0.95
/** Pauses may have kept that low: one cut takes away at most 40 %. */
const leastLeft = 0.6
/** Each call that is let through while others wait raises the rate by this much. */
const perCall = 0.02
/** From 90 % of the last rate that was too high, the rate grows at a fifth of that. */
const nearCeiling = 0.9
const growthThere = 0.2
/** The operator may upgrade the plan, or the node behind the URL may be replaced. */
const keptMs = 10 * 60_000
/** A rate is judged after 25 requests, by the share of them that is refused. */
const judgedRequests = 25
/** Or after 8, if 3 of them were refused: a wrong rate is corrected sooner. */
const judgedSooner = 8
const refusedSooner = 3
/** Fewer calls in the best second may have passed by chance. */
const leastSeen = 10
/** The limit is taken as known once two peaks within 3 s differ by at most 20 %. */
const confirmWithinMs = 3_000
const sameShare = 0.8
const bearableShare = 0.1
const strainedShare = 0.2
const leastEnds = 15
/** A cut must lower the share of refusals to 80 %, or they have nothing to do with the rate. */
const helpedBy = 0.8
/** Then no rate is learnt for a minute, twice as long each time, up to `keptMs`. */
const unlearnedMs = 60_000

/** `now` in milliseconds, never backwards. */
export function createLearntRate(now: () => number): LearntRate {
	let rate: number | null = null
	/** When refusals last showed that there is a limit. */
	let seenAtMs = Number.NEGATIVE_INFINITY
	const lately: { readonly atMs: number; readonly calls: number }[] = []
	/** How the requests since the last verdict ended (without a rate: the last 25); true: refused. */
	let ends: boolean[] = []
	/** Share refused before the last cut; null: at most 10 % since. */
	let shareBefore: number | null = null
	let unlearnedUntilMs = Number.NEGATIVE_INFINITY
	let unlearned = 0
	/** The rate that was last seen to be too high. */
	let ceiling = Number.POSITIVE_INFINITY
	/** The rate comes from what passed for a while, not from a burst. */
	let isSteady = false
	let cutAtMs = 0
	let passedSince = 0
	/** The last peak that refusals in a row have shown. */
	let suspected: { readonly atMs: number; readonly best: number } | null = null

	function forgetOld(): void {
		const nowMs = now()
		while (lately[0] !== undefined && lately[0].atMs < nowMs - rememberedMs) lately.shift()
		if (rate !== null && nowMs - seenAtMs > keptMs) rate = null
	}

	/** The most calls that were let through in any one second of that time. */
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

	function isConfirmed(best: number): boolean {
		const before = suspected
		suspected = { atMs: now(), best }
		if (before === null || now() - before.atMs > confirmWithinMs || best < leastSeen) return false
		return Math.min(best, before.best) >= sameShare * Math.max(best, before.best)
	}

	function refusedShare(): number {
		return ends.filter((isRefused) => isRefused).length / Math.max(1, ends.length)
	}

	/** Calls a second that came through since the last cut. */
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
				unlearned = 0
				ends = []
			} else if (shareBefore === null || share < helpedBy * shareBefore || !isSteady) {
				// A token bucket lets a second's worth through at once, and then as much again over the second.
				isSteady = true
				cutTo(Math.min(rate * afterRefusal, Math.max(rate * leastLeft, borne() * steadyShare)))
			} else {
				// An endpoint that refuses by chance, or for the load of its other users, refuses as many at a lower rate.
				rate = null
				shareBefore = null
				ends = []
				unlearnedUntilMs = now() + Math.min(keptMs, unlearnedMs * 2 ** unlearned)
				unlearned += 1
			}
		},
		isStrained: () => ends.length >= leastEnds && refusedShare() >= strainedShare,
		learn(isSure) {
			forgetOld()
			if (rate !== null || now() < unlearnedUntilMs) return false
			const best = bestSecond(confirmWithinMs)
			if (best === 0 || (!isSure && !isConfirmed(best))) return false
			cutTo(best * afterRefusal)
			isSteady = false
			return true
		},
	}
}
