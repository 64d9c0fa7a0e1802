import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { appendFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { revisionNow, revisionOf } from '../../../src/config/watchlists/revision.js'
import { watchFiles } from '../../../src/config/watchlists/watchFiles.js'
import { watchlistPaths } from '../../../src/config/watchlists/watchlists.js'
import { temporaryFolder } from '../../support/folder.js'
import { START_MS } from '../../support/standingClock.js'

const intervalMs = 400
const settleMs = 500
/** Between two pieces of a slow write. */
const pieceMs = 300

let folder: string
let file: string
let changes: number
let stop: AbortController
let watching: Promise<void>

/** The clock is the test's own: it moves while the watcher sleeps. */
let nowMs: number
let sleeper: { readonly untilMs: number; readonly wake: () => void } | null

/** Resolves once the watcher has done what it had to do by now. */
async function asleep(): Promise<NonNullable<typeof sleeper>> {
	while (sleeper === null) await turn()
	return sleeper
}

async function pass(ms: number): Promise<void> {
	const untilMs = nowMs + ms
	for (let next = await asleep(); next.untilMs <= untilMs; next = await asleep()) {
		nowMs = next.untilMs
		sleeper = null
		next.wake()
	}
	nowMs = untilMs
}

/** Starts watching and waits until the first look has been taken. */
async function watch(paths: () => readonly string[], revision?: () => string): Promise<void> {
	let known = (await revisionNow(paths(), stop.signal)) ?? ''
	watching = watchFiles({
		paths,
		onChange: (read) => {
			changes += 1
			known = read
		},
		revision: revision ?? (() => known),
		intervalMs,
		settleMs,
		sleep: (ms, signal) =>
			new Promise((resolve) => {
				const wake = () => {
					signal.removeEventListener('abort', wake)
					resolve()
				}
				sleeper = { untilMs: nowMs + ms, wake }
				signal.addEventListener('abort', wake, { once: true })
			}),
		signal: stop.signal,
	})
	await asleep()
	await newStamp()
}

/** Until a write gets another time than the last: the clock of a file system moves by milliseconds. */
async function newStamp(): Promise<void> {
	const probe = join(temporaryFolder(), 'probe')
	writeFileSync(probe, '')
	const stamp = () => statSync(probe, { bigint: true }).mtimeNs
	for (const began = stamp(); stamp() === began; await turn()) writeFileSync(probe, 'again')
}

/** Long enough for whatever is still to be told. */
const stillness = () => pass(4 * intervalMs)

/** Until so many changes are told in all; most of them are told after two looks and a rest. */
async function told(count: number): Promise<void> {
	for (let looks = 0; changes < count && looks < 20; looks++) await pass(settleMs)
	expect(changes).toBe(count)
	await newStamp()
}

/** Of the one file, with this content. */
const revision = (content: string) =>
	revisionOf([{ path: file, digest: createHash('sha256').update(content).digest('hex') }])

beforeEach(() => {
	nowMs = 0
	sleeper = null
	folder = temporaryFolder()
	file = join(folder, 'a.yaml')
	writeFileSync(file, 'old: content\n')
	changes = 0
	stop = new AbortController()
})

afterEach(async () => {
	stop.abort()
	await watching
	rmSync(folder, { recursive: true })
})

describe('watchFiles', () => {
	const folderPaths = () => watchlistPaths({ folder, named: { file: 'tracewatch.yaml', line: 1, column: 1 } })

	const waysToSave: Readonly<Record<string, () => void | Promise<void>>> = {
		'in place': () => writeFileSync(file, 'new: content\n'),
		'in place, of the same length': () => writeFileSync(file, 'odd: content\n'),
		'by renaming another file over it': () => {
			writeFileSync(join(folder, '.a.yaml.swp'), 'new: content\n')
			renameSync(join(folder, '.a.yaml.swp'), file)
		},
		'by removing and creating': () => {
			unlinkSync(file)
			writeFileSync(file, 'new: content\n')
		},
		'by moving it away and writing anew': () => {
			renameSync(file, `${file}~`)
			writeFileSync(file, 'new: content\n')
		},
		'by truncating and writing slowly': async () => {
			const handle = await open(file, 'w')
			for (const piece of ['new', ': ', 'con', 'tent', '\n']) {
				await handle.write(piece)
				await pass(pieceMs)
			}
			await handle.close()
		},
	}

	test.each(Object.entries(waysToSave))('sees a file saved %s, once', async (_way, save) => {
		await watch(() => [file])
		await save()
		await told(1)
		await stillness()
		expect(changes).toBe(1)
	})

	test.each(Object.entries(waysToSave))('sees the second save too: %s', async (_way, save) => {
		await watch(folderPaths)
		writeFileSync(file, 'first: edit\n')
		await told(1)
		await save()
		await told(2)
	})

	test('sees a symlink swapped as Kubernetes does it', async () => {
		for (const [version, content] of [
			['v1', 'old: content\n'],
			['v2', 'new: content\n'],
		] as const) {
			mkdirSync(join(folder, version))
			writeFileSync(join(folder, version, 'a.yaml'), content)
		}
		rmSync(file)
		symlinkSync('v1', join(folder, '..data'))
		symlinkSync(join('..data', 'a.yaml'), file)
		await watch(folderPaths)
		symlinkSync('v2', join(folder, '..data_tmp'))
		renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
		await told(1)
	})

	test('sees files appear and disappear in the folder', async () => {
		await watch(folderPaths)
		writeFileSync(join(folder, 'b.yml'), 'more: content\n')
		await told(1)
		rmSync(file)
		await told(2)
	})

	test('sees the folder go and come back', async () => {
		await watch(folderPaths)
		rmSync(folder, { recursive: true })
		await told(1)
		mkdirSync(folder)
		writeFileSync(file, 'new: content\n')
		await told(2)
	})

	test('behavior: a write that continues is waited for', async () => {
		await watch(() => [file])
		for (let line = 0; line < 20; line++) {
			await appendFile(file, `line: ${line}\n`)
			await pass(pieceMs)
			expect(changes).toBe(0)
		}
		await told(1)
	})

	test('behavior: touched, or written with the same content, is no change', async () => {
		await watch(() => [file])
		utimesSync(file, new Date(), new Date(START_MS + 5_000))
		await stillness()
		writeFileSync(file, 'old: content\n')
		await stillness()
		expect(changes).toBe(0)
		writeFileSync(file, 'new: content\n')
		await told(1)
	})

	test('behavior: an edit between reading and watching is seen by the revision read', async () => {
		await watch(
			() => [file],
			() => 'revision of what was read before',
		)
		await told(1)
		await stillness()
		expect(changes).toBe(1)
	})

	test('behavior: a change that is undone while the caller reads it is reported again', async () => {
		let read = await revision('old: content\n')
		await watch(
			() => [file],
			() => read,
		)
		writeFileSync(file, 'other: content\n')
		await told(1)
		// The caller has read the other content by now, but has not yet ended; meanwhile it is taken back.
		writeFileSync(file, 'old: content\n')
		await stillness()
		expect(changes).toBe(1)
		read = await revision('other: content\n')
		await told(2)
	})

	test('behavior: a file already read is no change; a refused file is reported once it is corrected', async () => {
		let read = await revision('old: content\n')
		await watch(
			() => [file],
			() => read,
		)
		read = await revision('wrong: content\n')
		writeFileSync(file, 'wrong: content\n')
		await stillness()
		expect(changes).toBe(0)
		writeFileSync(file, 'old: content\n')
		await told(1)
	})

	test('behavior: a signal ends it at once', async () => {
		await watch(() => [file])
		stop.abort()
		await watching
		writeFileSync(file, 'new: content\n')
		expect(changes).toBe(0)
	})
})
