import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { StateError } from '../../../../src/errors.js'
import type { Store } from '../../../../src/model/ports.js'
import { peek } from '../../../../src/state/open.js'
import { openFileStore } from '../../../support/fileStore.js'
import { silent } from '../../../support/silent.js'
import { announcementOf, blockOf, commitOf, deliveryOf } from '../../samples.js'
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

/** Made once; each test has copies. */
let made: string
beforeAll(async () => {
	made = await makeFolder()
	await fillFolder(join(made, 'state'))
	await cp(join(made, 'state'), join(made, 'large'), { recursive: true })
	// So many announcements at once go into the snapshot alone.
	const store = await openFileStore(join(made, 'large'), { clock: () => 0 })
	const announcements = Array.from({ length: 2_100 }, (_, n) => announcementOf(`t${n}`, 3))
	await store.commit(commitOf({ checkpoint: blockOf(3), announcements }))
	await store.close()
})
afterAll(() => removeFolder(made))

beforeEach(async () => {
	root = await makeFolder()
	folder = join(root, 'state')
	await cp(join(made, 'state'), folder, { recursive: true })
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

const file = 'state.json'
const seen = async (store: Store) => {
	const { checkpoint, covered } = (await store.network('ethereum')) ?? {}
	return [checkpoint, covered?.size, (await store.deliveries()).map(({ id }) => id)]
}

describe('a damaged state.json', () => {
	test.each(damages)(
		'behavior: $name: the copy before it and the journal have everything',
		async ({ spoil, words }) => {
			await spoil(at(file))
			const damaged = await readFile(at(file)).catch(() => null)
			const peeked = await peek({ kind: 'folder', dir: folder })
			expect(peeked?.whole.networks.get('ethereum')?.checkpoint).toEqual(blockOf(2))
			expect(await readFile(at(file)).catch(() => null)).toEqual(damaged)
			const warned: { file?: string; words: string }[] = []
			const log = { ...silent, warn: (facts: object, words: string) => warned.push({ ...facts, words }) }
			const store = await openFileStore(folder, { clock: () => 0, log, leastJournalBytes: 1 })
			expect(await seen(store)).toEqual([blockOf(2), 1, ['a', 'b']])
			expect(warned).toMatchObject([{ file: at(file), words: expect.stringMatching(/is restored: nothing was lost$/) }])
			expect(warned[0]?.words).toMatch(words)
			if (damaged !== null) expect(await readFile(at('state.json.damaged'))).toEqual(damaged)
			// It goes on, also over new snapshots, and a later start has nothing to restore.
			for (const block of [3, 4]) {
				const deliveries = [deliveryOf(`z${block}`, { lastError: 'x'.repeat(9_000) })]
				await store.commit(commitOf({ checkpoint: blockOf(block), deliveries }))
			}
			await store.close()
			const later = await openFileStore(folder, { clock: () => 0, log })
			expect(await seen(later)).toEqual([blockOf(4), 1, ['a', 'b', 'z3', 'z4']])
			await later.close()
			expect(warned).toHaveLength(1)
		},
	)

	test.each(damages)('behavior: $name in a young state: the journal has everything', async ({ spoil }) => {
		await rm(folder, { recursive: true })
		for (const block of [1, 2]) {
			const store = await open()
			await store.commit(commitOf({ checkpoint: blockOf(block), deliveries: [deliveryOf(`y${block}`)] }))
			await store.close()
		}
		expect(await readdir(folder)).not.toContain(`${file}.prev`)
		// The data of an empty state has no network to change.
		await writeFile(at(file), (await readFile(at(file), 'utf8')).replace('"line":0', '"ethereum":0'))
		await spoil(at(file))
		expect((await peek({ kind: 'folder', dir: folder }))?.whole.networks.get('ethereum')?.checkpoint).toEqual(
			blockOf(2),
		)
		for (const _ of ['restored', 'written']) {
			const store = await open()
			expect(await seen(store)).toEqual([blockOf(2), 0, ['y1', 'y2']])
			await store.close()
			expect(JSON.parse(await readFile(at(file), 'utf8')).data).not.toEqual([])
		}
	})

	const some = damages.filter(({ name }) => ['empty', 'not ours', 'missing'].includes(name))
	test.each(some)('error: $name, with a change that only it has: reported with both ways out', async (damage) => {
		await large()
		await damage.spoil(at(file))
		const before = await contents()
		const error = await refusal()
		expect(error.reason).toBe('damaged')
		expect(error.message).toMatch(damage.words)
		expect(error.message).toContain(`cp -p ${at(`${file}.prev`)} ${at(file)} && sed -i '1,$d' ${folder}/journal.`)
		expect(error.message).toContain(`rm -f ${at('state.json')}* ${at('journal.')}*`)
		expect(await contents()).toEqual(before)
		expect((await refusal(() => peek({ kind: 'folder', dir: folder }))).reason).toBe('damaged')
		await shell('sh', ['-c', wayOut(error)])
		const store = await open()
		// What the snapshot before and its journal have.
		expect(await seen(store)).toEqual([blockOf(2), 1, ['a', 'b']])
		await store.close()
	})

	test('behavior: the other command that is reported begins anew', async () => {
		await large()
		await writeFile(at(file), '')
		const command = /rm -f \S+ \S+(?= \(every)/.exec((await refusal()).message)?.[0] ?? ''
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

/** With a change that only the snapshot has. */
async function large(): Promise<void> {
	await rm(folder, { recursive: true, force: true })
	await cp(join(made, 'large'), folder, { recursive: true })
}

/** The command that keeps the most. */
const wayOut = ({ message }: StateError) => /cp -p .*(?= \(blocks)/.exec(message)?.[0] ?? ''

test.each([
	['state.json.prev', 'state.json'],
	['journal', 'state.json'],
	['state.json', 'journal'],
])('error: with nothing left but %s, %s is lost, and it is no first run', async (left, lost) => {
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(5) }))
	await store.close()
	for (const name of await readdir(folder)) if (name.replace(/\.\d+\.jsonl/, '') !== left) await rm(at(name))
	const { reason, message } = await refusal()
	expect(reason).toBe('damaged')
	expect(message).toContain(`${at(lost)}`)
	expect(message).toContain('is damaged: it is missing, though there was one')
})

test('error: the only segment of a young state is lost: the next start does not take its own for it', async () => {
	await rm(folder, { recursive: true })
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(5) }))
	await store.close()
	const [only = '', ...others] = (await readdir(folder)).filter((name) => name.startsWith('journal.'))
	expect(others).toEqual([])
	await rm(at(only))
	for (const _ of [1, 2])
		expect((await refusal()).message).toContain(`${at(only)} is damaged: it is missing, though there was one`)
})

test('behavior: a path that a shell would take apart is quoted in the commands', async () => {
	folder = join(root, "it's here")
	await large()
	await writeFile(at('state.json'), '')
	await shell('sh', ['-c', wayOut(await refusal())])
	await (await open()).close()
})

test('error: a file in place of the folder', async () => {
	const path = join(root, 'file')
	await writeFile(path, '')
	const error = await refusal(() => openFileStore(path, { clock: () => 0 }))
	expect(error).toMatchObject({ reason: 'disk', message: expect.stringContaining(path) })
})
