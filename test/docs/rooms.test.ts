import { readdirSync, readFileSync } from 'node:fs'
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

test('default: ARCHITECTURE.md is read in one go', () => {
	expect(readFileSync(`${root}ARCHITECTURE.md`, 'utf8').split('\n').length).toBeLessThanOrEqual(121)
})
