import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Resolution } from '../../../src/model/delivery.js'
import { deliveryOf, idOf, startMs } from '../../notify/samples.js'
import { typed } from '../../support/commandLine.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	const network = 'networks: [{name: ethereum, chain_id: 1, rpc: [https://rpc.example.org/]}]'
	const receiver = (name: string) => `{name: ${name}, type: webhook, url: "https://${name}.example.org/"}`
	writeFileSync(
		join(folder, 'tracewatch.yaml'),
		`${network}\nreceivers: [${receiver('hook')}, ${receiver('second')}]\n`,
	)
	const watches = 'watches: [{address: "0x742d35cc6634c0532925a3b844bc454e4438f44e"}]'
	writeFileSync(join(folder, 'watchlists/a.yaml'), `network: ethereum\nreceivers: [hook]\n${watches}\n`)
})

/** Deliveries 1 to `count`, as the state holds them; those that `refused` names are dead. */
async function stored(count: number, refused: readonly number[] = []): Promise<void> {
	const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
	const numbers = Array.from({ length: count }, (_, at) => at + 1)
	await store.post(numbers.map((number) => deliveryOf(number)))
	const error = 'hook.example.org answered 400: the message was refused'
	await store.resolve(
		refused.map(
			(number): Resolution => ({
				id: idOf(number),
				result: 'dead',
				code: 'refused',
				error,
				nextAttemptAtMs: 0,
			}),
		),
	)
	await store.close()
}

const run = (...words: readonly string[]) => typed(['deliveries', ...words], { cwd: folder })

describe('deliveries list', () => {
	test('default: says of each what it is, since when, and what was answered', async () => {
		await stored(2, [1])
		const { code, out } = await run()
		expect(code).toBe(0)
		expect(out[0]).toMatch(new RegExp(`^${idOf(1)}  dead  hook  1 attempt since 2026-11-20T10:00:00Z$`))
		expect(out[1]).toContain('Treasury received')
		expect(out[2]).toContain('answered 400')
		expect(out[3]).toMatch(new RegExp(`^${idOf(2)}  pending  hook  0 attempts since .*Z, next at .*Z$`))
	})

	test('behavior: --since takes a date or a time of a real day, in UTC or with its offset', async () => {
		await stored(1)
		const since = async (time: string) => (await run('--since', time)).out.length > 1
		for (const time of ['2026-11-20', '2026-11-20T10:00', '2026-11-20T10:00:00Z', '2026-11-20T12:00:00+02:00'])
			expect(await since(time), time).toBe(true)
		for (const time of ['2026-11-21', '2026-11-20T10:00:01', '2026-11-20T12:00:01.5+02:00'])
			expect(await since(time), time).toBe(false)
		for (const time of ['2026-02-31', '2026-13-01', '2026-11-20T24:10:00Z', '20.11.2026'])
			expect((await run('--since', time)).code, time).toBe(2)
	})

	test('error: a hostile answer of a receiver begins no line and moves no cursor', async () => {
		await stored(1)
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const error = `answered\n${idOf(9)}  delivered\u001b]0;owned\u0007\u001b[2J\u202e\u200b\r\u0085x`
		await store.resolve([{ id: idOf(1), result: 'dead', code: 'refused', error, nextAttemptAtMs: 0 }])
		await store.close()
		const { out } = await run()
		expect(out).toHaveLength(3)
		expect(out.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
		expect(out[2]).toBe(`  answered ${idOf(9)}  delivered]0;owned[2J x`)
	})

	test('behavior: held deliveries are listed with reason and time, and a retry sends a single one', async () => {
		await stored(2)
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const untilMs = startMs + 3_600_000
		await store.resolve([
			{ id: idOf(1), result: 'wait', as: 'digest', untilMs },
			{ id: idOf(2), result: 'wait', as: 'digest', untilMs },
		])
		await store.close()
		const { out } = await run('--status', 'held')
		expect(out[0]).toBe(
			`${idOf(1)}  held  hook  0 attempts since 2026-11-20T10:00:00Z, for a digest until 2026-11-20T11:00:00Z`,
		)
		expect(out[2]).toContain(', for a digest until 2026-11-20T11:00:00Z')
		expect((await run('retry', idOf(1))).out).toEqual(['1 delivery will be tried again now'])
		const [first] = (await run('--json')).out.map((line) => JSON.parse(line))
		expect(first).toMatchObject({ id: idOf(1), status: 'pending', alone: true })
	})

	test('error: a receiver that accepted nothing is not said to accept others, in the list and by status', async () => {
		await stored(1)
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const refused = { sinceMs: startMs, times: 1 }
		const error = 'mail.example.org: the mail was refused (“552 5.2.2 mailbox full”)'
		const nextAttemptAtMs = startMs + 60_000
		await store.resolve([{ id: idOf(1), result: 'retry', code: 'message-failed', error, nextAttemptAtMs, refused }])
		await store.close()
		const { out } = await run()
		expect(out[0]).toMatch(new RegExp(`^${idOf(1)}  pending \\(retried separately\\)  hook  1 attempt `))
		const status = await typed(['status'], { cwd: folder })
		expect(status.out).toContainEqual('hook: 1 pending (1 retried separately), 0 parked, 0 dead, 0 delivered')
	})

	test('behavior: a receiver that is taken out while messages wait: the list, a retry and status name it', async () => {
		await stored(2)
		const path = join(folder, 'tracewatch.yaml')
		writeFileSync(path, readFileSync(path, 'utf8').replace('{name: hook,', '{name: third,'))
		expect((await run()).out[0]).toMatch(/pending {2}hook {2}0 attempts since .*Z, not configured$/)
		expect((await run('retry', idOf(2))).out).toEqual([
			'1 delivery will be tried again now',
			'hook is not configured: nothing is sent to it until it is put back, and tracewatch is restarted',
		])
		const status = await typed(['status'], { cwd: folder })
		expect(status.out[0]).toMatch(/no daemon runs; 2 messages wait for hook, which is not configured/)
		expect(status.out).toContainEqual('hook: 2 pending (not configured), 0 parked, 0 dead, 0 delivered')
	})

	test('behavior: a mailbox is taken out while mails wait: these are named and dropped apart', async () => {
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const refused = { refused: { sinceMs: startMs, times: 0 }, lastErrorCode: 'refused', lastError: '550' } as const
		const mail = (number: number, recipient: string) =>
			deliveryOf(number, { receiver: 'second', recipient, ...refused })
		await store.post([mail(1, 'gone@example.org'), mail(2, 'ops@example.org')])
		await store.close()
		const path = join(folder, 'tracewatch.yaml')
		const email = '{name: second, type: email, smtp: "smtp://127.0.0.1:25", from: a@example.org, to: [ops@example.org]}'
		writeFileSync(path, readFileSync(path, 'utf8').replace(/\{name: second[^}]*\}/, email))
		const { out } = await run()
		expect(out[0]).toMatch(/parked {2}second \(gone@example\.org\) {2}0 attempts since .*Z, not configured$/)
		const status = await typed(['status'], { cwd: folder })
		const words = status.out.join('\n')
		expect(words).toMatch(/second refuses all messages \(1 wait\)/)
		const remedy = "tracewatch deliveries drop --all --receiver 'second (gone@example.org)'"
		expect(words).toContain(
			`1 message waits for second (gone@example.org), which is not configured. To do: put it back, or \`${remedy}\``,
		)
		expect((await run('drop', '--all', '--receiver', 'second (gone@example.org)')).out).toEqual(['1 delivery dropped'])
		expect((await run('--json')).out.map((line) => JSON.parse(line).recipient)).toEqual(['ops@example.org'])
	})

	test('default: nothing waits', async () => {
		expect((await run()).out).toEqual(['nothing is pending, held, parked or dead'])
	})

	test('behavior: of 21 deliveries one is not shown', async () => {
		await stored(21)
		expect((await run()).out.at(-1)).toMatch(/^1 of them is not shown: --all shows them/)
	})

	test('behavior: of many it shows 20 and counts the others; --all shows all, --json is for programs', async () => {
		await stored(25, [3, 24])
		const shown = (lines: readonly string[]) => lines.filter((line) => line.startsWith('msg_')).length
		const { out } = await run()
		expect(shown(out)).toBe(20)
		expect(out.at(-1)).toBe('5 of them are not shown: --all shows them, --receiver and --status choose')
		expect(shown((await run('list', '--all')).out)).toBe(25)
		const json = (await run('list', '--json')).out.map((line) => JSON.parse(line).id)
		expect(json).toEqual(Array.from({ length: 25 }, (_, at) => idOf(at + 1)))
		expect(shown((await run('--status', 'dead')).out)).toBe(2)
		expect(shown((await run('--receiver', 'second')).out)).toBe(0)
	})
})

describe('deliveries retry and drop', () => {
	test('default: retry makes the dead pending again, drop forgets', async () => {
		await stored(3, [1, 2])
		expect((await run('retry', idOf(1))).out).toEqual(['1 delivery will be tried again now'])
		expect((await run('list', '--status', 'dead')).out[0]).toContain(idOf(2))
		expect((await run('drop', '--all', '--status', 'dead')).out).toEqual(['1 delivery dropped'])
		expect((await run('list', '--json')).out.length).toBe(2)
	})

	test.each([
		['neither ids nor --all', ['drop'], 2, /or say --all/],
		['ids and --all', ['drop', idOf(1), '--all'], 2, /or say --all/],
		['an id that is not there', ['retry', idOf(9)], 1, /^there is no such delivery: /],
		['a status that is none', ['list', '--status', 'gone'], 2, /pending, held, parked, dead; see/],
		['an act that is none', ['forget'], 2, /list, retry, drop; see `tracewatch deliveries --help`$/],
		['a time that is none', ['--since', 'soon'], 2, /'soon' is invalid. it takes 24h, 7d/],
		['an address that is none', ['--address', '0x12'], 2, /0x12/],
		[
			'--sent with a status',
			['--sent', '--status', 'dead'],
			2,
			/--status <status>' cannot be used with option '--sent'/,
		],
		['--sent with an act', ['drop', '--sent', '--all'], 2, /nothing of it is retried or dropped/],
		['ids for list', ['list', idOf(1)], 2, /takes no ids/],
	] as const)('error: %s changes nothing and says what to do', async (_, words, code, said) => {
		await stored(1)
		const found = await run(...words)
		expect(found).toMatchObject({ code, stdout: '' })
		expect(found.stderr).toMatch(said)
		expect(found.err).toHaveLength(1)
		expect((await run('list', '--json')).out.length).toBe(1)
	})
})
