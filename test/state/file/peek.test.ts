import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { summarize } from '../../../src/state/document.js'
import { holdFolder } from '../../../src/state/file/disk/hold.js'
import { peek } from '../../../src/state/open.js'
import { openFileStore } from '../../support/fileStore.js'
import { blockOf, commitOf, deliveryOf } from '../samples.js'
import { makeFolder, removeFolder } from './folder.js'

describe('peek', () => {
	let root: string
	let folder: string

	beforeEach(async () => {
		root = await makeFolder()
		folder = join(root, 'state')
	})

	afterEach(() => removeFolder(root))

	/** Looks again and again until `stop`, and keeps the checkpoints; -1: nothing is stored yet. */
	function looking() {
		const looks: bigint[] = []
		let isOver = false
		const look = async () => {
			while (!isOver) {
				const seen = await peek({ kind: 'folder', dir: folder })
				looks.push(seen?.whole.networks.get('ethereum')?.checkpoint.number ?? -1n)
			}
		}
		const stop = () => {
			isOver = true
		}
		return { looks, look, stop }
	}

	test('default: null where nothing was ever stored, and nothing is made there', async () => {
		expect(await peek({ kind: 'folder', dir: folder })).toBeNull()
		expect(await readdir(root)).toEqual([])
	})

	test('default: peek gives what the holder of the folder has on disk', async () => {
		const { release } = await holdFolder(folder)
		const store = await openFileStore(folder, { clock: () => 5 })
		await store.commit(commitOf({ checkpoint: blockOf(3), deliveries: [deliveryOf('a'), deliveryOf('b')] }))
		await store.resolve([{ id: 'a', result: 'delivered' }])
		const seen = await peek({ kind: 'folder', dir: folder })
		expect(seen && summarize(seen.whole)).toEqual(await store.summary())
		expect([...(seen?.whole.deliveries.values() ?? [])]).toEqual([deliveryOf('b')])
		expect(seen?.rows).toEqual([])
		await store.close()
		await release()
	})

	test('behavior: in the midst of many writes every look succeeds, and none goes back', async () => {
		const { looks, look, stop } = looking()
		// Looking begins before the first start, and sees it.
		const ended = look()
		const store = await openFileStore(folder, { clock: () => 0 })
		for (let number = 0; number < 60 || looks.length <= 10; number++)
			await store.commit(commitOf({ checkpoint: blockOf(number) }))
		stop()
		await ended
		await store.close()
		expect(looks.length).toBeGreaterThan(10)
		expect(looks).toEqual([...looks].sort((a, b) => (a < b ? -1 : 1)))
	})

	test('behavior: in the midst of changes so large that each is a snapshot, every look succeeds, too', async () => {
		const store = await openFileStore(folder, { clock: () => 0 })
		await store.commit(commitOf({ checkpoint: blockOf(0) }))
		const { looks, look, stop } = looking()
		const ended = look()
		for (let number = 1; number <= 12; number += 1) {
			const deliveries = Array.from({ length: 2_001 }, (_, at) => deliveryOf(`${number}_${at}`))
			await store.commit(commitOf({ checkpoint: blockOf(number), deliveries }))
			await store.drop(deliveries.map(({ id }) => id))
		}
		stop()
		await ended
		await store.close()
		expect(looks.length).toBeGreaterThan(1)
		expect(looks).toEqual([...looks].sort((a, b) => (a < b ? -1 : 1)))
	})
})
