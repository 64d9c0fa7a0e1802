import { request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startHttp } from '../../src/ops/httpServer.js'
import { createLogin } from '../../src/ops/login.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { silent } from '../support/silent.js'

const password = 'correct horse battery'
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(`me:${text}`).toString('base64')}` })

describe('createLogin', () => {
	beforeEach(() => void vi.useFakeTimers())
	afterEach(() => void vi.useRealTimers())
	const from = (remoteAddress: string, text: string) =>
		({ headers: basic(text), socket: { remoteAddress } }) as unknown as Parameters<ReturnType<typeof createLogin>>[0]

	test('default: wrong passwords of one address are checked twice a second, however many arrive', async () => {
		const login = createLogin(password)
		let checked = 0
		for (let second = 0; second < 60; second += 1) {
			for (let n = 0; n < 50; n += 1) void login(from('10.0.0.1', 'guess')).then(() => (checked += 1))
			await vi.advanceTimersByTimeAsync(1_000)
		}
		expect(checked).toBeLessThanOrEqual(1 + 2 * 60)
		expect(checked).toBeGreaterThan(2 * 58)
	})

	test('behavior: a right password after a wrong one waits for the delay, and then delays nothing', async () => {
		const login = createLogin(password)
		expect(await login(from('10.0.0.1', 'guess'))).toBe(false)
		let isIn = false
		const next = login(from('10.0.0.1', password)).then((isRight) => (isIn = isRight))
		await vi.advanceTimersByTimeAsync(499)
		expect(isIn).toBe(false)
		await vi.advanceTimersByTimeAsync(1)
		expect(await next).toBe(true)
		expect(await login(from('10.0.0.1', password))).toBe(true)
	})

	test('behavior: guesses of closed connections delay no other one', async () => {
		const login = createLogin(password)
		const gone = { headers: basic('guess'), socket: { remoteAddress: '10.0.0.1', destroyed: true } } as never
		for (let n = 0; n < 1_000; n += 1) void login(gone)
		expect(await login(from('10.0.0.1', password))).toBe(true)
	})

	test('behavior: right passwords are never delayed, and a flood of one address delays no other', async () => {
		const login = createLogin(password)
		for (let n = 0; n < 100; n += 1) expect(await login(from('10.0.0.2', password))).toBe(true)
		for (let n = 0; n < 100; n += 1) void login(from('10.0.0.1', 'guess'))
		expect(await login(from('10.0.0.2', password))).toBe(true)
	})

	test.each(['', 'Bearer x', 'Basic', `Basic ${Buffer.from('no colon').toString('base64')}`])(
		'error: `%s` is no password',
		async (authorization) => {
			const login = createLogin(password)
			const asked = login({ headers: { authorization }, socket: {} } as never)
			await vi.advanceTimersByTimeAsync(1_000)
			expect(await asked).toBe(false)
		},
	)
})

test('error: health and metrics reveal nothing of a password that comes along with the request', async () => {
	const server = await startHttp({
		...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: silent, password },
		metrics: { text: async () => 'tracewatch_up 1\n', contentType: 'text/plain' },
		health: () => ({ ok: true, reason: null, networks: [] }),
		pages: async () => ({ status: 200, type: 'text/html', body: 'a page' }),
	})
	onTestFinished(() => server.close())
	const get = (headers: Readonly<Record<string, string>>, path = '/') =>
		new Promise<number>((resolve, reject) => {
			const asked = request({ host: '127.0.0.1', port: server.port, path, headers, agent: false }, (response) => {
				response.resume().on('end', () => resolve(response.statusCode ?? 0))
			})
			asked.on('error', reject).end()
		})
	for (const path of ['/metrics', '/healthz'])
		for (const text of [password, 'a guess']) expect(await get(basic(text), path)).toBe(200)
	expect([await get({}), await get(basic('a guess')), await get(basic(password))]).toEqual([401, 401, 200])
	// Under a foreign name a guess is checked, and counts.
	const foreign = { ...basic('a guess'), host: 'watch.example.org' }
	// Only the delay after a wrong one is not waited for.
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
	onTestFinished(() => void vi.useRealTimers())
	const answers: number[] = []
	for (let n = 0; n < 30; n += 1) void get(foreign, '/metrics').then((status) => answers.push(status))
	while (answers.length < 30) {
		await vi.advanceTimersByTimeAsync(500)
		await turn()
	}
	expect(new Set(answers)).toEqual(new Set([421]))
})
