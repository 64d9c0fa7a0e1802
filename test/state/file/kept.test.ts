// What is kept of the watchlists: added to, never written whole again, and believed only as it was written.
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { KeptLists } from '../../../src/model/state.js'
import { readKept, writeKept } from '../../../src/state/file/kept.js'
import { temporaryFolder } from '../../support/folder.js'
import { fileOf } from './folder.js'

const pieceOf = (at: number, word = 'as it was') => JSON.stringify({ at, word, filling: 'x'.repeat(100_000) })
const listsOf = (pieces: readonly string[], key = pieces.join().length.toString()): KeptLists => ({
	key: `${key} ${pieces.join().slice(0, 50)}`,
	pieces: () => pieces,
})
const range = (count: number) => Array.from({ length: count }, (_, at) => pieceOf(at))

async function contentOf(folder: string): Promise<readonly unknown[]> {
	const pieces: unknown[] = []
	for await (const piece of (await readKept(folder)) ?? []) pieces.push(piece)
	return pieces
}

/** Names of the files with pieces. */
const dataIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.data'))

function dataBytes(folder: string): number {
	const [name = ''] = dataIn(folder)
	return statSync(join(folder, name)).size
}

test('default: what was kept comes back; of an edit only its piece is written, and of the same nothing', async () => {
	const folder = temporaryFolder()
	expect(await readKept(folder)).toBeNull()
	const first = range(20)
	await writeKept(folder, listsOf(first, 'a'))
	expect(await contentOf(folder)).toEqual(first.map((piece) => JSON.parse(piece)))
	const before = dataBytes(folder)

	const edited = first.with(7, pieceOf(7, 'edited')).toSpliced(12, 1)
	await writeKept(folder, listsOf(edited, 'b'))
	expect(await contentOf(folder)).toEqual(edited.map((piece) => JSON.parse(piece)))
	expect(dataBytes(folder) - before).toBe(Buffer.byteLength(edited[7] ?? ''))

	const at = statSync(join(folder, 'watchlists.json')).mtimeMs
	await writeKept(folder, { ...listsOf(edited, 'b'), pieces: () => expect.unreachable('nothing is to be made') })
	expect(statSync(join(folder, 'watchlists.json')).mtimeMs).toBe(at)
})

test('behavior: after many edits the file is made anew, and never holds much more than what counts', async () => {
	const folder = temporaryFolder()
	let pieces = range(5)
	for (let edit = 0; edit < 100; edit++) {
		pieces = pieces.with(edit % 5, pieceOf(edit % 5, `edit ${edit}`))
		await writeKept(folder, listsOf(pieces, String(edit)))
		expect(dataIn(folder)).toHaveLength(1)
	}
	expect(dataBytes(folder)).toBeLessThan(2 * 500_000 + 5_000_000)
	expect(await contentOf(folder)).toEqual(pieces.map((piece) => JSON.parse(piece)))
})

test('behavior: a write that was cut short changes nothing, and the next one goes on behind what counts', async () => {
	const folder = temporaryFolder()
	const first = range(3)
	await writeKept(folder, listsOf(first, 'a'))
	const failing: KeptLists = {
		key: 'b',
		*pieces() {
			yield pieceOf(0, 'new')
			throw new Error('the power is cut')
		},
	}
	await expect(writeKept(folder, failing)).rejects.toThrow('the power is cut')
	expect(await contentOf(folder)).toEqual(first.map((piece) => JSON.parse(piece)))
	const next = first.with(1, pieceOf(1, 'next'))
	await writeKept(folder, listsOf(next, 'c'))
	expect(await contentOf(folder)).toEqual(next.map((piece) => JSON.parse(piece)))
})

test('behavior: a first write that fails leaves nothing', async () => {
	const folder = temporaryFolder()
	const failing: KeptLists = {
		key: 'a',
		pieces() {
			throw new Error('no')
		},
	}
	await expect(writeKept(folder, failing)).rejects.toThrow('no')
	expect(readdirSync(folder)).toEqual([])
})

test('behavior: the file of an earlier version is taken, and replaced', async () => {
	const folder = temporaryFolder()
	const whole = { lists: [], rules: [] }
	writeFileSync(join(folder, 'watchlists.json'), fileOf(whole))
	expect(await contentOf(folder)).toEqual([whole])
	await writeKept(folder, listsOf(range(2), 'a'))
	expect(await contentOf(folder)).toEqual(range(2).map((piece) => JSON.parse(piece)))
})

test('error: pieces that were changed, cut off or lost are refused, and the next write makes all anew', async () => {
	for (const harm of ['changed', 'cut off', 'lost', 'index'] as const) {
		const folder = temporaryFolder()
		await writeKept(folder, listsOf(range(4), 'a'))
		const [name = ''] = dataIn(folder)
		const path = join(folder, harm === 'index' ? 'watchlists.json' : name)
		if (harm === 'cut off') truncateSync(path, 1_000)
		else writeFileSync(path, harm === 'lost' ? '' : readFileSync(path, 'utf8').replace('a', 'b'))
		await expect(contentOf(folder), harm).rejects.toMatchObject({ reason: 'damaged' })
		if (harm === 'changed') continue
		await writeKept(folder, listsOf(range(4), 'a'))
		expect(await contentOf(folder)).toHaveLength(4)
	}
})
