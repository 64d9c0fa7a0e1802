import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import type { Store } from '../../src/model.js'
import type { Format } from '../../src/state/durable.js'
import { durableFile } from '../../src/state/durable.js'
import { openFileStore } from '../../src/state/file.js'
import { peekState } from '../../src/state/peek.js'
import { makeFolder, removeFolder } from './folder.js'
import { addressOf, blockOf, commitOf, coverOf, deliveryOf } from './samples.js'

const shell = promisify(execFile)

let root: string
let folder: string
const at = (name: string) => join(folder, name)
const open = (): Promise<Store> => openFileStore(folder, { clock: () => 0 })

/** A file as the format describes it, made here from the description and not by the code. */
function fileOf(data: unknown, version = 1): string {
	const body = `{"v":${version},"data":${JSON.stringify(data)}`
	return `${body},"sum":"${createHash('sha256').update(body).digest('hex')}"}\n`
}

async function contents(): Promise<Record<string, string>> {
	const names = (await readdir(folder)).sort()
	return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(at(name), 'base64')])))
}

async function refusal(attempt: () => Promise<unknown> = open): Promise<StateError> {
	const error = await attempt().then(
		() => null,
		(thrown: unknown) => thrown,
	)
	if (!(error instanceof StateError)) throw new Error(`no StateError, but ${String(error)}`)
	return error
}

beforeEach(async () => {
	root = await makeFolder()
	folder = join(root, 'state')
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a')] }))
	await store.enrol('ethereum', { covers: new Map([[addressOf(1), coverOf(2)]]), backfills: [] })
	await store.commit(commitOf({ checkpoint: blockOf(2), deliveries: [deliveryOf('b')] }))
	await store.close()
})

afterEach(() => removeFolder(root))

