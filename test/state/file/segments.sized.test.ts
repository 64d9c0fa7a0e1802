// The snapshot and its journal: what is cut off, torn, spoilt or taken away at any moment, and what is written at all.

import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import { summarize } from '../../../src/state/document.js'
import { readFolder } from '../../../src/state/file/readFolder.js'
import { peek } from '../../../src/state/open.js'
import { FORMAT } from '../../../src/state/stateFormat.js'
import { openFileStore } from '../../support/fileStore.js'
import { describeOnce, divided, testInFull, testOnce } from '../../support/longRun.js'
import { randomOf } from '../../support/random.js'
import { silent } from '../../support/silent.js'
import {
	addressOf,
	announcementOf,
	blockOf,
	commitOf,
	contractOf,
	coverageOf,
	deliveryOf,
	gapOf,
	troubleOf,
} from '../samples.js'
import { fileOf, makeFolder, newestSegment, removeFolder, segmentFiles } from './folder.js'

const shell = promisify(execFile)

let root: string
let folder: string
const at = (name: string) => join(folder, name)
/** `least`: 1 makes a snapshot whenever the journal is larger than the last one. */
const open = (least?: number, dir = folder): Promise<Store> =>
	openFileStore(dir, { clock: () => 5, ...(least && { leastJournalBytes: least }) })

beforeEach(async () => {
	root = await makeFolder()
	folder = join(root, 'state')
})
afterEach(() => removeFolder(root))

/** All that a store says of itself. */
async function seen(store: Store) {
	const state = await store.network('ethereum')
	return {
		...state,
		covered: new Map(state?.covered),
		books: new Map([...(state?.books ?? [])].sort()),
		deliveries: await store.deliveries(),
		summary: await store.summary(),
		troubles: store.troubles(),
	}
}

async function seenIn(dir: string) {
	const store = await open(undefined, dir)
	try {
		return await seen(store)
	} finally {
		await store.close()
	}
}

/** Each of these is one write with all that a change can hold. */
const steps: readonly ((store: Store) => Promise<unknown>)[] = [
	(store) => store.commit(commitOf({ checkpoint: blockOf(1), settled: blockOf(1), deliveries: [deliveryOf('a')] })),
	(store) =>
		store.enrol('ethereum', {
			covered: new Map([
				[addressOf(1), coverageOf(2)],
				[addressOf(2), coverageOf(3, { leftAt: 4n, missed: [{ from: 1n, to: 2n }] })],
			]),
			backfills: [{ id: 'b', span: { from: 1n, to: 9n }, addresses: [addressOf(2), addressOf(9), addressOf(1)] }],
		}),
	(store) => store.commit(commitOf({ backfill: { id: 'b', scannedTo: 4n }, announcements: [announcementOf('t1', 7)] })),
	(store) =>
		store.commit(
			commitOf({
				checkpoint: blockOf(2),
				forgetTo: 3n,
				seen: { head: 4 },
				announcements: [announcementOf('t2', 8, 1), announcementOf('t3', 2)],
				books: new Map([
					[addressOf(1), { block: 2n, balanceWei: 2n ** 90n, movedWei: -7n, code: null }],
					[addressOf(2), { block: 2n, balanceWei: 0n, movedWei: 0n, code: '0123456789abcdef' }],
				]),
				gaps: new Map([[7n, gapOf(7, { addresses: [addressOf(1)] })]]),
				payees: new Map([[addressOf(1), [{ address: addressOf(3), amount: '1.5', startedBy: 'watch' }]]]),
				contracts: new Map([[addressOf(1), contractOf(2, { values: { owner: addressOf(3) } })]]),
				deliveries: [deliveryOf('b'), deliveryOf('c'), deliveryOf('d')],
				folded: [deliveryOf('x')],
			}),
		),
	(store) => store.markGaps('ethereum', [7n], { act: 'accept', atMs: 9 }),
	(store) =>
		store.resolve(
			[
				{ id: 'a', result: 'delivered', answer: '200' },
				{ id: 'b', result: 'wait', as: 'digest', untilMs: 99 },
				{ id: 'c', result: 'wait', as: 'digest', untilMs: 99 },
			],
			[deliveryOf('e'), deliveryOf('g'), deliveryOf('h')],
		),
	(store) => store.resolve([{ id: 'c', result: 'wait', as: 'alone', untilMs: 98 }]),
	// A code that only earlier builds wrote.
	(store) =>
		store.resolve([{ id: 'g', result: 'dead', code: 'removed' as never, error: 'HTTP 410 “ä”\n', nextAttemptAtMs: 0 }]),
	(store) => store.retry(['g'], 77),
	(store) => store.drop(['h']),
	(store) =>
		store.commit(
			commitOf({
				contracts: new Map([[addressOf(1), null]]),
				books: new Map([[addressOf(2), null]]),
				gaps: new Map([[7n, null]]),
				checkpoint: blockOf(3),
			}),
		),
	(store) => store.enrol('ethereum', { covered: new Map([[addressOf(5), coverageOf(9)]]), backfills: null }),
	(store) => store.changeTroubles({ open: [troubleOf('mail')], timesAccepted: 3 }),
]

