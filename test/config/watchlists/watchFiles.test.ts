import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { appendFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { revisionOf } from '../../../src/config/watchlists/revision.js'
import { watchFiles } from '../../../src/config/watchlists/watchFiles.js'
import { watchlistPaths } from '../../../src/config/watchlists/watchlists.js'
import { temporaryFolder } from '../../support/folder.js'

const intervalMs = 20
const pieceMs = 20
/** Long against the pauses between the pieces of a slow write, so that a busy machine does not tear them apart. */
const slowSettleMs = 1_500

let settleMs: number

let folder: string
let file: string
let changes: number
let changed: () => void
let stop: AbortController
let watching: Promise<void>

let looks: number

/** Starts watching and waits until the first look has been taken. */
async function watch(paths: () => readonly string[], revision?: () => string): Promise<void> {
	looks = 0
	let looked: () => void = () => {}
	const ready = new Promise<void>((resolve) => {
		looked = resolve
	})
	watching = watchFiles({
		paths: () => {
			looks += 1
			// Two asks make up the first look; the third begins the second.
			if (looks > 2) looked()
			return paths()
		},
		onChange: () => {
			changes += 1
			changed()
		},
		...(revision === undefined ? {} : { revision }),
		intervalMs,
		settleMs,
		signal: stop.signal,
	})
	await ready
}

/** Long enough, by the clock and by its looks, for whatever is still to be told. */
async function stillness(): Promise<void> {
	await pause(2 * settleMs)
	for (const enough = looks + 4; looks < enough; ) await pause(intervalMs)
}

const nextChange = () =>
	new Promise<void>((resolve) => {
		changed = resolve
	})

/** Of the one file, with this content. */
const revision = (content: string) =>
	revisionOf([{ path: file, digest: createHash('sha256').update(content).digest('hex') }])

beforeEach(() => {
	settleMs = 60
	folder = temporaryFolder()
	file = join(folder, 'a.yaml')
	writeFileSync(file, 'old: content\n')
	changes = 0
	changed = () => {}
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
				await pause(pieceMs)
			}
			await handle.close()
		},
	}

	test.each(Object.entries(waysToSave))('sees a file saved %s, once', async (way, save) => {
		if (way.includes('slowly')) settleMs = slowSettleMs
		await watch(() => [file])
		const change = nextChange()
		await save()
		await change
		await stillness()
		expect(changes).toBe(1)
	})

	test.each(Object.entries(waysToSave))('sees the second save too: %s', async (way, save) => {
		if (way.includes('slowly')) settleMs = slowSettleMs
		await watch(folderPaths)
		const first = nextChange()
		writeFileSync(file, 'first: edit\n')
		await first
		const second = nextChange()
		await save()
		await second
		expect(changes).toBe(2)
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
		const change = nextChange()
		symlinkSync('v2', join(folder, '..data_tmp'))
		renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
		await change
		expect(changes).toBe(1)
	})

	test('sees files appear and disappear in the folder', async () => {
		await watch(folderPaths)
		const appeared = nextChange()
		writeFileSync(join(folder, 'b.yml'), 'more: content\n')
		await appeared
		const disappeared = nextChange()
		rmSync(file)
		await disappeared
		expect(changes).toBe(2)
	})

	test('sees the folder go and come back', async () => {
		await watch(folderPaths)
		const gone = nextChange()
		rmSync(folder, { recursive: true })
		await gone
		const back = nextChange()
		mkdirSync(folder)
		writeFileSync(file, 'new: content\n')
		await back
		expect(changes).toBe(2)
	})

	test('behavior: a write that continues is waited for', async () => {
		settleMs = slowSettleMs
		await watch(() => [file])
		const change = nextChange()
		for (let line = 0; line < 20; line++) {
			await appendFile(file, `line: ${line}\n`)
			await pause(pieceMs)
			expect(changes).toBe(0)
		}
		await change
		expect(changes).toBe(1)
	})

	test('behavior: touched, or written with the same content, is no change', async () => {
		await watch(() => [file])
		utimesSync(file, new Date(), new Date(Date.now() + 5_000))
		await stillness()
		writeFileSync(file, 'old: content\n')
		await stillness()
		expect(changes).toBe(0)
		const change = nextChange()
		writeFileSync(file, 'new: content\n')
		await change
		expect(changes).toBe(1)
	})

	test('behavior: an edit between reading and watching is seen by the revision read', async () => {
		const change = nextChange()
		await watch(
			() => [file],
			() => 'revision of what was read before',
		)
		await change
		await stillness()
		expect(changes).toBe(1)
	})

	test('behavior: a change that is undone while the caller reads it is reported again', async () => {
		let read = await revision('old: content\n')
		await watch(
			() => [file],
			() => read,
		)
		const change = nextChange()
		writeFileSync(file, 'other: content\n')
		await change
		// The caller has read the other content by now, but has not yet ended; meanwhile it is taken back.
		writeFileSync(file, 'old: content\n')
		await stillness()
		expect(changes).toBe(1)
		const again = nextChange()
		read = await revision('other: content\n')
		await again
		expect(changes).toBe(2)
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
		const change = nextChange()
		writeFileSync(file, 'old: content\n')
		await change
		expect(changes).toBe(1)
	})

	test('behavior: a signal ends it at once', async () => {
		await watch(() => [file])
		stop.abort()
		await watching
		writeFileSync(file, 'new: content\n')
		await pause(2 * settleMs)
		expect(changes).toBe(0)
	})
})
