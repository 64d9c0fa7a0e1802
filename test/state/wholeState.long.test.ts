import { createHash } from 'node:crypto'
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { groupedBy } from '../../src/core/lists.js'
import type { HistoryEntry } from '../../src/model/history.js'
import type { Store } from '../../src/model/ports.js'
import type { StatePlace } from '../../src/model/state.js'
import type { Troubles } from '../../src/model/trouble.js'
import { holdFolder } from '../../src/state/file/disk/hold.js'
import { journalAt, openHistory, openStore, openWatchlistCopies, peek } from '../../src/state/open.js'
import { copyState } from '../../src/state/wholeState.js'
import { standingClock } from '../support/standingClock.js'
import { makeFolder, removeFolder } from './file/folder.js'
import { openGate } from './postgres/gate.js'
import { emptied, startServer } from './postgres/server.js'
import {
	addressOf,
	announcementOf,
	blockOf,
	commitOf,
	contractOf,
	coverageOf,
	deliveryOf,
	gapOf,
	readState,
	START_MS,
} from './samples.js'

const server = await startServer()
afterAll(() => server?.stop())

/** The one that the database has too. */
const clock = standingClock
const options = { clock, historyMs: 90 * 86_400_000 }

let folder: string
beforeEach(async () => {
	folder = await makeFolder()
})
afterEach(() => removeFolder(folder))

const inFolder = (name: string): StatePlace => ({ kind: 'folder', dir: join(folder, name) })

async function emptyDatabase(): Promise<StatePlace> {
	if (server === null) throw new Error('no server')
	await emptied(server)
	return { kind: 'postgres', url: server.url() }
}

/** Something of everything that a state can hold. */
async function fill(store: Store): Promise<void> {
	for (const [network, chainId] of [
		['ethereum', 1],
		['base', 8453],
	] as const) {
		const announcements = [announcementOf(`${network}-1`, 95), announcementOf(`${network}-2`, 99, 1)]
		await store.commit({ network, chainId, checkpoint: blockOf(100), settled: blockOf(90), announcements })
		const covered = new Map([
			[addressOf(1), coverageOf(101)],
			[addressOf(2), coverageOf(5, { leftAt: 90n, missed: [{ from: 1n, to: 4n }] })],
		])
		const backfills = [
			{ id: 'b1', span: { from: 10n, to: 50n }, addresses: [addressOf(1)] },
			{ id: 'b2', span: { from: 2n ** 70n, to: 2n ** 71n }, addresses: [addressOf(2), addressOf(1)] },
		]
		await store.enrol(network, { covered, backfills })
		const gaps = new Map([[95n, gapOf(95)]])
		const contracts = new Map([[addressOf(1), contractOf(99, { values: { owner: addressOf(2) } })]])
		await store.commit({ network, chainId, backfill: { id: 'b1', scannedTo: 29n }, gaps, contracts })
	}
	const mail = { receiver: 'mail', recipient: 'ops@example.org' }
	await store.commit(commitOf({ deliveries: ['d1', 'd2', 'd3', 'd4'].map((id) => deliveryOf(id)) }))
	await store.post([deliveryOf('m1', mail), deliveryOf('m2', { ...mail, answers: 'm1' })])
	await store.resolve([
		{ id: 'd1', result: 'delivered' },
		{ id: 'd2', result: 'dead', code: 'refused', error: 'HTTP 400 \u0000 “ä” \ud800', nextAttemptAtMs: 0 },
		{ id: 'd3', result: 'retry', code: 'failed', error: 'HTTP 503', nextAttemptAtMs: START_MS + 1000 },
		{
			...{ id: 'm1', result: 'retry', code: 'refused', error: 'HTTP 410', nextAttemptAtMs: 0 },
			refused: { sinceMs: START_MS, times: 0 },
		},
	])
}

/** What was sent, newest first, without the numbers of its place. */
async function sent(place: StatePlace) {
	const reader = await openHistory(place)
	const rows: HistoryEntry[] = []
	for await (const { entry } of reader.read({}, null)) if (entry !== null) rows.push({ ...entry, seq: 0 })
	await reader.close()
	return rows
}

/** All that whoever opens it can see. */
async function seen(place: StatePlace) {
	const store = await openStore(place, options)
	try {
		return {
			networks: [await readState(await store.network('ethereum')), await readState(await store.network('base'))],
			deliveries: await store.deliveries(),
			summary: await store.summary(),
			taken: (await store.claim({ nowMs: START_MS + 1_000, perQueue: 1 }))
				.map((queue) => queue.map(({ id }) => id))
				.sort(),
		}
	} finally {
		await store.close()
	}
}

