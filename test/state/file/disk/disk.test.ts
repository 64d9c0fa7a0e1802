import { stat, statfs, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../../src/model/ports.js'
import { holdFolder } from '../../../../src/state/file/disk/hold.js'
import { readFolder } from '../../../../src/state/file/readFolder.js'
import { createSegment } from '../../../../src/state/file/segments.js'
import { peek } from '../../../../src/state/open.js'
import { openFileStore } from '../../../support/fileStore.js'
import { blockOf, commitOf, deliveryOf } from '../../samples.js'
import { makeFolder, newestSegment, removeFolder } from '../folder.js'
import type { Mount } from '../mounts.js'
import { copyDisk, makeDisk, mountDisk, mountMemory } from '../mounts.js'

let root: string
let mounts: Mount[]

beforeEach(async () => {
	root = await makeFolder()
	mounts = []
})

afterEach(async () => {
	for (const mount of mounts.reverse()) await mount.unmount()
	await removeFolder(root)
})

const open = (folder: string) => openFileStore(folder, { clock: () => 0 })
const many = (from: number) => Array.from({ length: 100 }, (_, index) => deliveryOf(`d${from + index}`))

/** Steps with deliveries until the disk is full; resolves to how many were taken, and the error. */
async function fill(store: Store): Promise<{ steps: number; error: unknown }> {
	for (let steps = 1; ; steps++) {
		try {
			await store.commit(commitOf({ checkpoint: blockOf(steps), deliveries: many(steps * 100) }))
		} catch (error) {
			return { steps: steps - 1, error }
		}
	}
}

async function fullDisk(disk: string): Promise<void> {
	const folder = join(disk, 'state')
	const ballast = join(disk, 'ballast')
	const { bavail, bsize } = await statfs(disk)
	await writeFile(ballast, Buffer.alloc(bavail * bsize - (1 << 20)))
	const store = await open(folder)
	const { steps, error } = await fill(store)
	expect(steps).toBeGreaterThan(2)
	const path = newestSegment(folder)
	expect(error).toMatchObject({ name: 'StateError', reason: 'disk' })
	expect(String(error)).toContain(
		`cannot write ${path}: the disk is full (ENOSPC): make room there; a running daemon then continues; ` +
			'what was there before is still there',
	)
	// In memory as on disk: the last step that was taken.
	expect((await store.network('ethereum'))?.checkpoint).toEqual(blockOf(steps))
	expect(await store.deliveries()).toHaveLength(steps * 100)
	await expect(stat(join(folder, 'state.json.tmp'))).rejects.toMatchObject({ code: 'ENOENT' })
	const beside = await peek({ kind: 'folder', dir: folder })
	expect(beside?.whole.networks.get('ethereum')?.checkpoint).toEqual(blockOf(steps))
	expect([...(beside?.whole.deliveries.values() ?? [])]).toEqual(await store.deliveries())
	// Nothing has to be done but to make room.
	await unlink(ballast)
	await store.commit(commitOf({ checkpoint: blockOf(steps + 1), deliveries: many((steps + 1) * 100) }))
	await store.close()
	const after = await open(folder)
	expect((await after.network('ethereum'))?.checkpoint).toEqual(blockOf(steps + 1))
	expect(await after.deliveries()).toHaveLength((steps + 1) * 100)
	await after.close()
}

describe('full disk', () => {
	test('error: tmpfs: says so, keeps what it had, continues when there is room', async () => {
		const mount = await mountMemory(root, 8 << 20)
		if (!mount) return
		mounts.push(mount)
		await fullDisk(mount.folder)
	})

	test('error: ext4: says so, keeps what it had, continues when there is room', async () => {
		const image = await makeDisk(root, 12)
		const mount = image && (await mountDisk(image, join(root, 'disk')))
		if (!mount) return
		mounts.push(mount)
		await fullDisk(mount.folder)
	})

	test('behavior: no room for the snapshot that is due after 50 starts: the start goes on without it', async () => {
		const mount = await mountMemory(root, 4 << 20)
		if (!mount) return
		mounts.push(mount)
		const folder = join(mount.folder, 'state')
		const first = await open(folder)
		await first.commit(commitOf({ checkpoint: blockOf(1), deliveries: many(0) }))
		await first.close()
		// As starts leave the folder that are killed before they write.
		for (let segment = 2; segment <= 51; segment++) await createSegment(folder, segment)
		await writeFile(join(mount.folder, 'ballast'), Buffer.alloc(4 << 20)).catch(() => undefined)
		const full = await open(folder)
		expect(await full.deliveries()).toHaveLength(100)
		await full.close()
		expect((await readFolder(folder))?.since).toBe(1)
		await unlink(join(mount.folder, 'ballast'))
		const next = await open(folder)
		expect((await readFolder(folder))?.since).toBe(53)
		expect(await next.deliveries()).toHaveLength(100)
		await next.close()
	})

	test('error: no room for the first start', async () => {
		const mount = await mountMemory(root, 1 << 16)
		if (!mount) return
		mounts.push(mount)
		await writeFile(join(mount.folder, 'ballast'), Buffer.alloc(1 << 16)).catch(() => undefined)
		await expect(open(join(mount.folder, 'state'))).rejects.toMatchObject({ reason: 'disk' })
		await unlink(join(mount.folder, 'ballast'))
		await (await open(join(mount.folder, 'state'))).close()
	})
})

describe('error: a file system that is mounted read-only is named, with what to do', () => {
	test.each([
		['a state that is there', 'state', 'write'],
		['a folder to be made', 'new', 'make'],
		['a folder in one to be made', 'new/state', 'make'],
	])('%s', async (_, name, act) => {
		const mount = await mountMemory(root, 1 << 20)
		if (!mount) return
		mounts.push(mount)
		await (await open(join(mount.folder, 'state'))).close()
		await mount.closeForWriting()
		const folder = join(mount.folder, name)
		await expect(holdFolder(folder)).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringContaining(
				`cannot ${act} ${folder}: the file system is mounted read-only (EROFS): mount it for writing`,
			),
		})
	})
})

test('behavior: after a power cut at any acknowledged step, that step is there', async () => {
	const image = await makeDisk(root, 24)
	const mount = image && (await mountDisk(image, join(root, 'disk')))
	if (!mount) return
	mounts.push(mount)
	const store = await open(join(mount.folder, 'state'))
	for (let step = 1; step <= 120; step++) {
		await store.commit(commitOf({ checkpoint: blockOf(step), deliveries: [deliveryOf(`d${step}`)] }))
		if (step % 40 !== 0) continue
		const copy = join(root, `cut-${step}.img`)
		await copyDisk(image, copy)
		const cut = await mountDisk(copy, join(root, `cut-${step}`))
		if (!cut) return
		mounts.push(cut)
		const left = await open(join(cut.folder, 'state'))
		expect((await left.network('ethereum'))?.checkpoint).toEqual(blockOf(step))
		expect(await left.deliveries()).toHaveLength(step)
		await left.close()
	}
	await store.close()
})
