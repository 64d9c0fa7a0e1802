/** Two processes on one folder, of which neither sees that the other lives, as on a folder that two machines share. */

import { copyFile, open as openFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import type { StateError } from '../../../src/errors.js'
import type { Store } from '../../../src/model/ports.js'
import { folderJournal } from '../../../src/state/file/folderJournal.js'
import { createSegment, segmentPath } from '../../../src/state/file/segments.js'
import { openStoreOn } from '../../../src/state/store.js'
import { openFileStore } from '../../support/fileStore.js'
import { testInFull, testOnce } from '../../support/longRun.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf } from '../samples.js'
import { makeFolder, removeFolder, segmentFiles } from './folder.js'

let root: string
let folder: string
const lost: string[] = []

/** `least`: 1 makes a snapshot whenever the journal is larger than the last one. */
const open = (name: string, least?: number): Promise<Store> =>
	openFileStore(folder, {
		clock: () => 0,
		onLost: ({ message }: StateError) => lost.push(`${name}: ${message}`),
		...(least && { leastJournalBytes: least }),
	})
const commit = (store: Store, block: number, more = '') =>
	store.commit(
		commitOf({
			checkpoint: blockOf(block),
			deliveries: [deliveryOf(`d${block}${more}`, { lastError: 'x'.repeat(999) })],
		}),
	)
const seen = async (store: Store) => [
	(await store.network('ethereum'))?.checkpoint,
	(await store.deliveries()).map(({ id }) => id),
]
const replaced = { reason: 'lost', message: expect.stringMatching(/^another process has taken the state folder/) }

beforeEach(async () => {
	root = await makeFolder()
	folder = join(root, 'state')
	lost.length = 0
})
afterEach(() => {
	vi.restoreAllMocks()
	return removeFolder(root)
})

testOnce(
	'behavior: a second process has all that the first acknowledged, which then acknowledges no more',
	async () => {
		const first = await open('first')
		for (const block of [1, 2, 3]) await commit(first, block)
		const second = await open('second')
		expect(await seen(second)).toEqual([blockOf(3), ['d1', 'd2', 'd3']])
		await expect(commit(first, 4, 'late')).rejects.toMatchObject(replaced)
		await commit(second, 4)
		await expect(first.post([deliveryOf('later')])).rejects.toMatchObject(replaced)
		await expect(first.drop(['d1'])).rejects.toMatchObject(replaced)
		expect(lost).toEqual([expect.stringMatching(/^first: another process/)])
		// Nor does what it wrote before it knew come back.
		const third = await open('third')
		expect(await seen(third)).toEqual([blockOf(4), ['d1', 'd2', 'd3', 'd4']])
		await expect(commit(second, 5)).rejects.toMatchObject(replaced)
		for (const store of [first, second, third]) await store.close()
	},
)

testOnce('behavior: a process that sleeps through two snapshots of the second acknowledges nothing', async () => {
	const first = await open('first')
	await commit(first, 1)
	const own = segmentFiles(folder)
	const second = await open('second', 1)
	for (let block = 2; block < 30; block++) await commit(second, block)
	expect(segmentFiles(folder).filter((path) => own.includes(path))).toEqual([])
	await expect(commit(first, 2, 'late')).rejects.toMatchObject(replaced)
	const before = await seen(second)
	const third = await open('third')
	expect(await seen(third)).toEqual(before)
	for (const store of [first, second, third]) await store.close()
})

testOnce('behavior: a process that is to write a snapshot when the second has come writes none', async () => {
	const first = await open('first')
	await commit(first, 1)
	const second = await open('second')
	await commit(second, 2)
	const covered = new Map(Array.from({ length: 20_001 }, (_, n) => [addressOf(n), coverageOf(2)] as const))
	await expect(first.enrol('ethereum', { covered, backfills: [] })).rejects.toMatchObject(replaced)
	const third = await open('third')
	expect(await seen(third)).toEqual([blockOf(2), ['d1', 'd2']])
	expect((await third.network('ethereum'))?.covered.size).toBe(0)
	for (const store of [first, second, third]) await store.close()
})

testOnce('behavior: a snapshot that comes late, over that of the second, loses nothing', async () => {
	const first = await open('first', 1)
	for (let block = 1; block < 10; block++) await commit(first, block)
	await copyFile(join(folder, 'state.json'), join(root, 'late'))
	const before = segmentFiles(folder)
	const second = await open('second', 8_000)
	let block = 10
	while (segmentFiles(folder).some((path) => before.includes(path) && path === before[0])) await commit(second, block++)
	await commit(second, block)
	const expected = await seen(second)
	await copyFile(join(root, 'late'), join(folder, 'state.json'))
	const third = await open('third')
	expect(await seen(third)).toEqual(expected)
	for (const store of [first, second, third]) await store.close()
})

testOnce('behavior: a process that sleeps before it loads leaves what the second wrote meanwhile', async () => {
	await (await open('before')).close()
	let second: Store | undefined
	const slow = async () => {
		await createSegment(folder, 2)
		second = await open('second')
		await commit(second, 1)
		return { segment: 2, release: async () => undefined }
	}
	const first = openStoreOn(folderJournal(folder, undefined, slow), { clock: () => 0 })
	await expect(first).rejects.toMatchObject(replaced)
	const third = await open('third')
	expect(await seen(third)).toEqual([blockOf(1), ['d1']])
	for (const store of [second, third]) await store?.close()
})

testOnce('behavior: a late snapshot with a change of its own, over that of the second, loses nothing', async () => {
	const state = join(folder, 'state.json')
	const first = await open('first')
	await commit(first, 1)
	const before = await readFile(state)
	const covered = new Map(Array.from({ length: 20_001 }, (_, n) => [addressOf(n), coverageOf(2)] as const))
	await first.enrol('ethereum', { covered, backfills: [] })
	const [late, head] = [await readFile(state), await readFile(segmentPath(folder, 2))]
	// As it was when it had made the segment and not written the snapshot.
	await writeFile(state, before)
	await writeFile(segmentPath(folder, 2), '')
	const second = await open('second')
	await commit(second, 2)
	await writeFile(state, late)
	await writeFile(`${state}.prev`, before)
	await writeFile(segmentPath(folder, 2), head)
	const third = await open('third')
	expect(await seen(third)).toEqual([blockOf(2), ['d1', 'd2']])
	for (const store of [first, second, third]) await store.close()
})

testOnce('error: a segment that cannot be synced does not pass for that of another process', async () => {
	const first = await open('first')
	await commit(first, 1)
	const file = await openFile(root)
	const sync = vi.spyOn(Object.getPrototypeOf(file), 'sync')
	await file.close()
	sync.mockRejectedValueOnce(Object.assign(new Error('i/o error'), { code: 'EIO' }))
	const covered = new Map(Array.from({ length: 20_001 }, (_, n) => [addressOf(n), coverageOf(2)] as const))
	const enrol = () => first.enrol('ethereum', { covered, backfills: [] })
	await expect(enrol()).rejects.toMatchObject({ reason: 'disk' })
	await commit(first, 2)
	await enrol()
	expect(lost).toEqual([])
	await first.close()
})

testInFull(
	'behavior: a process that takes the folder each minute leaves no more than some fifty segments',
	async () => {
		const store = await open('first')
		await commit(store, 1)
		await store.close()
		for (let run = 0; run < 130; run++) await (await open(`run ${run}`)).close()
		expect(segmentFiles(folder).length).toBeLessThan(110)
		const last = await open('last')
		expect(await seen(last)).toEqual([blockOf(1), ['d1']])
		await last.close()
	},
)