async function filled(place: StatePlace) {
	const store = await openStore(place, options)
	await fill(store)
	await store.close()
	return await seen(place)
}

test('default: from a folder to another', async () => {
	const before = await filled(inFolder('one'))
	await copyState(inFolder('one'), inFolder('two'))
	expect(await seen(inFolder('two'))).toEqual(before)
})

const troubles: Troubles = {
	open: [
		{
			...{ kind: 'undelivered', receiver: 'mail', recipient: null, sinceMs: 7, receivers: ['hook'] },
			...{ state: 'parked', announced: true },
		},
		{
			...{ kind: 'stalled', network: 'base', chainId: 8453, sinceMs: 8, receivers: ['hook'] },
			checkpoint: '12345678901234567890',
		},
	],
	timesAccepted: 3,
}

/** A run of its own. */
async function during<T>(place: StatePlace, act: (store: Store) => T | Promise<T>): Promise<T> {
	const store = await openStore(place, options)
	try {
		return await act(store)
	} finally {
		await store.close()
	}
}

test('default: troubles that receivers were notified of are copied along', async () => {
	const places = [inFolder('one'), ...(server === null ? [] : [await emptyDatabase()]), inFolder('three')]
	const first = inFolder('zero')
	await filled(first)
	await during(first, (store) => store.changeTroubles(troubles))
	let from = first
	for (const to of places) {
		await copyState(from, to)
		expect(await during(to, (store) => store.troubles())).toEqual(troubles)
		from = to
	}
})

test('default: the last good watchlists are copied along', async () => {
	const text = 'network: base\n'
	const files = [{ path: '/etc/tracewatch/watchlists/a.yaml', digest: createHash('sha256').update(text).digest('hex') }]
	const copies = { revision: 'r1', watchlists: files.map(({ path }) => path), files }
	const places = [...(server === null ? [] : [await emptyDatabase()]), inFolder('three')]
	let from = inFolder('zero')
	await filled(from)
	async function* chunks() {
		yield Buffer.from(text)
	}
	await during(from, (store) => store.keepWatchlists({ ...copies, chunks }))
	for (const to of places) {
		await copyState(from, to)
		const { chunks, ...found } = (await openWatchlistCopies(to)) ?? {}
		expect(found).toEqual(copies)
		const bytes: Uint8Array[] = []
		for await (const chunk of chunks?.(files[0]?.path ?? '') ?? []) bytes.push(chunk)
		expect(String(Buffer.concat(bytes))).toBe(text)
		from = to
	}
})

test('error: where there is no state, nothing is copied or made', async () => {
	for (const from of [inFolder('none'), ...(server === null ? [] : [await emptyDatabase()])])
		await expect(copyState(from, inFolder('two'))).rejects.toThrow(/no state to copy/)
	expect(await readdir(folder)).toEqual([])
})

test('error: a folder that holds a state, or that a daemon has, is left alone', async () => {
	const before = await filled(inFolder('one'))
	await filled(inFolder('two'))
	await expect(copyState(inFolder('two'), inFolder('one'))).rejects.toMatchObject({ reason: 'mismatch' })
	expect(await seen(inFolder('one'))).toEqual(before)
	await filled(inFolder('three'))
	const { release: unlock } = await holdFolder(join(folder, 'three'))
	const locked = { reason: 'locked', message: expect.stringContaining('stop that one first') }
	await expect(copyState(inFolder('two'), inFolder('three'))).rejects.toMatchObject({ reason: 'mismatch' })
	await expect(copyState(inFolder('three'), inFolder('four'))).rejects.toMatchObject(locked)
	await unlock()
})

/** As a kill leaves it, before the history or after it. */
async function halfCopied(place: StatePlace, rows: readonly HistoryEntry[]): Promise<void> {
	const journal = await journalAt(place, { isCopy: true })
	await journal.acquire()
	await journal.addHistory(rows)
	await journal.close()
}

const isHalf = {
	reason: 'mismatch',
	message: expect.stringMatching(/only the beginning of a copy.*copy again to another place/),
}