testOnce('default: each change is read back as it was made, and peeked at', async () => {
	let store = await open()
	for (const step of steps) {
		await step(store)
		const before = await seen(store)
		await store.close()
		store = await open()
		expect(await seen(store)).toEqual(before)
		const peeked = await peek({ kind: 'folder', dir: folder })
		expect(peeked && summarize(peeked.whole)).toEqual(before.summary)
	}
	await store.close()
	// And once more when all of it stands in the snapshot.
	const before = await seenIn(folder)
	store = await open(1)
	await store.post([deliveryOf('z', { lastError: 'x'.repeat(9_000) })])
	await store.close()
	expect((await readFile(newestSegment(folder), 'utf8')).split('\n')).toHaveLength(2)
	const { deliveries, summary: _, ...rest } = await seenIn(folder)
	expect({ ...before, ...rest }).toEqual(before)
	expect(deliveries.slice(0, -1)).toEqual(before.deliveries)
})

/**
 * A journal of an earlier build of this format, made of the steps above. When the form of a line or the meaning of a
 * change is another now: raise FORMAT, and make the file again with TRACEWATCH_GOLDEN=1.
 */
testOnce('behavior: a journal that an earlier build wrote is read as it was meant, and is written alike', async () => {
	const golden = new URL(`golden.${FORMAT}.jsonl`, import.meta.url)
	const store = await open()
	for (const step of steps) await step(store)
	const expected = await seen(store)
	await store.close()
	const journal = newestSegment(folder)
	const [head = '', ...lines] = (await readFile(journal, 'utf8')).trimEnd().split('\n')
	if (process.env.TRACEWATCH_GOLDEN === '1') await writeFile(golden, `${lines.join('\n')}\n`)
	const kept = await readFile(golden, 'utf8')
	const changesOf = (text: string) =>
		text
			.trimEnd()
			.split('\n')
			.map((line) => JSON.parse(line).changes)
	expect(changesOf(lines.join('\n'))).toEqual(changesOf(kept))
	await writeFile(journal, `${head}\n${kept}`)
	expect(await seenIn(folder)).toEqual(expected)
})

testOnce('default: the files are JSON, a line a record and a line a write', async () => {
	const store = await open()
	for (const step of steps) await step(store)
	await store.close()
	expect(Array.isArray(JSON.parse(await readFile(at('state.json'), 'utf8')).data)).toBe(true)
	const lines = (await readFile(newestSegment(folder), 'utf8')).trimEnd().split('\n')
	expect(lines.slice(1).map((line) => JSON.parse(line).n)).toEqual(steps.map((_, index) => index + 1))
	for (const name of await readdir(folder)) expect((await stat(at(name))).mode & 0o777).toBe(0o600)
})

