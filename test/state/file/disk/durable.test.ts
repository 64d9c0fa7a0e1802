import { createHash } from 'node:crypto'
import { chown, copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../../src/model/ports.js'
import { readFolder } from '../../../../src/state/file/readFolder.js'
import { FORMAT } from '../../../../src/state/stateFormat.js'
import { openFileStore } from '../../../support/fileStore.js'
import { notProved } from '../../../support/notProved.js'
import { addressOf, blockOf, commitOf, deliveryOf } from '../../samples.js'
import { fillFolder, makeFolder, removeFolder, segmentFiles } from '../folder.js'

let root: string
let folder: string
const at = (name: string) => join(folder, name)
const open = (): Promise<Store> => openFileStore(folder, { clock: () => 0 })

beforeEach(async () => {
	root = await makeFolder()
	folder = join(root, 'state')
	await fillFolder(folder)
})

afterEach(() => removeFolder(root))

describe('the files in the state folder', () => {
	test('default: a snapshot, the one before it, and the journal since that one, for this user only', async () => {
		const names = ['journal.000002.jsonl', 'journal.000003.jsonl', 'state.json', 'state.json.prev']
		expect((await readdir(folder)).sort()).toEqual(names)
		for (const name of names) expect((await stat(at(name))).mode & 0o777).toBe(0o600)
		expect((await stat(folder)).mode & 0o777).toBe(0o700)
	})

	test('default: the snapshot is one JSON object with its format and the sum of the bytes before it', async () => {
		const text = await readFile(at('state.json'), 'utf8')
		expect(JSON.parse(text)).toMatchObject({
			v: FORMAT,
			data: expect.arrayContaining([expect.objectContaining({ network: 'ethereum' })]),
		})
		const body = text.slice(0, text.indexOf(',"sum":"'))
		expect(text).toBe(`${body},"sum":"${createHash('sha256').update(body).digest('hex')}"}\n`)
	})

	test('default: the copy is the file before, by a second name and not by a second writing', async () => {
		const before = await stat(at('state.json'))
		const store = await openFileStore(folder, { clock: () => 0, leastJournalBytes: 1 })
		await store.post([deliveryOf('z', { lastError: 'x'.repeat(9_000) })])
		await store.close()
		expect(await stat(at('state.json.prev'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
	})

	test('behavior: progress of a backfill that is gone does not stay in the file', async () => {
		const store = await open()
		const backfill = { id: 'b', span: { from: 1n, to: 9n }, addresses: [addressOf(1)] }
		const progress = async () =>
			(await readFolder(folder))?.whole.networks.get('ethereum')?.backfills.map(({ next }) => next)
		await store.enrol('ethereum', { covered: new Map(), backfills: [backfill] })
		await store.commit(commitOf({ backfill: { id: 'b', scannedTo: 4n } }))
		expect(await progress()).toEqual([5n])
		await store.enrol('ethereum', { covered: new Map(), backfills: [] })
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		expect(await progress()).toEqual([])
		await store.close()
	})

	test('behavior: files that a command with sudo makes belong to the owner of the folder', async (here) => {
		if (process.getuid?.() !== 0) {
			notProved('that the owner of the state reads what root wrote: two users need root')
			return here.skip()
		}
		const names = async (of = folder) => (await readdir(of, { recursive: true })).map((name) => join(of, name))
		for (const path of [folder, ...(await names())]) await chown(path, 65_534, 65_534)
		const inner = join(folder, 'new')
		await (await openFileStore(inner, { clock: () => 0 })).close()
		expect((await stat(inner)).uid).toBe(65_534)
		const store = await openFileStore(folder, { clock: () => 86_400_000, historyMs: 3_600_000, leastJournalBytes: 1 })
		await store.post([deliveryOf('z', { lastError: 'x'.repeat(9_000) })])
		await store.resolve([{ id: 'z', result: 'delivered' }])
		await store.close()
		const files = (await names()).filter((path) => /\.jsonl?$/.test(path))
		expect(files.length).toBeGreaterThan(3)
		for (const path of files) expect([path, (await stat(path)).uid]).toEqual([path, 65_534])
	})

	test('behavior: a file left over by a cut write is removed at the start, and never read', async () => {
		await writeFile(at('state.json.tmp'), 'half')
		await (await open()).close()
		expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
	})

	test('behavior: a cut first write is a first run', async () => {
		await rm(folder, { recursive: true })
		await mkdir(folder)
		await writeFile(at('state.json.tmp'), '{"v":18,"da')
		const store = await open()
		expect(await store.deliveries()).toEqual([])
		await store.close()
	})
})

test('behavior: a folder reached by a link is the folder', async () => {
	await symlink(folder, join(root, 'link'))
	const store = await openFileStore(join(root, 'link'), { clock: () => 0 })
	expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
	await store.close()
})

test('behavior: copies made while it runs are a backup', async () => {
	const store = await open()
	const backup = join(root, 'backup')
	await mkdir(backup)
	// In this order a snapshot that is written in between does no harm.
	for (const path of [at('state.json'), ...segmentFiles(folder)]) await copyFile(path, join(backup, basename(path)))
	await store.close()
	const restored = await openFileStore(backup, { clock: () => 0 })
	expect((await restored.network('ethereum'))?.checkpoint).toEqual(blockOf(2))
	await restored.close()
})
