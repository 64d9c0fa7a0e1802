import { describe, expect, test } from 'vitest'
import { makeLowPriority } from '../../../src/base/waits/priority.js'
import { createSpeed, type Pass, type Speed } from '../../../src/chain/limits/speed.js'
import { createChance } from '../../support/chance.js'

const never = new AbortController().signal
const busy = { kind: 'busy', retryAfterMs: null } as const

/**
 * A provider that lets so many calls through in a second, and takes so long for an answer; only waiting moves the
 * clock.
 */
function provider(perSecond: number, answerMs: number, { workers = 20, calls = 1, isFixed = false } = {}) {
	let nowMs = 0
	const speed = createSpeed({
		now: () => nowMs,
		random: () => 0.5,
		async wait(ms) {
			nowMs += ms
		},
	})
	const seen: { readonly atMs: number; readonly ok: boolean }[] = []
	/** Of seconds that begin at each full one, or of any second. */
	const isLately = (atMs: number) =>
		isFixed ? Math.floor(atMs / 1_000) === Math.floor(nowMs / 1_000) : atMs > nowMs - 1_000
	/** So many requests, all wanted at once, asked again until they are answered. */
	async function ask(requests: number): Promise<void> {
		let left = requests
		const worker = async () => {
			while (left > 0) {
				const pass = await speed.enter(calls, Number.POSITIVE_INFINITY, never)
				if (pass === null) throw new Error('nobody asked for a pause')
				const lately = seen.filter(({ atMs, ok }) => ok && isLately(atMs)).length * calls
				const ok = lately + calls <= perSecond
				seen.push({ atMs: nowMs, ok })
				nowMs += answerMs
				await Promise.resolve()
				if (ok) left -= 1
				pass.end(ok ? calls : 0, ok ? null : busy)
			}
		}
		await Promise.all(Array.from({ length: workers }, worker))
	}
	const pass = async (ms: number) => {
		nowMs += ms
		await new Promise((resolve) => setImmediate(resolve))
	}
	return { speed, seen, ask, pass, now: () => nowMs }
}

async function entered(speed: Speed): Promise<Pass> {
	const pass = await speed.enter(1, Number.POSITIVE_INFINITY, never)
	if (pass === null) throw new Error('nobody asked for a pause')
	return pass
}