async function refusesHalf(place: StatePlace): Promise<void> {
	await filled(inFolder('one'))
	for (const rows of [[], await sent(inFolder('one'))]) {
		await halfCopied(place, rows)
		for (const refused of [
			() => openStore(place, options),
			() => openStore(place, { ...options, isBeside: true }),
			() => peek(place),
			() => copyState(inFolder('one'), place),
			() => copyState(place, inFolder('new')),
		])
			await expect(refused()).rejects.toMatchObject(isHalf)
		expect(await sent(place)).toEqual(rows)
		if (place.kind === 'folder') await removeFolder(place.dir)
		else await emptyDatabase()
	}
	expect(await readdir(folder)).not.toContain('new')
	await copyState(inFolder('one'), place)
	expect(await seen(place)).toEqual(await seen(inFolder('one')))
}

test('error: a folder with half of a copy is no state, and stays as it is', async () => {
	await refusesHalf(inFolder('to'))
	// Not taken for a young state, whose journal has everything.
	await halfCopied(inFolder('half'), [])
	await writeFile(join(folder, 'half', 'state.json'), '')
	await expect(openStore(inFolder('half'), options)).rejects.toMatchObject({ reason: 'damaged' })
})

test('behavior: a copy in a folder heals as any state, whenever its snapshot is damaged', async () => {
	const [from, to] = [inFolder('from'), inFolder('to')]
	const store = await openStore(from, options)
	await fill(store)
	await store.close()
	await copyState(from, to)
	const path = join(folder, 'to', 'state.json')
	await writeFile(path, '')
	const healed = await openStore(to, options)
	expect(await healed.deliveries()).toHaveLength(5)
	await healed.commit(commitOf({ checkpoint: blockOf(101), deliveries: [deliveryOf('later')] }))
	await healed.close()
	await writeFile(path, '')
	expect((await peek(to))?.whole.deliveries.has('later')).toBe(true)
})

