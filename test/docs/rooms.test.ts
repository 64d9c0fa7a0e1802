import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.js'

/** Rooms in the table, each with the file to begin at: by a row, or by that file in the row of the room around it. */
const rooms = [...readFileSync(`${root}ARCHITECTURE.md`, 'utf8').matchAll(/^\| `([\w/]+)` \| `([\w.]+)` \| (.+) \|$/gm)]
	.flatMap(([, room = '', first = '', text = '']) => [
		{ room, first },
		...[...text.matchAll(/`([\w/]+)\/(\w+\.ts)`/g)]
			.map(([, inner = '', file = '']) => ({ room: `${room}/${inner}`, first: file }))
			.filter((inner) => existsSync(`${root}src/${inner.room}/${inner.first}`)),
	])
	.filter(({ room }, index, all) => all.findIndex((other) => other.room === room) === index)

test('default: ARCHITECTURE.md names every room, and no other', () => {
	const folders = readdirSync(`${root}src`, { recursive: true, withFileTypes: true, encoding: 'utf8' })
		.filter((entry) => entry.isDirectory())
		.map(({ parentPath, name }) => `${parentPath}/${name}`.slice(`${root}src/`.length))
	expect(rooms.map(({ room }) => room).toSorted()).toEqual(folders.toSorted())
})

test.each(rooms)('default: $room says in $first what it is for', ({ room, first }) => {
	expect(readFileSync(`${root}src/${room}/${first}`, 'utf8')).toMatch(/^\/\*\*(?:(?!\*\/)[\s\S])*\bThe room\b/)
})

interface Imports {
	readonly own: readonly string[]
	readonly packages: readonly string[]
}

