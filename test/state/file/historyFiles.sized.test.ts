// The files of the history: what a kill, a full disk or a clock can do to them.

import { appendFileSync, rmSync } from 'node:fs'
import {
	appendFile,
	copyFile,
	cp,
	mkdir,
	readdir,
	readFile,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, vi } from 'vitest'
import type { HistoryEntry, HistoryRow } from '../../../src/model/history.js'
import type { Store } from '../../../src/model/ports.js'
import { MOST_WAITING_ROWS, openHistoryFiles } from '../../../src/state/file/historyFiles.js'
import { peek } from '../../../src/state/open.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { testInFull, testOnce } from '../../support/longRun.js'
import { deliveryOf } from '../samples.js'
import { newestSegment, segmentFiles } from './folder.js'
import { mountMemory } from './mounts.js'

const dayMs = 86_400_000
const historyMs = 90 * dayMs
let folder: string
let nowMs: number
const clock = () => nowMs
const open = (at = folder) => openFileStore(at, { clock, historyMs })
const day = (ms: number) => `${new Date(ms).toISOString().slice(0, 10)}.jsonl`
const fileOf = (ms: number, at = folder) => join(at, 'history', day(ms))

beforeEach(() => {
	folder = join(temporaryFolder(), 'state')
	nowMs = Date.parse('2026-11-21T12:00:00Z')
})

async function tell(store: Store, ...ids: string[]): Promise<void> {
	await store.post(ids.map((id) => deliveryOf(id)))
	await store.resolve(ids.map((id) => ({ id, result: 'delivered' })))
}

async function entries(at = folder): Promise<readonly HistoryEntry[]> {
	const found: HistoryEntry[] = []
	for await (const { entry } of openHistoryFiles(at).read({}, null)) if (entry !== null) found.push(entry)
	return found.toReversed()
}

const ids = async (at = folder) => (await entries(at)).map((entry) => ('hole' in entry ? 'hole' : entry.id))

async function told(...names: string[]): Promise<void> {
	const store = await open()
	await tell(store, ...names)
	await store.close()
}

