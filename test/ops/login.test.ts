import { request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startHttp } from '../../src/ops/httpServer.js'
import { createLogin } from '../../src/ops/login.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { keptLog, type LogLine } from '../notify/samples.js'

const password = 'correct horse battery'
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(`me:${text}`).toString('base64')}` })

describe('createLogin', () => {
	beforeEach(() => void vi.useFakeTimers())
	afterEach(() => void vi.useRealTimers())
	const from = (remoteAddress: string, text: string) =>
		({ headers: basic(text), socket: { remoteAddress } }) as unknown as Parameters<ReturnType<typeof createLogin>>[0]

	test('default: wrong passwords of one address are checked twice a second, however many arrive', async () => {
		const flooding: string[] = []
		const login = createLogin(password, (address) => flooding.push(address))
		const counts = { wrong: 0, 'too-many': 0, right: 0, none: 0 }
		for (let second = 0; second < 60; second += 1) {
			for (let n = 0; n < 50; n += 1) void login(from('10.0.0.1', 'guess')).then((verdict) => (counts[verdict] += 1))
			await vi.advanceTimersByTimeAsync(1_000)
		}
		expect(counts.wrong).toBeLessThanOrEqual(1 + 2 * 60)
		expect(counts.wrong).toBeGreaterThan(2 * 58)
		expect(counts['too-many']).toBeGreaterThan(2_000)
		expect(flooding).toEqual(['10.0.0.1'])
	})

	test('behavior: right passwords are never delayed, and a flood of one address delays no other', async () => {
		const login = createLogin(password, () => undefined)
		for (let n = 0; n < 100; n += 1) expect(await login(from('10.0.0.2', password))).toBe('right')
		for (let n = 0; n < 100; n += 1) void login(from('10.0.0.1', 'guess'))
		expect(await login(from('10.0.0.2', password))).toBe('right')
	})

	test.each(['', 'Bearer x', 'Basic', `Basic ${Buffer.from('no colon').toString('base64')}`])(
		'error: `%s` is no password',
		async (authorization) => {
			const login = createLogin(password, () => undefined)
			const asked = login({ headers: { authorization }, socket: {} } as never)
			await vi.advanceTimersByTimeAsync(1_000)
			expect(await asked).toBe('wrong')
		},
	)
})

test('error: health and metrics reveal nothing of a password that comes along with the request', async () => {
	const lines: LogLine[] = []
	const server = await startHttp({
		...{ host: '127.0.0.1', port: 0, version: '1.2.3', scrubber: createScrubber(), log: keptLog(lines), password },
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
	// Refused ones; the others have their turn.
	while (answers.length < 10) await turn()
	while (answers.length < 30) {
		await vi.advanceTimersByTimeAsync(500)
		await turn()
	}
	expect(new Set(answers)).toEqual(new Set([421, 429]))
	expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('wrong passwords')])
})
