import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.js'

/** Rows of the table of rooms: its folder, the file to begin at. */
const rooms = [
	...readFileSync(`${root}ARCHITECTURE.md`, 'utf8').matchAll(/^\| `([\w/]+)` \| `([\w.]+)` \| .+ \|$/gm),
].map(([, room = '', first = '']) => ({ room, first }))

test('default: ARCHITECTURE.md names every room, and no other', () => {
	const folders = readdirSync(`${root}src`, { recursive: true, withFileTypes: true, encoding: 'utf8' })
		.filter((entry) => entry.isDirectory())
		.map(({ parentPath, name }) => `${parentPath}/${name}`.slice(`${root}src/`.length))
	expect(rooms.map(({ room }) => room).toSorted()).toEqual(folders.toSorted())
})

test.each(rooms)('default: $room says in $first what it is for', ({ room, first }) => {
	expect(readFileSync(`${root}src/${room}/${first}`, 'utf8')).toMatch(/^\/\*\*(?:(?!\*\/)[\s\S])*\bThe room\b/)
})

/** By file, those that it imports, types included. */
function imports(): ReadonlyMap<string, readonly string[]> {
	const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
	return new Map(
		files.map((file) => {
			const text = readFileSync(`${root}src/${file}`, 'utf8')
			const found = [...text.matchAll(/^(?:import|export)\b[^;']* from '(\.[^']+)\.js'/gm)]
			return [file, found.map(([, path = '']) => join(dirname(file), `${path}.ts`))]
		}),
	)
}

test('default: no file imports another that imports it, at however many removes', () => {
	const above = imports()
	expect([...above.values()].flat().length).toBeGreaterThan(500)
	const left = new Map(above)
	// Who imports nothing that is left is in no circle, nor is whom nothing that is left imports.
	for (let before = -1; before !== left.size; ) {
		before = left.size
		const imported = new Set([...left.values()].flat())
		for (const [file, list] of left) if (!imported.has(file) || !list.some((path) => left.has(path))) left.delete(file)
	}
	expect([...left.keys()]).toEqual([])
})

test('default: ARCHITECTURE.md is read in one go', () => {
	expect(readFileSync(`${root}ARCHITECTURE.md`, 'utf8').split('\n').length).toBeLessThanOrEqual(121)
})