/** By file of src, the files and packages that it imports, types and what it loads later included. */
function imports(): ReadonlyMap<string, Imports> {
	const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
	return new Map(
		files.map((file) => {
			const text = readFileSync(`${root}src/${file}`, 'utf8')
			const found = [...text.matchAll(/(?:^(?:import|export)\b(?:[^;']* from)? |\bimport\()'([^']+)'/gm)].map(
				([, path = '']) => path,
			)
			const own = found.filter((path) => path.startsWith('.'))
			return [
				file,
				{
					own: own.map((path) => join(dirname(file), path.replace(/\.js$/, '.ts'))),
					packages: found.filter((path) => !path.startsWith('.')),
				},
			]
		}),
	)
}

test('default: no file imports another that imports it, at however many removes', () => {
	const left = new Map([...imports()].map(([file, { own }]) => [file, own]))
	expect([...left.values()].flat().length).toBeGreaterThan(500)
	// Who imports nothing that is left is in no circle, nor is whom nothing that is left imports.
	for (let before = -1; before !== left.size; ) {
		before = left.size
		const imported = new Set([...left.values()].flat())
		for (const [file, list] of left) if (!imported.has(file) || !list.some((path) => left.has(path))) left.delete(file)
	}
	expect([...left.keys()]).toEqual([])
})

const low = 'base core kinds model errors.ts'
const pure = 'core kinds model errors.ts base/amount.ts base/waits/'
const heard = 'base core model errors.ts'
/** What a room imports besides itself: rooms, files, packages. Its row holds for its rooms without a row, too. */
const arrows = new Map([
	['model', 'zod'],
	['errors.ts', ''],
	['base', 'node:'],
	['kinds', 'model base/amount.ts base/text/printable.ts ox zod'],
	['core', 'kinds model errors.ts base/amount.ts'],
	['core/events', 'core kinds model errors.ts base/amount.ts ox'],
	['audit', pure],
	['scan', `${pure} audit`],
	['config', `${low} node: csv-parse node-cron ox yaml zod notify/webhook/formats`],
	['chain', low],
	['chain/wire', `${heard} @noble/hashes ox`],
	['chain/stream', heard],
	['chain/limits', heard],
	['chain/walk', heard],
	['chain/rpc', `${heard} node: chain/limits chain/stream`],
	['chain/traces', `${heard} chain/stream chain/wire`],
	['chain/blocks', `${heard} ox chain/rpc chain/traces chain/wire`],
	['chain/heads', `${heard} ws chain/blocks chain/rpc chain/wire`],
	['chain/endpoints', `${heard} chain/blocks chain/heads chain/limits chain/rpc`],
	['chain/sources', `${heard} chain/blocks chain/rpc chain/traces chain/wire`],
	[
		'chain/capabilities',
		`${heard} chain/blocks chain/heads chain/limits chain/rpc chain/sources chain/traces chain/wire`,
	],
	['chain/logs/proofs', `${heard} ox chain/blocks chain/rpc chain/wire`],
	['chain/logs', `${heard} chain/blocks chain/endpoints chain/limits chain/rpc chain/traces chain/wire`],
	['chain/state', `${heard} ox chain/blocks chain/endpoints chain/rpc chain/wire`],
	[
		'chain/transactions',
		`${heard} ox chain/blocks chain/capabilities chain/endpoints chain/rpc chain/sources chain/traces chain/wire`,
	],
	['state', `${low} node: lowdb pg`],
	['notify', `${low} node: nodemailer`],
	['notify/webhook/formats', `${low} notify/delivery/policy.ts notify/text notify/webhook/signature.ts`],
	['ops', `${low} node: pino pino-pretty prom-client zod`],
	['pages', `${low} node:`],
	['daemon', `${low} node: node-cron audit chain config notify ops pages scan state version.ts`],
])
/** These stand on all others. */
const above = ['cli.ts', 'commands', 'main.ts', 'version.ts']

const isIn = (path: string, room: string) => path === room || path.startsWith(/[/:]$/.test(room) ? room : `${room}/`)

/** The room with a row that a file stands in. */
function rowOf(file: string): string {
	const rooms = [...arrows.keys(), ...above].filter((room) => isIn(file, room))
	return rooms.toSorted((one, other) => other.length - one.length)[0] ?? ''
}

test('default: a room imports only the rooms and packages that its row names', () => {
	const wrong: string[] = []
	for (const [file, { own, packages }] of imports()) {
		const room = rowOf(file)
		if (room === '') wrong.push(`${file} stands in no room`)
		const allowed = [room, ...(arrows.get(room) ?? '').split(' ').filter((word) => word !== '')]
		for (const path of arrows.has(room) ? [...own, ...packages] : [])
			if (!allowed.some((one) => isIn(path, one))) wrong.push(`${file} imports ${path}`)
	}
	expect(wrong).toEqual([])
})

test.each(['chain', 'core', 'daemon'])('default: the rooms of %s import each other one way', (house) => {
	const above = new Map<string, Set<string>>()
	for (const [file, { own }] of imports()) {
		const room = dirname(file)
		if (!isIn(room, house)) continue
		const others = own.map((path) => dirname(path)).filter((other) => other !== room && isIn(other, house))
		above.set(room, new Set([...(above.get(room) ?? []), ...others]))
	}
	// A room that imports none of the rest is in no circle.
	for (let before = -1; before !== above.size; ) {
		before = above.size
		for (const [room, others] of above) if (![...others].some((other) => above.has(other))) above.delete(room)
	}
	expect([...above.keys()]).toEqual([])
})

test('default: no room has more than 15 files beside its rooms, kinds apart', () => {
	const count = new Map<string, number>()
	for (const file of imports().keys()) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1)
	expect([...count].filter(([room, files]) => room !== 'kinds' && files > 15)).toEqual([])
})

test('default: a file name is used once; a command has the name that is typed, and types that of their idea', () => {
	const ideas = [...imports().keys()]
		.filter((file) => !/^(?:commands|model)\//.test(file))
		.map((file) => basename(file))
	// Both are being changed.
	const known = ['standing.ts']
	expect(ideas.filter((name, at) => ideas.indexOf(name) !== at && !known.includes(name))).toEqual([])
})

test('default: nothing in src uses AbortSignal.any', () => {
	// On Node 20 each call keeps 57 bytes for ever in a long-lived parent: base/waits/linkedAbort.ts takes its place.
	const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
	const uses = files.filter((file) => {
		const code = readFileSync(`${root}src/${file}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '')
		return /AbortSignal\s*\.\s*any\b/.test(code)
	})
	expect(uses).toEqual([])
})

test('default: ARCHITECTURE.md is read in one go', () => {
	expect(readFileSync(`${root}ARCHITECTURE.md`, 'utf8').split('\n').length).toBeLessThanOrEqual(121)
})