describe('speed', () => {
	test('behavior: patient requests that get no answer leave room for others, also at width 1', async () => {
		const { speed, pass } = provider(Number.POSITIVE_INFINITY, 0)
		const aborting = new AbortController()
		makeLowPriority(aborting.signal)
		const waiting = Array.from({ length: 10 }, () =>
			speed.enter(1, Number.POSITIVE_INFINITY, aborting.signal).catch(() => null),
		)
		await Promise.all(waiting.slice(0, 3))
		// Nor do those that waited for 5 s take more.
		await pass(6_000)
		for (const one of await Promise.all(Array.from({ length: 3 }, () => entered(speed)))) one.end(1, null)
		while (speed.width() > 1) (await entered(speed)).end(0, { kind: 'slow', retryAfterMs: null })
		const next = await entered(speed)
		next.end(1, null)
		aborting.abort()
		expect((await Promise.all(waiting.slice(3))).filter((pass) => pass !== null)).toEqual([])
	})

	test('default: six under way, more as they are answered, eight at most', async () => {
		const { speed } = provider(Number.POSITIVE_INFINITY, 0)
		expect(speed.width()).toBe(6)
		for (let round = 0; round < 20; round++) {
			const passes = await Promise.all(Array.from({ length: speed.width() }, () => entered(speed)))
			for (const pass of passes) pass.end(1, null)
		}
		expect(speed.width()).toBe(8)
		expect(speed.callsPerSecond()).toBeNull()
	})

	test('behavior: concurrency that is not used does not grow', async () => {
		const { speed } = provider(Number.POSITIVE_INFINITY, 0)
		for (let request = 0; request < 100; request++) (await entered(speed)).end(1, null)
		expect(speed.width()).toBe(6)
	})

	test('behavior: several requests refused together halve the concurrency once', async () => {
		const { speed } = provider(0, 0)
		const passes = await Promise.all(Array.from({ length: 6 }, () => entered(speed)))
		for (const pass of passes) pass.end(0, busy)
		expect(speed.width()).toBe(3)
		expect(speed.pausedMs()).toBe(50)
	})

	test('behavior: a limit of that many calls a second is learnt, and few are refused from then on', async () => {
		const { speed, seen, ask, now } = provider(15, 10)
		await ask(300)
		const asked = seen.length
		await ask(300)
		const later = seen.slice(asked)
		const refused = later.filter(({ ok }) => !ok).length
		expect(speed.callsPerSecond()).toBeGreaterThan(7)
		expect(speed.callsPerSecond()).toBeLessThan(20)
		expect(refused / later.length).toBeLessThan(0.1)
		// 600 at 15 a second are 40 s; what is learnt leaves little of it unused.
		expect(now()).toBeLessThan(70_000)
	})

	test.each([
		['one after the other', { workers: 1 }],
		['one after the other, two calls each', { workers: 1, calls: 2 }],
		['one after the other, in full seconds', { workers: 1, isFixed: true }],
		['two at once, five calls each', { workers: 2, calls: 5 }],
	])('behavior: the same where requests leave %s', async (_, how) => {
		const { speed, seen, ask, now } = provider(25, 10, how)
		const requests = 1_000 / ('calls' in how ? how.calls : 1)
		await ask(requests)
		const asked = seen.length
		const atMs = now()
		await ask(requests)
		const later = seen.slice(asked)
		expect(speed.callsPerSecond()).toBeGreaterThan(15)
		expect(speed.callsPerSecond()).toBeLessThan(32)
		expect(later.filter(({ ok }) => !ok).length / later.length).toBeLessThan(0.1)
		// The first ones teach it. 1,000 at 25 a second are 40 s.
		expect(seen.filter(({ ok }) => !ok).length / seen.length).toBeLessThan(0.15)
		expect(now() - atMs).toBeLessThan(55_000)
	})

	test.each([1, 2, 3])('behavior: refusals by chance do not slow it down (%i)', async (seed) => {
		const chance = createChance(seed)
		let nowMs = 0
		const speed = createSpeed({
			now: () => nowMs,
			random: () => 0.5,
			async wait(ms) {
				nowMs += ms
			},
		})
		for (let request = 0; request < 3_000; request++) {
			const pass = await entered(speed)
			nowMs += 10
			const isRefused = chance.percent(33)
			pass.end(isRefused ? 0 : 1, isRefused ? busy : null)
		}
		// Without any learning they take 3,000 answers of 10 ms, and the pauses after refusals in a row.
		expect(nowMs).toBeLessThan(250_000)
	})

	test('behavior: refusals that have nothing to do with the speed do not bring it to nothing', async () => {
		const { speed } = provider(Number.POSITIVE_INFINITY, 0)
		for (let request = 0; request < 2_000; request++) {
			const pass = await entered(speed)
			pass.end(request % 3 === 0 ? 0 : 1, request % 3 === 0 ? busy : null)
		}
		expect(speed.width()).toBeGreaterThanOrEqual(1)
		expect(speed.callsPerSecond() ?? Number.POSITIVE_INFINITY).toBeGreaterThan(5)
	})

	test('behavior: pauses that are asked for are not taken for a small plan', async () => {
		const { speed } = provider(0, 0)
		for (let request = 0; request < 200; request++) {
			const pass = await entered(speed)
			pass.end(request % 3 === 0 ? 0 : 1, request % 3 === 0 ? { kind: 'busy', retryAfterMs: 1_000 } : null)
		}
		expect(speed.callsPerSecond()).toBeNull()
	})

	test('behavior: a pause that is asked for is kept, and reported at once to the one who has no patience', async () => {
		const { speed, now } = provider(0, 0)
		const pass = await entered(speed)
		pass.end(0, { kind: 'busy', retryAfterMs: 9_000 })
		expect(await speed.enter(1, 3_000, never)).toBeNull()
		expect(now()).toBe(0)
		await entered(speed)
		expect(now()).toBe(9_000)
	})

	test('error: an abort gives the place in the queue to the next', async () => {
		const { speed } = provider(0, 0)
		const passes = await Promise.all(Array.from({ length: 6 }, () => entered(speed)))
		const controller = new AbortController()
		const gone = speed.enter(1, 1_000, controller.signal)
		const next = entered(speed)
		controller.abort(new Error('stop'))
		await expect(gone).rejects.toThrow('stop')
		passes[0]?.end(1, null)
		await next
	})
})
