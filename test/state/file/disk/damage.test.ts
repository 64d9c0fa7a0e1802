import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StateError } from '../../../../src/errors.js'
import type { Store } from '../../../../src/model/ports.js'
import { peek } from '../../../../src/state/open.js'
import { openFileStore } from '../../../support/fileStore.js'
import { blockOf, commitOf } from '../../samples.js'
import { fileOf, fillFolder, makeFolder, removeFolder } from '../folder.js'

const shell = promisify(execFile)

let root: string
let folder: string
const at = (name: string) => join(folder, name)
const open = (): Promise<Store> => openFileStore(folder, { clock: () => 0 })

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
	await fillFolder(folder)
})

afterEach(() => removeFolder(root))

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
	{ name: 'missing', spoil: (path) => rm(path), words: /it is missing, though there was one/ },
]

describe('state.json', () => {
	const file = 'state.json'
	test.each(damages)('error: $name: reported with both ways out, and nothing is touched', async ({ spoil, words }) => {
		await spoil(at(file))
		const before = await contents()
		const error = await refusal()
		expect(error.reason).toBe('damaged')
		expect(error.message).toMatch(words)
		expect(error.message).toContain(`cp -p ${at(`${file}.prev`)} ${at(file)}`)
		expect(error.message).toContain(`&& cp -p ${at('journal.jsonl.prev')} ${at('journal.jsonl')} (blocks since`)
		expect(error.message).toContain(`rm -f ${at('state.json')}* ${at('journal.jsonl')}*`)
		expect(await contents()).toEqual(before)
		expect((await refusal(() => peek({ kind: 'folder', dir: folder }))).reason).toBe('damaged')
	})

	test.each(damages)('behavior: $name: the command that is reported brings the copy back', async ({ spoil }) => {
		await spoil(at(file))
		const command = /cp -p .*(?= \(blocks)/.exec((await refusal()).message)?.[0] ?? ''
		await shell('sh', ['-c', command])
		const store = await open()
		// The snapshot before with its journal, which is as much as the one that is damaged held.
		const { checkpoint, covered } = (await store.network('ethereum')) ?? {}
		expect([checkpoint, covered?.size]).toEqual([blockOf(2), 1])
		await store.close()
	})

	test('behavior: damaged before its journal was begun, the command keeps the journal of the copy', async () => {
		await rename(at('journal.jsonl.prev'), at('journal.jsonl'))
		await writeFile(at(file), '')
		const command = /cp -p .*(?= \(blocks)/.exec((await refusal()).message)?.[0] ?? ''
		await shell('sh', ['-c', command])
		const store = await open()
		const { checkpoint, covered } = (await store.network('ethereum')) ?? {}
		expect([checkpoint, covered?.size]).toEqual([blockOf(2), 1])
		await store.close()
	})

	test('behavior: the other command that is reported begins anew', async () => {
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
	['journal.jsonl', 'state.json'],
])('error: with nothing left but %s, %s is lost, and it is no first run', async (left, lost) => {
	if (left === 'journal.jsonl') {
		const store = await open()
		await store.commit(commitOf({ checkpoint: blockOf(5) }))
		await store.close()
	}
	for (const name of await readdir(folder)) if (name !== left) await rm(at(name))
	expect(await refusal()).toMatchObject({
		reason: 'damaged',
		message: expect.stringContaining(`${at(lost)} is damaged`),
	})
})

test('behavior: a path that a shell would take apart is quoted in the commands', async () => {
	folder = join(root, "it's here")
	await fillFolder(folder)
	await writeFile(at('state.json'), '')
	const command = /cp -p .*(?= \(blocks)/.exec((await refusal()).message)?.[0] ?? ''
	await shell('sh', ['-c', command])
	await (await open()).close()
})

test('error: a file in place of the folder', async () => {
	const path = join(root, 'file')
	await writeFile(path, '')
	const error = await refusal(() => openFileStore(path, { clock: () => 0 }))
	expect(error).toMatchObject({ reason: 'disk', message: expect.stringContaining(path) })
})