describe.skipIf(server === null)('with a database', () => {
	test('error: a database with half of a copy is no state, and stays as it is', async () => {
		await refusesHalf(await emptyDatabase())
	})

	test('error: a copy into a row that an instance made and never wrote to is marked as well', async () => {
		const database = await emptyDatabase()
		await (await openStore(database, options)).close()
		await halfCopied(database, [])
		await expect(peek(database)).rejects.toMatchObject(isHalf)
	})

	test('behavior: a copy whose connection is cut while it writes history has each row once', async () => {
		if (server === null) return
		const database = await emptyDatabase()
		const before = await filled(inFolder('one'))
		const gate = await openGate(server.port)
		gate.lose('insert into tracewatch.history')
		await copyState(inFolder('one'), { kind: 'postgres', url: gate.url(server.url()) })
		await gate.close()
		expect(await seen(database)).toEqual(before)
		expect(await sent(database)).toEqual(await sent(inFolder('one')))
	})

	test('behavior: a copy that failed after the history is made again under another name', async () => {
		const database = await emptyDatabase()
		const before = await filled(inFolder('one'))
		await server?.sql('alter table tracewatch.snapshot add constraint full_disk check (false)')
		await expect(copyState(inFolder('one'), database)).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringMatching(/the database at \S+ may now hold only the beginning of the copy: name another/),
		})
		await server?.sql('alter table tracewatch.snapshot drop constraint full_disk')
		expect(await sent(database)).toHaveLength(1)
		await expect(copyState(inFolder('one'), database)).rejects.toThrow(/beginning of a copy/)
		if (database.kind !== 'postgres') throw new Error('no database')
		const named = { ...database, url: `${database.url}?name=second` }
		await copyState(inFolder('one'), named)
		expect(await seen(named)).toEqual(before)
		expect(await sent(named)).toEqual(await sent(inFolder('one')))
	})

	test('default: from a folder and back, nothing changes', async () => {
		const database = await emptyDatabase()
		const before = await filled(inFolder('one'))
		await copyState(inFolder('one'), database)
		expect(await seen(database)).toEqual(before)
		expect([...((await peek(database))?.whole.deliveries.values() ?? [])]).toEqual(before.deliveries)
		const contracts = new Map([[addressOf(1), contractOf(99, { values: { owner: addressOf(2) } })]])
		for (const place of [inFolder('one'), database])
			expect((await peek(place))?.whole.networks.get('ethereum')?.contracts).toEqual(contracts)
		await copyState(database, inFolder('two'))
		expect(await seen(inFolder('two'))).toEqual(before)
		expect(await sent(inFolder('one'))).toMatchObject([{ id: 'd1', result: 'delivered' }])
		for (const place of [database, inFolder('two')]) expect(await sent(place)).toEqual(await sent(inFolder('one')))
	})

	test('error: lines of the history that cannot be read are copied as holes, in their place', async () => {
		const database = await emptyDatabase()
		await filled(inFolder('one'))
		const [day = ''] = await readdir(join(folder, 'one', 'history'))
		await appendFile(join(folder, 'one', 'history', day), 'rubbish\nrubbish\n')
		await during(inFolder('one'), (store) => store.drop(['d2']))
		await copyState(inFolder('one'), database)
		const rows = await sent(database)
		expect(rows.map((row) => ('hole' in row ? 'hole' : 'row'))).toEqual(['row', 'hole', 'hole', 'row'])
		await copyState(database, inFolder('two'))
		expect(await sent(inFolder('two'))).toEqual(rows)
	})

	test('default: messages sent over days are copied in their order', async () => {
		const database = await emptyDatabase()
		const before = await filled(inFolder('one'))
		const [row] = await sent(inFolder('one'))
		const nowMs = standingClock()
		const lines = Array.from({ length: 1_100 }, (_, at) => {
			const endedAtMs = nowMs - (1_100 - at) * 120_000
			return {
				day: new Date(endedAtMs).toISOString().slice(0, 10),
				text: { ...row, seq: at + 1, endedAtMs, id: `h${at}` },
			}
		})
		await rm(join(folder, 'one', 'history'), { recursive: true })
		await mkdir(join(folder, 'one', 'history'))
		for (const [day, ofDay] of groupedBy(lines, (line) => line.day))
			await writeFile(
				join(folder, 'one', 'history', `${day}.jsonl`),
				ofDay.map(({ text }) => `${JSON.stringify(text)}\n`).join(''),
			)
		await copyState(inFolder('one'), database)
		await copyState(database, inFolder('two'))
		const expected = lines.map(({ text: { id, endedAtMs } }) => ({ id, endedAtMs })).reverse()
		for (const place of [database, inFolder('two')]) expect(await sent(place)).toMatchObject(expected)
		expect((await readdir(join(folder, 'two', 'history'))).length).toBeGreaterThan(1)
		expect(await seen(inFolder('two'))).toEqual(before)
	})

	test('error: a database that holds a state is left alone', async () => {
		const database = await emptyDatabase()
		const before = await filled(database)
		await filled(inFolder('one'))
		await expect(copyState(inFolder('one'), database)).rejects.toMatchObject({
			reason: 'mismatch',
			message: expect.stringMatching(/^the database at 127\.0\.0\.1:\d+ holds a state already/),
		})
		expect(await seen(database)).toEqual(before)
	})

	test('error: a database that a daemon uses is not copied', async () => {
		const database = await emptyDatabase()
		await filled(database)
		const daemon = await openStore(database, options)
		const locked = { reason: 'locked', message: expect.stringContaining('stop every one first') }
		await expect(copyState(database, inFolder('one'))).rejects.toMatchObject(locked)
		await daemon.close()
		await copyState(database, inFolder('one'))
	})

	test('error: a database that a daemon is about to begin anew in is left alone', async () => {
		const database = await emptyDatabase()
		await filled(inFolder('one'))
		const daemon = await openStore(database, options)
		await expect(copyState(inFolder('one'), database)).rejects.toMatchObject({ reason: 'locked' })
		await daemon.commit(commitOf({ checkpoint: blockOf(7_000) }))
		await daemon.close()
		await expect(copyState(inFolder('one'), database)).rejects.toMatchObject({ reason: 'mismatch' })
	})

	test('behavior: thousands of addresses', async () => {
		const many = 5_000
		const database = await emptyDatabase()
		const store = await openStore(inFolder('one'), options)
		await store.commit(commitOf({ checkpoint: blockOf(1) }))
		const covered = new Map(Array.from({ length: many }, (_, index) => [addressOf(index), coverageOf(index)]))
		await store.enrol('ethereum', { covered, backfills: null })
		await store.close()
		await copyState(inFolder('one'), database)
		const there = await openStore(database, options)
		const found = (await there.network('ethereum'))?.covered
		// Told apart as texts: a comparison of objects takes seconds.
		expect(found === undefined ? null : texts(found)).toEqual(texts(covered))
		await there.close()
	})
})

function texts(covered: ReadonlyMap<string, object>): readonly string[] {
	const bigints = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
	return [...covered].map(([address, one]) => `${address} ${JSON.stringify(one, bigints)}`)
}