describe('what stands in the folder', () => {
	test('default: two files and the copies before them, for this user only', async () => {
		expect((await readdir(folder)).sort()).toEqual([
			'coverage.json',
			'coverage.json.prev',
			'state.json',
			'state.json.prev',
		])
		for (const name of await readdir(folder)) expect((await stat(at(name))).mode & 0o777).toBe(0o600)
		expect((await stat(folder)).mode & 0o777).toBe(0o700)
	})

	test('default: one JSON object with the version, compact, whose sum is that of the bytes before it', async () => {
		const text = await readFile(at('state.json'), 'utf8')
		expect(JSON.parse(text)).toMatchObject({ v: 1, data: { networks: { ethereum: { chainId: 1 } } } })
		const body = text.slice(0, text.indexOf(',"sum":"'))
		expect(text).toBe(`${body},"sum":"${createHash('sha256').update(body).digest('hex')}"}\n`)
		expect(text).toBe(fileOf(JSON.parse(text).data))
	})

	test('behavior: a step leaves coverage.json alone', async () => {
		const before = await stat(at('coverage.json'))
		const store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		await store.close()
		expect(await stat(at('coverage.json'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
	})

	test('default: the copy is the file before, by a second name and not by a second writing', async () => {
		const before = await stat(at('state.json'))
		const store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		await store.close()
		expect(await stat(at('state.json.prev'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
	})

	test('behavior: progress of a backfill that is gone does not stay in the file', async () => {
		const store = await open()
		const backfill = { id: 'b', span: { from: 1n, to: 9n }, addresses: [addressOf(1)] }
		const progress = async () => JSON.parse(await readFile(at('state.json'), 'utf8')).data.networks.ethereum.progress
		await store.enrol('ethereum', { covers: new Map(), backfills: [backfill] })
		await store.commit(commitOf({ backfill: { id: 'b', scannedTo: 4n } }))
		expect(Object.values(await progress())).toEqual(['5'])
		await store.enrol('ethereum', { covers: new Map(), backfills: [] })
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		expect(await progress()).toEqual({})
		await store.close()
	})

	test('behavior: what a cut write left over is removed at the start, and was never read', async () => {
		await writeFile(at('state.json.tmp'), 'half')
		await writeFile(at('coverage.json.tmp'), '')
		await (await open()).close()
		expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
	})

	test('behavior: a cut first write is a first run', async () => {
		await rm(folder, { recursive: true })
		await mkdir(folder)
		await writeFile(at('state.json.tmp'), '{"v":1,"da')
		const store = await open()
		expect(await store.deliveries()).toEqual([])
		await store.close()
	})

	test('behavior: a first start cut between its two files goes on', async () => {
		await rm(folder, { recursive: true })
		await (await open()).close()
		await rm(at('coverage.json'))
		await (await open()).close()
		expect(await readdir(folder)).toContain('coverage.json')
	})
})

interface Case {
	readonly name: string
	readonly spoil: (path: string) => Promise<void>
	readonly words: RegExp
}

const truncated = async (path: string, keep: number) => writeFile(path, (await readFile(path)).subarray(0, keep))

const damages: readonly Case[] = [
	{ name: 'empty', spoil: (path) => writeFile(path, ''), words: /it is empty/ },
	{ name: 'all NUL', spoil: (path) => writeFile(path, Buffer.alloc(4096)), words: /nothing but 4096 zero bytes/ },
	{
		name: 'NUL at its end',
		spoil: async (path) => {
			const bytes = await readFile(path)
			await writeFile(path, bytes.fill(0, bytes.length - 40))
		},
		words: /its end is missing/,
	},
	{ name: 'cut in the middle', spoil: (path) => truncated(path, 90), words: /breaks off after 90 bytes/ },
	{ name: 'cut in its head', spoil: (path) => truncated(path, 4), words: /does not begin/ },
	{
		name: 'one character of its data changed',
		spoil: async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('ethereum', 'ethereun')),
		words: /does not match its checksum/,
	},
	{
		name: 'a wrong sum',
		spoil: async (path) =>
			writeFile(path, (await readFile(path, 'utf8')).replace(/[0-9a-f]{64}"\}/, `${'0'.repeat(64)}"}`)),
		words: /does not match its checksum/,
	},
	{ name: 'not ours', spoil: (path) => writeFile(path, '[]\n'), words: /does not begin as a file of tracewatch/ },
	{
		name: 'JSON null, as lowdb would take for a first run',
		spoil: (path) => writeFile(path, 'null'),
		words: /does not begin/,
	},
	{
		name: 'written anew by an editor',
		spoil: async (path) => writeFile(path, JSON.stringify(JSON.parse(await readFile(path, 'utf8')), null, 2)),
		words: /does not begin/,
	},
	{
		name: 'with a byte order mark',
		spoil: async (path) => writeFile(path, `\uFEFF${await readFile(path, 'utf8')}`),
		words: /does not begin/,
	},
	{ name: 'of another shape', spoil: (path) => writeFile(path, fileOf({ foo: 1 })), words: /cannot be understood/ },
	{
		name: 'of an age that is not known',
		spoil: (path) => writeFile(path, fileOf({}, 0)),
		words: /cannot be understood \(version 0\)/,
	},
	{ name: 'missing', spoil: (path) => rm(path), words: /it is missing, though there was one/ },
]

describe.each(['state.json', 'coverage.json'])('%s', (file) => {
	test.each(damages)('error: $name: told with both ways out, and nothing is touched', async ({ spoil, words }) => {
		await spoil(at(file))
		const before = await contents()
		const error = await refusal()
		expect(error.reason).toBe('damaged')
		expect(error.message).toMatch(words)
		expect(error.message).toContain(`cp -p ${at(`${file}.prev`)} ${at(file)}`)
		expect(error.message).toContain(`rm -f ${at('state.json')}* ${at('coverage.json')}*`)
		expect(await contents()).toEqual(before)
		expect((await refusal(() => peekState(folder))).reason).toBe('damaged')
	})

	test.each(damages)('behavior: $name: the command that is told brings the copy back', async ({ spoil }) => {
		await spoil(at(file))
		const command = /cp -p \S+ \S+/.exec((await refusal()).message)?.[0] ?? ''
		await shell('sh', ['-c', command])
		const store = await open()
		// One write back, and no more.
		const { checkpoint, covers } = (await store.network('ethereum')) ?? {}
		expect(checkpoint).toEqual(file === 'state.json' ? blockOf(1) : blockOf(2))
		expect(covers?.size).toBe(file === 'state.json' ? 1 : 0)
		await store.close()
	})

	test('behavior: the other command that is told begins anew', async () => {
		await writeFile(at(file), '')
		const command = /rm -f \S+ \S+/.exec((await refusal()).message)?.[0] ?? ''
		await shell('sh', ['-c', command])
		const store = await open()
		expect(await store.network('ethereum')).toBeNull()
		await store.close()
	})

	test.each([
		['missing', (path: string) => rm(path)],
		['damaged too', (path: string) => writeFile(path, 'x')],
	])('error: with its copy %s, the copy is not offered', async (_, spoil) => {
		await writeFile(at(file), '')
		await spoil(at(`${file}.prev`))
		const { message } = await refusal()
		expect(message).not.toContain('cp -p')
		expect(message).toMatch(/no whole copy .* backup/)
	})

	test('error: newer: refused with the way out, and nothing is touched', async () => {
		await writeFile(at(file), fileOf({ unheard: 'of' }, 2))
		const before = await contents()
		const error = await refusal()
		expect(error).toMatchObject({ reason: 'newer' })
		expect(error.message).toMatch(
			/newer tracewatch \(version 2 of the file; this program knows up to 1\).*Install the newer program/,
		)
		expect(await contents()).toEqual(before)
	})

	test('error: a folder in its place', async () => {
		await rm(at(file))
		await mkdir(at(file))
		const error = await refusal()
		expect(error).toMatchObject({ reason: 'disk' })
		expect(error.message).toBe(`cannot read ${at(file)}: it is a folder (EISDIR)`)
	})
})

test.each([
	['state.json.prev', 'state.json'],
	['coverage.json', 'state.json'],
	['coverage.json.prev', 'coverage.json'],
])('error: with nothing left but %s, %s is lost, and it is no first run', async (left, lost) => {
	for (const name of await readdir(folder)) if (name !== left) await rm(at(name))
	expect(await refusal()).toMatchObject({
		reason: 'damaged',
		message: expect.stringContaining(`${at(lost)} is damaged`),
	})
})

test('error: state.json alone is damage: from where on addresses are watched would be forgotten', async () => {
	await rm(at('coverage.json'))
	await rm(at('coverage.json.prev'))
	expect(await refusal()).toMatchObject({
		reason: 'damaged',
		message: expect.stringContaining('coverage.json is damaged'),
	})
})

test('behavior: a path that a shell would take apart is quoted in the commands', async () => {
	folder = join(root, "it's here")
	await (await open()).close()
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(5) }))
	await store.close()
	await writeFile(at('state.json'), '')
	const command = /cp -p .*(?= \(blocks)/.exec((await refusal()).message)?.[0] ?? ''
	await shell('sh', ['-c', command])
	await (await open()).close()
})

test('behavior: a folder reached by a link is the folder', async () => {
	await symlink(folder, join(root, 'link'))
	const store = await openFileStore(join(root, 'link'), { clock: () => 0 })
	expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
	await store.close()
})

test('error: a file in place of the folder', async () => {
	const path = join(root, 'file')
	await writeFile(path, '')
	const error = await refusal(() => openFileStore(path, { clock: () => 0 }))
	expect(error).toMatchObject({ reason: 'disk', message: expect.stringContaining(path) })
})

describe('older versions', () => {
	const format: Format<{ readonly names: readonly string[] }> = {
		version: 3,
		migrations: {
			1: (data) => ({ list: [(data as { name: string }).name] }),
			2: (data) => ({ names: (data as { list: string[] }).list }),
		},
		*encode(value) {
			yield JSON.stringify(value)
		},
		decode: (data) => data as { names: string[] },
	}

	test.each([
		[1, { name: 'x' }],
		[2, { list: ['x'] }],
		[3, { names: ['x'] }],
	])('default: version %i is brought up step by step', async (version, data) => {
		await writeFile(at('old.json'), fileOf(data, version))
		expect(await durableFile(at('old.json'), format).read()).toEqual({ names: ['x'] })
	})

	test('behavior: reading changes nothing; the next write is of the new version and keeps the old file beside it', async () => {
		await writeFile(at('old.json'), fileOf({ name: 'x' }, 1))
		const file = durableFile(at('old.json'), format)
		const value = await file.read()
		expect(await readFile(at('old.json'), 'utf8')).toBe(fileOf({ name: 'x' }, 1))
		await file.write(value ?? { names: [] })
		expect(await readFile(at('old.json'), 'utf8')).toBe(fileOf({ names: ['x'] }, 3))
		expect(await readFile(at('old.json.prev'), 'utf8')).toBe(fileOf({ name: 'x' }, 1))
	})
})

test('behavior: copies made while it runs are a backup', async () => {
	const store = await open()
	const backup = join(root, 'backup')
	await mkdir(backup)
	for (const name of ['state.json', 'coverage.json']) await copyFile(at(name), join(backup, name))
	await store.close()
	const restored = await openFileStore(backup, { clock: () => 0 })
	expect((await restored.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
	await restored.close()
})
