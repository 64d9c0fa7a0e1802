import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { CommandArgs, Io } from '../../../src/commands/command.js'
import { deliveries } from '../../../src/commands/state/deliveries.js'
import { PlainError, UsageError } from '../../../src/errors.js'
import type { Resolution } from '../../../src/model/delivery.js'
import { createScrubber } from '../../../src/ops/scrub.js'
import { openFileStore } from '../../../src/state/file/store.js'
import { deliveryOf, idOf, startMs } from '../../notify/samples.js'
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
				code: 'message-refused',
				error,
				nextAttemptAtMs: 0,
			}),
		),
	)
	await store.close()
}

async function run(positionals: readonly string[] = [], values: CommandArgs['values'] = {}) {
	const out: string[] = []
	const io: Io = {
		out: (line) => out.push(line),
		err: (line) => out.push(line),
		env: {},
		cwd: folder,
		isTty: false,
		signal: new AbortController().signal,
		scrubber: createScrubber(),
	}
	const code = await deliveries.run({ values, positionals }, io)
	return { code, out }
}

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

	test('error: what a receiver answered begins no line and moves no cursor', async () => {
		await stored(1)
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const error = `answered\n${idOf(9)}  delivered\u001b]0;owned\u0007\u001b[2J\u202e\u200b\r\u0085x`
		await store.resolve([{ id: idOf(1), result: 'dead', code: 'message-refused', error, nextAttemptAtMs: 0 }])
		await store.close()
		const { out } = await run()
		expect(out).toHaveLength(3)
		expect(out.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
		expect(out[2]).toBe(`  answered ${idOf(9)}  delivered]0;owned[2J x`)
	})

	test('behavior: what is held, why and until when; a second chance sends it alone', async () => {
		await stored(2)
		const store = await openFileStore(join(folder, 'state'), { clock: () => startMs })
		const untilMs = startMs + 3_600_000
		await store.resolve([
			{ id: idOf(1), result: 'held', by: 'digest', untilMs },
			{ id: idOf(2), result: 'held', by: 'digest', untilMs },
		])
		await store.close()
		const { out } = await run([], { status: 'held' })
		expect(out[0]).toBe(
			`${idOf(1)}  held  hook  0 attempts since 2026-11-20T10:00:00Z, for a digest until 2026-11-20T11:00:00Z`,
		)
		expect(out[2]).toContain(', for a digest until 2026-11-20T11:00:00Z')
		expect((await run(['retry', idOf(1)])).out).toEqual(['1 delivery will be tried again now'])
		const [first] = (await run([], { json: true })).out.map((line) => JSON.parse(line))
		expect(first).toMatchObject({ id: idOf(1), status: 'pending', alone: true })
	})

	test('default: nothing waits', async () => {
		expect((await run()).out).toEqual(['nothing is pending, held, parked or dead'])
	})

	test('behavior: of many it shows the first 20 and counts all; --all shows all, --json is for programs', async () => {
		await stored(25, [3, 24])
		const shown = (lines: readonly string[]) => lines.filter((line) => line.startsWith('msg_')).length
		const { out } = await run()
		expect(shown(out)).toBe(20)
		expect(out.slice(-3)).toEqual([
			'23  pending  hook',
			'2  dead  hook',
			'5 of them are not shown: --all shows them, --receiver and --status choose',
		])
		expect(shown((await run(['list'], { all: true })).out)).toBe(25)
		const json = (await run(['list'], { json: true })).out.map((line) => JSON.parse(line).id)
		expect(json).toEqual(Array.from({ length: 25 }, (_, at) => idOf(at + 1)))
		expect(shown((await run([], { status: 'dead' })).out)).toBe(2)
		expect(shown((await run([], { receiver: 'second' })).out)).toBe(0)
	})
})

describe('deliveries retry and drop', () => {
	test('default: retry makes the dead pending again, drop forgets', async () => {
		await stored(3, [1, 2])
		expect((await run(['retry', idOf(1)])).out).toEqual(['1 delivery will be tried again now'])
		expect((await run(['list'], { status: 'dead' })).out[0]).toContain(idOf(2))
		expect((await run(['drop'], { all: true, status: 'dead' })).out).toEqual(['1 delivery dropped'])
		expect((await run(['list'], { json: true })).out.length).toBe(2)
	})

	test('error: neither ids nor --all, both, an id that is not there, a status that is none', async () => {
		await stored(1)
		await expect(run(['drop'])).rejects.toThrow(UsageError)
		await expect(run(['drop', idOf(1)], { all: true })).rejects.toThrow(UsageError)
		await expect(run(['retry', idOf(9)])).rejects.toThrow(PlainError)
		await expect(run(['list'], { status: 'gone' })).rejects.toThrow(/pending, held, parked or dead/)
		expect((await run(['list'], { json: true })).out.length).toBe(1)
	})
})