test('behavior: killed at any byte of a write, that write was never done, and the next continues', async () => {
	const store = await open()
	await steps[0]?.(store)
	const before = (await readFolder(folder))?.whole
	const journal = newestSegment(folder)
	const whole = (await readFile(journal)).length
	await steps[1]?.(store)
	await store.close()
	const after = (await readFolder(folder))?.whole
	expect(after).not.toEqual(before)
	const bytes = await readFile(journal)
	const copy = join(root, 'copy')
	const afresh = async (content: Uint8Array) => {
		await rm(copy, { recursive: true, force: true })
		await cp(folder, copy, { recursive: true })
		await writeFile(join(copy, basename(journal)), content)
	}
	const lengths = Array.from({ length: bytes.length - whole + 1 }, (_, at) => whole + at)
	// The first and the last bytes of the line, and each fifth; in `npm test` each fiftieth.
	const isShort = (at: number) => at % 50 === 0 || at < whole + 5 || at > bytes.length - 5
	const each = lengths.filter((at) => at % 5 === 0 || isShort(at))
	for (const length of divided(each, isShort)) {
		await afresh(bytes.subarray(0, length))
		const expected = length === bytes.length ? after : before
		expect((await readFolder(copy))?.whole).toEqual(expected)
		// A page of zeros is what a power cut may leave.
		if (length % 200 !== 0) continue
		await afresh(Buffer.concat([bytes.subarray(0, length), Buffer.alloc(4_096)]))
		expect((await readFolder(copy))?.whole).toEqual(expected)
		const next = await open(undefined, copy)
		await next.commit(commitOf({ checkpoint: blockOf(9) }))
		await next.close()
		expect((await seenIn(copy)).checkpoint).toEqual(blockOf(9))
	}
})

testOnce('behavior: killed at any moment of a new snapshot, nothing is lost and nothing applied twice', async () => {
	let store = await open()
	for (const step of steps.slice(0, 8)) await step(store)
	const expected = await seen(store)
	await store.close()
	const [first = '', second = '', third = ''] = [1, 2, 3].map((number) => `journal.00000${number}.jsonl`)
	const [state, journal] = [await readFile(at('state.json')), await readFile(at(first))]
	// The same state as a snapshot: a large write that changes nothing else would be one; this one is dropped again.
	store = await open(1)
	await store.post([deliveryOf('z', { lastError: 'x'.repeat(9_000) })])
	const journal2 = await readFile(at(second))
	await store.drop(['z'])
	await store.close()
	const [state2, journal3] = [await readFile(at('state.json')), await readFile(at(third))]
	expect(state2).not.toEqual(state)
	const withZ = { ...(await seenIn(folder)) }
	expect(withZ).toEqual(expected)
	const before = { [first]: journal, [second]: journal2 }
	const empty = Buffer.alloc(0)
	const moments: readonly Record<string, Buffer>[] = [
		{ ...before, 'state.json': state },
		{ ...before, 'state.json': state, [third]: empty, 'state.json.tmp': state2.subarray(0, 200) },
		{ ...before, 'state.json': state, [third]: empty, 'state.json.tmp': state2 },
		{ ...before, 'state.json': state, [third]: empty, 'state.json.prev': state, 'state.json.tmp': state2 },
		// Then the new one counts, with what the journal before held.
		{ ...before, 'state.json': state2, [third]: empty, 'state.json.prev': state },
		{ ...before, 'state.json': state2, [third]: journal3.subarray(0, 9), 'state.json.prev': state },
		{ ...before, 'state.json': state2, [third]: journal3, 'state.json.prev': state },
	]
	for (const [index, files] of moments.entries()) {
		const then = join(root, `moment-${index}`)
		await mkdir(then)
		for (const [name, bytes] of Object.entries(files)) await writeFile(join(then, name), bytes)
		const found = await seenIn(then)
		const { deliveries, ...rest } = found
		expect(rest.checkpoint).toEqual(expected.checkpoint)
		expect(deliveries.filter(({ id }) => id !== 'z')).toEqual(expected.deliveries)
		// And it goes on from there.
		const next = await open(undefined, then)
		await next.commit(commitOf({ checkpoint: blockOf(9) }))
		await next.close()
		expect((await seenIn(then)).checkpoint).toEqual(blockOf(9))
	}
})