describe('files of history', () => {
	testOnce('default: a file a day, for this user only', async () => {
		await told('a')
		nowMs += dayMs
		await told('b')
		expect(await readdir(join(folder, 'history'))).toEqual([day(nowMs - dayMs), day(nowMs)])
		expect((await stat(fileOf(nowMs))).mode & 0o777).toBe(0o600)
		expect((await stat(join(folder, 'history'))).mode & 0o777).toBe(0o700)
		expect(await ids()).toEqual(['a', 'b'])
	})

	testOnce('error: the path of a file that cannot be read is named', async () => {
		// A folder can be opened, and no byte of it can be read.
		await mkdir(fileOf(nowMs), { recursive: true })
		await expect(ids()).rejects.toThrow(fileOf(nowMs))
	})

	testOnce('error: a day that cannot be deleted holds up no row', async () => {
		await mkdir(fileOf(nowMs - historyMs - 2 * dayMs), { recursive: true })
		await told('a')
		expect(await readFile(fileOf(nowMs), 'utf8')).toContain('"id":"a"')
	})

	testOnce('behavior: rows come from the state once more after a kill, and never twice', async () => {
		await told('a', 'b')
		const file = fileOf(nowMs)
		// As the disk was in between: the journal brings them, and the file has both, or half of it, or not at all.
		expect((await peek({ kind: 'folder', dir: folder }))?.rows).toEqual([])
		const whole = await readFile(file)
		for (const bytes of [whole.length, whole.length - 1, whole.indexOf(0x0a) + 1, whole.indexOf(0x0a), 7, 0]) {
			await copyFile(file, `${file}.kept`)
			await truncate(file, bytes)
			const store = await open()
			await store.close()
			expect(await readFile(file)).toEqual(whole)
			await rm(`${file}.kept`)
		}
		await rm(file)
		expect((await peek({ kind: 'folder', dir: folder }))?.rows?.map(({ seq }) => seq)).toEqual([1, 2])
		await (await open()).close()
		expect(await readFile(file)).toEqual(whole)
		await told('c')
		expect(await ids()).toEqual(['a', 'b', 'c'])
	})

	testOnce('behavior: a state put back from a copy continues with new numbers', async () => {
		await told('a')
		await cp(folder, `${folder}.copy`, { recursive: true })
		await told('b', 'c')
		for (const path of [...segmentFiles(folder), join(folder, 'state.json')]) await rm(path)
		for (const path of [...segmentFiles(`${folder}.copy`), join(`${folder}.copy`, 'state.json')])
			await cp(path, join(folder, basename(path)))
		await told('d')
		expect(await ids()).toEqual(['a', 'b', 'c', 'd'])
		const numbers = (await entries()).map(({ seq }) => seq)
		expect(new Set(numbers).size).toBe(4)
	})

	testOnce('behavior: a clock that is set back keeps the order', async () => {
		await told('a')
		nowMs -= 3 * dayMs
		await told('b')
		nowMs += 4 * dayMs
		await told('c')
		expect(await ids()).toEqual(['a', 'b', 'c'])
	})

	testOnce('behavior: a clock that was far in the future keeps no later row for longer than the others', async () => {
		const now = nowMs
		nowMs = Date.parse('2035-01-01T12:00:00Z')
		await told('a')
		nowMs += dayMs
		await told('b')
		nowMs = now
		await told('c')
		expect(await readdir(join(folder, 'history'))).toEqual([day(now - dayMs), day(now)])
		nowMs += dayMs
		await told('d')
		expect(await readdir(join(folder, 'history'))).toEqual([day(now - dayMs), day(now), day(nowMs)])
		expect(await ids()).toEqual(['a', 'b', 'c', 'd'])
		nowMs += historyMs + 2 * dayMs
		await told('e')
		expect(await ids()).toEqual(['e'])
	})

	testOnce('behavior: a clock that is far back forgets no day', async () => {
		const now = nowMs
		// As machines without a battery begin.
		for (const [back, wrongMs] of [Date.parse('2024-06-12T00:00:00Z'), 0, Date.parse('2026-07-01')].entries()) {
			await told(`a${back}`)
			nowMs = wrongMs
			await told(`b${back}`)
			nowMs = now + back * dayMs
		}
		await told('c')
		expect(await ids()).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'c'])
	})

	testOnce('behavior: a day that ends while nothing is sent is forgotten, too', async () => {
		vi.useFakeTimers({ toFake: ['setInterval'] })
		onTestFinished(() => void vi.useRealTimers())
		const store = await open()
		onTestFinished(() => store.close())
		await tell(store, 'a')
		await expect.poll(() => ids()).toEqual(['a'])
		nowMs += historyMs + 2 * dayMs
		// The writer may still be at work on the row.
		const nextIds = async () => {
			vi.advanceTimersByTime(60_000)
			return await ids()
		}
		await expect.poll(nextIds).toEqual([])
	})

	testOnce('behavior: a snapshot holds the rows that are not written yet, and no others', async () => {
		await mkdir(folder, { recursive: true })
		await writeFile(join(folder, 'history'), 'no folder')
		const store = await openFileStore(folder, { clock, historyMs, leastJournalBytes: 1 })
		await tell(store, 'a')
		const long = deliveryOf('long', { lastError: 'x'.repeat(9_000) })
		await store.post([long])
		await store.close()
		expect((await readFile(newestSegment(folder), 'utf8')).split('\n')).toHaveLength(2)
		await rm(join(folder, 'history'))
		await (await open()).close()
		expect(await ids()).toEqual(['a'])
		const again = await openFileStore(folder, { clock, historyMs, leastJournalBytes: 1 })
		await again.drop(['long'])
		await again.post([{ ...long, lastError: 'x'.repeat(30_000) }])
		await again.close()
		expect(await readFile(join(folder, 'state.json'), 'utf8')).not.toContain('"seq":1,')
		expect(await ids()).toEqual(['a', 'long'])
	})

	testOnce('error: a line that cannot be read is a hole, and the rest is read', async () => {
		await told('a')
		await appendFile(fileOf(nowMs), 'rubbish\n')
		await told('b')
		expect(await ids()).toEqual(['a', 'hole', 'b'])
	})

	testOnce('error: days that are over are forgotten although no row can be written, as on a full disk', async () => {
		await told('a')
		const old = fileOf(nowMs)
		nowMs += 100 * dayMs
		await mkdir(fileOf(nowMs), { recursive: true })
		const store = await open()
		await tell(store, 'b')
		await store.close()
		await expect(stat(old)).rejects.toMatchObject({ code: 'ENOENT' })
		await rm(fileOf(nowMs), { recursive: true })
		await (await open()).close()
		expect(await ids()).toEqual(['b'])
	})

	testOnce('error: a link in its place is not followed, and no delivery waits for it', async () => {
		const elsewhere = join(temporaryFolder(), 'victim')
		await writeFile(elsewhere, 'mine\n')
		await mkdir(join(folder, 'history'), { recursive: true })
		await symlink(elsewhere, fileOf(nowMs))
		const store = await open()
		await tell(store, 'a')
		expect(await store.deliveries()).toEqual([])
		await store.close()
		expect(await readFile(elsewhere, 'utf8')).toBe('mine\n')
		await rm(fileOf(nowMs))
		await (await open()).close()
		expect(await ids()).toEqual(['a'])
	})

	testInFull('error: history rows that wait for too long become a hole that says how many are missing', async () => {
		await mkdir(folder, { recursive: true })
		await writeFile(join(folder, 'history'), 'no folder')
		const store = await open()
		const many = Array.from({ length: MOST_WAITING_ROWS + 5 }, (_, index) => `d${index}`)
		await tell(store, ...many)
		// Until here the journal brings all of them; so many deliveries are a new snapshot.
		await store.post(Array.from({ length: 2_001 }, (_, index) => deliveryOf(`w${index}`)))
		await store.close()
		await rm(join(folder, 'history'))
		await (await open()).close()
		const [hole, ...rest] = await entries()
		expect(hole).toMatchObject({ hole: { rows: MOST_WAITING_ROWS / 2, fromMs: nowMs } })
		expect(rest.map((entry) => (entry as HistoryRow).id)).toEqual(many.slice(MOST_WAITING_ROWS / 2))
	})

	testOnce('error: on a full disk deliveries go out while the state can be written, and history follows', async () => {
		const mount = await mountMemory(temporaryFolder(), 4 << 20)
		if (mount === null) return
		onTestFinished(() => mount.unmount())
		const at = join(mount.folder, 'state')
		const store = await open(at)
		await tell(store, 'a')
		await expect.poll(() => ids(at)).toEqual(['a'])
		const ballast = join(mount.folder, 'ballast')
		// Room for the state, and less than what the history leaves to it.
		appendFileSync(ballast, Buffer.alloc((4 << 20) - (4 << 20) * 0.04))
		await tell(store, 'b', 'c')
		await pause(400)
		expect(await store.deliveries()).toEqual([])
		expect(await ids(at)).toEqual(['a'])
		rmSync(ballast)
		await store.close()
		expect(await ids(at)).toEqual(['a', 'b', 'c'])
	})
})
