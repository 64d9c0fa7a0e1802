// Plans of so many calls a second, asked in batches, on a clock of its own; requests are truly under way at once.
import { describe, expect, test } from 'vitest'
import { createLimits } from '../../../src/chain/limits/limits.js'
import { sendBatches } from '../../../src/chain/rpc/batches.js'
import { defaultRetryPolicy } from '../../../src/chain/rpc/retry.js'
import { RpcError } from '../../../src/errors.js'
import { createChance } from '../../support/chance.js'
import { sized } from '../../support/longRun.js'

/** How a provider counts: in any second, in full ones, or as a bucket of a second's worth that fills up again. */
type Way = 'any second' | 'full seconds' | 'a bucket'

interface Plan {
	readonly way: Way
	readonly perSecond: number
	/** Calls in one request. */
	readonly batch: number
	readonly seed: number
}

/** As a span has them. */
const callsAtOnce = 200

/** Asks for so many calls; answers take 20 to 100 ms. Resolves to how each request ended, and how long all took. */
async function ride({ way, perSecond, batch, seed }: Plan, calls: number) {
	const chance = createChance(seed)
	let nowMs = 0
	let isDone = false
	const events: { readonly atMs: number; readonly go: () => void }[] = []
	const wait = (ms: number) => new Promise<void>((go) => events.push({ atMs: nowMs + ms, go }))
	const now = () => nowMs
	const random = () => chance.number(1_000) / 1_000
	const limits = createLimits({ batch, clock: now, now, wait, random })
	const passed: { readonly atMs: number; readonly calls: number }[] = []
	const ends: boolean[] = []
	let bucket = perSecond
	let filledAtMs = 0

	function isLetThrough(count: number): boolean {
		bucket = Math.min(perSecond, bucket + ((nowMs - filledAtMs) * perSecond) / 1_000)
		filledAtMs = nowMs
		const isLately = (atMs: number) =>
			way === 'any second' ? atMs > nowMs - 1_000 : Math.floor(atMs / 1_000) === Math.floor(nowMs / 1_000)
		const lately = passed.filter(({ atMs }) => isLately(atMs)).reduce((sum, one) => sum + one.calls, 0)
		if (way === 'a bucket' ? bucket < count : lately + count > perSecond) return false
		bucket -= count
		passed.push({ atMs: nowMs, calls: count })
		return true
	}

	async function post(asked: readonly number[]): Promise<readonly unknown[]> {
		const pass = await limits.speed.enter(asked.length, defaultRetryPolicy.withinMs, new AbortController().signal)
		if (pass === null) throw new Error('nobody asked for a pause')
		const wayMs = 10 + chance.number(40)
		await wait(wayMs)
		const ok = isLetThrough(asked.length)
		ends.push(ok)
		await wait(wayMs)
		pass.end(ok ? asked.length : 0, ok ? null : { kind: 'busy', retryAfterMs: null })
		if (!ok) throw new RpcError('slower', { kind: 'rate', endpoint: 'plan' })
		return asked
	}

	const { batch: size, speed } = limits
	const { width } = speed
	const sender = { size, retry: defaultRetryPolicy, width, speed, post, now, wait, random }
	const asked = Array.from({ length: callsAtOnce }, (_, at) => at)
	const all = async () => {
		for (let done = 0; done < calls; done += callsAtOnce) {
			expect(await sendBatches(asked, sender, new AbortController().signal)).toEqual(asked)
		}
	}
	const riding = all().finally(() => {
		isDone = true
	})
	riding.catch(() => undefined)
	while (!isDone) {
		await new Promise((resolve) => setImmediate(resolve))
		const next = events.toSorted((one, other) => one.atMs - other.atMs)[0]
		if (next === undefined) continue
		events.splice(events.indexOf(next), 1)
		nowMs = Math.max(nowMs, next.atMs)
		next.go()
	}
	await riding
	return { ends, tookMs: nowMs, perSecond: speed.callsPerSecond(), callsPerRequest: size.now() }
}

const refusedOf = (ends: readonly boolean[]) => ends.filter((ok) => !ok).length / ends.length

describe('a plan of 25 calls a second', () => {
	const ways = ['any second', 'full seconds', 'a bucket'] as const
	const all = ways.flatMap((way) => [5, 10, 20].map((batch): readonly [Way, number] => [way, batch]))
	const corner: typeof all = [
		['any second', 10],
		['a bucket', 20],
	]
	const seeds = sized([1], [1, 2, 3, 4, 5])

	// Seen: 4 to 12 of 100 after the first 60, and 1.5 times the time that the plan takes; before, up to 80 of 100.
	test.each(sized(corner, all))(
		'behavior: counted in %s, asked for %i at once: few are refused',
		async (way, batch) => {
			for (const seed of seeds) {
				const { ends, tookMs, perSecond } = await ride({ way, perSecond: 25, batch, seed }, 2_000)
				expect(refusedOf(ends.slice(60)), String(seed)).toBeLessThan(0.2)
				const planMs = (2_000 / 25) * 1_000
				expect(tookMs / planMs).toBeLessThan(2)
				expect(perSecond).toBeGreaterThan(12)
				expect(perSecond).toBeLessThan(40)
			}
		},
	)

	// Before, no such request was ever let through, and a rate of one call a second was learnt from that.
	test.each(sized<readonly Way[]>(['any second'], ways))(
		'behavior: counted in %s, requests that hold more than a second bears become smaller',
		async (way) => {
			for (const seed of seeds) {
				const { ends, callsPerRequest } = await ride({ way, perSecond: 25, batch: 100, seed }, 2_000)
				expect(callsPerRequest, String(seed)).toBeLessThanOrEqual(25)
				// Seen: at most 19 of 100, and 44 where the rate was taken for a chance, for a minute.
				expect(refusedOf(ends.slice(60)), String(seed)).toBeLessThan(0.6)
			}
		},
	)
})

// Before, requests of six or seven were left, of which one fits into each second: up to twice the time of the plan.
test.each(sized<readonly Way[]>(['any second'], ['any second', 'full seconds', 'a bucket']))(
	'behavior: a plan of 10 calls a second, counted in %s, asked for 100 at once, is made use of',
	async (way) => {
		for (const seed of sized([1], [1, 2, 3, 4, 5])) {
			const { ends, tookMs } = await ride({ way, perSecond: 10, batch: 100, seed }, 2_000)
			expect(tookMs, String(seed)).toBeLessThan(1.45 * 200_000)
			if (way === 'any second') expect(refusedOf(ends.slice(60))).toBeLessThan(0.2)
		}
	},
)