testOnce('behavior: a first start that was killed before its snapshot is a first start', async () => {
	await (await open()).close()
	await rm(at('state.json'))
	await writeFile(newestSegment(folder), '')
	const store = await open()
	expect(await store.network('ethereum')).toBeNull()
	await store.close()
})

testInFull('behavior: over many writes and snapshots, cut off at random, it is what was acknowledged', async () => {
	const random = randomOf(5)
	const snapshots = new Set<string>()
	let store = await open(3_000)
	await store.commit(commitOf({ checkpoint: blockOf(0) }))
	for (let block = 1; block < 150; block++) {
		const books = new Map<Address, Book | null>()
		for (let n = 0; n < random() * 20; n++) {
			const book = { block: BigInt(block), balanceWei: BigInt(n), movedWei: 0n }
			books.set(addressOf(Math.floor(random() * 60)), random() < 0.2 ? null : book)
		}
		const [told, sent] = [announcementOf(`t${block % 40}`, block), deliveryOf(`d${block}`)]
		const step = { checkpoint: blockOf(block), forgetTo: BigInt(block - 9), announcements: [told], deliveries: [sent] }
		await Promise.all([
			store.commit(commitOf({ ...step, books })),
			store.resolve([{ id: `d${block - 3}`, result: 'delivered' }]),
			store.drop([`d${block - 2}`].filter(() => random() < 0.1)),
		])
		if (random() < 0.8) continue
		const before = await seen(store)
		await store.close()
		snapshots.add((await readFile(at('state.json'), 'utf8')).slice(0, 60))
		const torn = `{"n":7,"changes":[{"act":"post","atMs":5,"argument":[`
		await appendFile(newestSegment(folder), torn.slice(0, Math.floor(random() * torn.length)))
		store = await open(3_000)
		expect(await seen(store)).toEqual(before)
	}
	await store.close()
	expect(snapshots.size).toBeGreaterThan(5)
})

testOnce('behavior: a poll writes what changed, however much is remembered', async () => {
	const store = await open()
	const announcements = Array.from({ length: 3_000 }, (_, n) => announcementOf(`t${n}`, 10))
	await store.commit(commitOf({ checkpoint: blockOf(1), announcements }))
	const before = (await stat(newestSegment(folder))).size
	await store.commit(commitOf({ checkpoint: blockOf(2), seen: { head: 2 } }))
	const quiet = (await stat(newestSegment(folder))).size
	await store.commit(
		commitOf({ checkpoint: blockOf(3), announcements: [announcementOf('x', 3)], deliveries: [deliveryOf('x')] }),
	)
	const busy = (await stat(newestSegment(folder))).size
	await store.close()
	// 3,000 alerts of one commit went into a snapshot.
	expect((await stat(at('state.json'))).size).toBeGreaterThan(1_000_000)
	expect(quiet - before).toBeLessThan(1_000)
	expect(busy - quiet).toBeLessThan(5_000)
})

testInFull('behavior: others have many turns while a large snapshot is written', async () => {
	const store = await open(1)
	await store.commit(commitOf({ checkpoint: blockOf(1) }))
	const books = new Map(
		Array.from({ length: 45_000 }, (_, n) => [addressOf(n), { block: 1n, balanceWei: 7n, movedWei: 0n }] as const),
	)
	let turns = 0
	let isOver = false
	const written = store.commit(commitOf({ books })).then(() => {
		isOver = true
	})
	while (!isOver) {
		await setImmediate()
		turns++
	}
	await written
	const { size } = await stat(at('state.json'))
	await store.close()
	expect(size).toBeGreaterThan(2_000_000)
	expect(turns).toBeGreaterThan(size / (1 << 20))
})

