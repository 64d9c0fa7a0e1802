// Guesses of the password of the pages: how many an hour can be made, and that no one is kept out by them.
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createGuesses, type Guess } from '../../src/ops/guesses.js'
import { startHttp } from '../../src/ops/httpServer.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { keptLog, type LogLine } from '../notify/samples.js'

describe('createGuesses', () => {
	beforeEach(() => void vi.useFakeTimers())
	afterEach(() => void vi.useRealTimers())

	const guess = (rest: Partial<Guess> = {}): Guess => ({
		from: '10.0.0.1',
		isRight: () => false,
		isGone: () => false,
		...rest,
	})

	test('default: ten wrong ones at once, then two in a second, for as long as they come', async () => {
		const checked = vi.fn(() => false)
		const guesses = createGuesses(() => undefined)
		for (let second = 0; second < 600; second++) {
			for (let n = 0; n < 50; n++) void guesses.check(guess({ isRight: checked }))
			await vi.advanceTimersByTimeAsync(1_000)
		}
		expect(checked.mock.calls.length).toBeLessThanOrEqual(10 + 2 * 600)
		expect(checked.mock.calls.length).toBeGreaterThan(2 * 599)
	})

	test('default: what is right costs nothing, however often it is said', async () => {
		const guesses = createGuesses(() => undefined)
		for (let n = 0; n < 1_000; n++) expect(await guesses.check(guess({ isRight: () => true }))).toBe('right')
	})

	test('behavior: beside a flood of one address another waits for ten seconds at most', async () => {
		const guesses = createGuesses(() => undefined)
		const flood = setInterval(() => void guesses.check(guess()), 10)
		onTestFinished(() => clearInterval(flood))
		await vi.advanceTimersByTimeAsync(5_000)
		let verdict = ''
		void guesses.check(guess({ from: '10.0.0.2', isRight: () => true })).then((told) => {
			verdict = told
		})
		await vi.advanceTimersByTimeAsync(10_500)
		expect(verdict).toBe('right')
	})

	test('behavior: no more than twenty wait; one of the many gives way, and is reported', async () => {
		const told: string[] = []
		const guesses = createGuesses(() => undefined)
		for (let n = 0; n < 1_000; n++) void guesses.check(guess()).then((verdict) => told.push(verdict))
		await vi.advanceTimersByTimeAsync(0)
		expect(told.filter((verdict) => verdict === 'wrong')).toHaveLength(10)
		expect(told.filter((verdict) => verdict === 'too-many')).toHaveLength(1_000 - 10 - 20)
		await vi.advanceTimersByTimeAsync(10_500)
		expect(told).toHaveLength(1_000)
	})

	test('behavior: the one who hangs up has had no guess, and takes no place', async () => {
		const checked = vi.fn(() => false)
		const guesses = createGuesses(() => undefined)
		for (let n = 0; n < 10; n++) await guesses.check(guess())
		for (let n = 0; n < 20; n++) void guesses.check(guess({ isRight: checked, isGone: () => true }))
		const own = guesses.check(guess({ isRight: () => true }))
		await vi.advanceTimersByTimeAsync(600)
		expect(await own).toBe('right')
		expect(checked).not.toHaveBeenCalled()
	})

	test('behavior: it is said once, and again when all was quiet between', async () => {
		const said: string[] = []
		const guesses = createGuesses((from) => said.push(from))
		const flood = async () => {
			for (let n = 0; n < 30; n++) void guesses.check(guess())
			await vi.advanceTimersByTimeAsync(20_000)
		}
		for (let n = 0; n < 30; n++) void guesses.check(guess())
		await vi.advanceTimersByTimeAsync(1_000)
		for (let n = 0; n < 30; n++) void guesses.check(guess())
		expect(said).toEqual(['10.0.0.1'])
		await vi.advanceTimersByTimeAsync(20_000)
		await flood()
		expect(said).toHaveLength(2)
	})
})

describe('the pages', () => {
	const password = 'correct horse battery'
	const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(`me:${text}`).toString('base64')}` })

	async function serve() {
		const lines: LogLine[] = []
		const server = await startHttp({
			...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: keptLog(lines), password },
			metrics: { text: async () => 'tracewatch_up 1\n', contentType: 'text/plain' },
			health: () => ({ ok: true, reason: null, networks: [] }),
			pages: async () => ({ status: 200, type: 'text/html', body: 'a page' }),
		})
		onTestFinished(() => server.close())
		const get = (headers: Readonly<Record<string, string>>, path = '/') =>
			new Promise<{ status: number; cookie: string }>((resolve, reject) => {
				const asked = request({ host: '127.0.0.1', port: server.port, path, headers, agent: false }, (response) => {
					const cookie = response.headers['set-cookie']?.join() ?? ''
					response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, cookie }))
				})
				asked.on('error', reject).end()
			})
		return { get, lines }
	}

	test('behavior: who was right once is not held up by others, and who comes first waits for seconds', async () => {
		const { get, lines } = await serve()
		const { cookie } = await get(basic(password))
		expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/)
		let isOver = false
		let wrong = 0
		const flood = async () => {
			while (!isOver) {
				const { status } = await get(basic('a guess')).catch(() => ({ status: 0 }))
				if (status === 401) wrong++
			}
		}
		const all = Array.from({ length: 4 }, flood)
		const beganMs = performance.now()
		await expect.poll(() => lines.some(({ message }) => message.includes('wrong passwords'))).toBe(true)
		const [known] = cookie.split(';')
		const wrongMeanwhile: number[] = []
		for (let n = 0; n < 5; n++) {
			const before = wrong
			expect((await get({ ...basic(password), cookie: known ?? '' })).status).toBe(200)
			wrongMeanwhile.push(wrong - before)
		}
		// In the queue each would wait for the guesses before it. This process may stand still during one or two.
		expect(wrongMeanwhile.toSorted((one, other) => one - other)[2]).toBeLessThan(3)
		// The cookie opens nothing.
		expect((await get({ cookie: known ?? '' })).status).toBe(401)
		expect((await get({ ...basic('x'), cookie: known ?? '' })).status).toBe(401)
		expect((await get(basic(password))).status).toBe(200)
		isOver = true
		const tookS = (performance.now() - beganMs) / 1_000
		expect(wrong).toBeLessThanOrEqual(10 + 2 * (tookS + 1))
		await Promise.all(all)
		expect(lines.filter(({ message }) => message.includes('wrong passwords'))).toHaveLength(1)
	})

	test('error: health and metrics say nothing of a guess that comes along with them', async () => {
		const { get, lines } = await serve()
		for (const path of ['/metrics', '/healthz']) {
			for (const text of [password, 'a guess']) expect((await get(basic(text), path)).status).toBe(200)
		}
		expect(lines).toEqual([])
		// Under a foreign name a guess there counts as one anywhere else.
		const foreign = { ...basic('a guess'), host: 'watch.example.org' }
		const told = await Promise.all(Array.from({ length: 14 }, () => get(foreign, '/metrics')))
		expect(told.map(({ status }) => status)).toEqual(Array(14).fill(421))
		expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('wrong passwords')])
	})
})