testOnce('behavior: an enrolment beside a backfill of many addresses does not name them again', async () => {
	const store = await open(1)
	await store.commit(commitOf({ checkpoint: blockOf(1) }))
	const addresses = Array.from({ length: 3_000 }, (_, n) => addressOf(n * 7))
	const covered = new Map(addresses.map((address) => [address, coverageOf(5)]))
	const span = { from: 1n, to: 9n }
	await store.enrol('ethereum', { covered, backfills: [{ id: 'b', span, addresses }] })
	const [state] = [await store.network('ethereum')]
	// Once as covered, once in the backfill.
	expect((await stat(at('state.json'))).size).toBeLessThan(2 * 46 * addresses.length)
	const more = { id: 'c', span: { from: 3n, to: 4n }, addresses: [addressOf(3)] }
	await store.enrol('ethereum', {
		covered: new Map([[addressOf(3), coverageOf(6)]]),
		backfills: [...(state?.backfills ?? []), more],
	})
	expect((await stat(newestSegment(folder))).size).toBeLessThan(2_000)
	const before = (await store.network('ethereum'))?.backfills
	await store.close()
	const after = await open()
	expect((await after.network('ethereum'))?.backfills).toEqual(before)
	await after.close()
})

testOnce('behavior: a journal that is taken away while it runs is begun anew with all that is remembered', async () => {
	const store = await open()
	for (const step of steps.slice(0, 4)) await step(store)
	const seenOnDisk = async () => {
		const copy = join(root, 'copy')
		await rm(copy, { recursive: true, force: true })
		await cp(folder, copy, { recursive: true })
		return await seenIn(copy)
	}
	const spoils = [
		() => rm(newestSegment(folder)),
		() => writeFile(newestSegment(folder), ''),
		() => Promise.all(segmentFiles(folder).map((path) => rm(path))),
	]
	for (const [index, spoil] of spoils.entries()) {
		await spoil()
		await store.post([deliveryOf(`z${index}`)])
		expect(await seenOnDisk()).toEqual(await seen(store))
		await store.post([deliveryOf(`y${index}`)])
		expect(await seenOnDisk()).toEqual(await seen(store))
	}
	await store.close()
})

testOnce('error: a folder that is moved away is asked for back, and no snapshot is reported until then', async () => {
	const warned: string[] = []
	const log = { ...silent, warn: (_: object, words: string) => warned.push(words) }
	const store = await openFileStore(folder, { clock: () => 5, log })
	await store.post([deliveryOf('before')])
	const [away, path] = [join(root, 'away'), join(folder, 'journal.000002.jsonl')]
	await rename(folder, away)
	const message =
		`cannot write ${path}: it does not exist (ENOENT): its folder is gone: put it back, or make it anew; ` +
		'a running daemon then continues'
	for (const id of ['one', 'two']) await expect(store.post([deliveryOf(id)])).rejects.toMatchObject({ message })
	expect(warned).toEqual([])
	await rename(away, folder)
	await store.post([deliveryOf('after')])
	expect(warned).toEqual(['the journal of the state was taken away; a new snapshot takes its place'])
	await rm(folder, { recursive: true })
	await expect(store.post([deliveryOf('three')])).rejects.toMatchObject({ reason: 'disk' })
	await mkdir(folder)
	await store.post([deliveryOf('anew')])
	expect((await seenIn(folder)).deliveries.map(({ id }) => id)).toEqual(['before', 'after', 'anew'])
	await store.close()
})

testOnce('behavior: where no snapshot can be written the journal continues', async () => {
	const warned: string[] = []
	const log = { ...silent, warn: (_: object, words: string) => warned.push(words) }
	const store = await openFileStore(folder, { clock: () => 5, log, leastJournalBytes: 1 })
	await mkdir(at('state.json.tmp'))
	for (const step of steps) await step(store)
	expect(warned).toContain('no new snapshot of the state can be written; its journal grows until one can')
	const before = await seen(store)
	await store.close()
	await rm(at('state.json.tmp'), { recursive: true })
	expect(await seenIn(folder)).toEqual(before)
})

describeOnce('damage', () => {
	const networkRecord = [
		{ network: 'x', facts: { chainId: 1, checkpoint: { number: '1n', hash: 'z' }, backfills: [] } },
	]
	const refused = () =>
		open().then(
			() => 'it opened',
			(error: Error) => error.message,
		)
	const lines = async () => (await readFile(newestSegment(folder), 'utf8')).split('\n')

	beforeEach(async () => {
		const store = await open()
		for (const step of steps.slice(0, 5)) await step(store)
		await store.close()
	})

	test.each([
		[
			'changed',
			(all: string[]) => all.with(2, String(all[2]).replace('0x', '0y')),
			'line 3 does not match its checksum',
		],
		['gone', (all: string[]) => all.toSpliced(2, 1), 'line 3 is not the one that was written there'],
		['twice', (all: string[]) => all.toSpliced(2, 0, String(all[2])), 'line 4 is not the one that was written there'],
		['cut off', (all: string[]) => all.with(2, String(all[2]).slice(0, 40)), 'line 3 does not match its checksum'],
	])(
		'error: a line in the middle that is %s: reported in words, and what is before it can be kept',
		async (_, spoil, words) => {
			const journal = newestSegment(folder)
			await writeFile(journal, spoil(await lines()).join('\n'))
			const message = await refused()
			expect(message).toContain(`${journal} is damaged: ${words}. Nothing was changed.`)
			await expect(peek({ kind: 'folder', dir: folder })).rejects.toMatchObject({ reason: 'damaged' })
			const [command = ''] = /sed -i '\d+,\$d' .*(?= \(blocks)/.exec(message) ?? []
			await shell('sh', ['-c', command])
			expect((await seenIn(folder)).checkpoint).toEqual(blockOf(1))
		},
	)

	test.each([
		['missing', (path: string) => rm(path), /it is missing, though there was one/],
		['emptied', (path: string) => writeFile(path, ''), /it continues write 5, and write 0 is the last/],
		['another file', (path: string) => writeFile(path, 'x\ny\n'), /it does not begin as a journal of tracewatch does/],
	])('error: a segment that is %s: reported in words, and one can continue without it', async (_, spoil, words) => {
		const store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(8) }))
		await store.close()
		await spoil(segmentFiles(folder)[0] ?? '')
		const message = await refused()
		expect(message).toMatch(words)
		expect(message).toContain('is damaged')
		const [command = ''] = /(?:sed|: >) .*(?= \(blocks)/.exec(message) ?? []
		await shell('sh', ['-c', command])
		const after = await open()
		expect(await after.network('ethereum')).toBeNull()
		await after.close()
	})

	test.each([
		['no list', {}],
		['a record of no known kind', [{ foo: 1 }]],
		['a delivery that is none', [{ line: 0, since: 1 }, { deliveries: [{ id: 'a' }] }]],
		['a delivery without its alert', [{ line: 0, since: 1 }, { deliveries: [{ ...deliveryOf('a'), message: {} }] }]],
		['deliveries that are no list', [{ line: 0, since: 1 }, { deliveries: 7 }]],
		[
			'a block that is no number',
			[
				{ line: 0, since: 1 },
				{ network: 'x', facts: { chainId: 1, checkpoint: { number: 'y', hash: 'z' } } },
			],
		],
		['places that are not covered', [{ line: 0, since: 1 }, ...networkRecord, { backfill: 0, places: [[0, 9]] }]],
	])('error: a state with a right checksum and wrong content: %s', async (_, data) => {
		const lined = Array.isArray(data) ? `[\n${data.map((one) => JSON.stringify(one)).join(',\n')}\n]` : null
		await writeFile(at('state.json'), fileOf(data, undefined, lined ?? undefined))
		// The journal of a young state would restore it.
		for (const path of segmentFiles(folder)) await rm(path)
		expect(await refused()).toContain('its content cannot be understood')
		await expect(peek({ kind: 'folder', dir: folder })).rejects.toMatchObject({ reason: 'damaged' })
	})
})
