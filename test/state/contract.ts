/** What every store must do, whatever it keeps its memory in. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Delivery } from '../../src/model/delivery.js'
import type { Store } from '../../src/model/ports.js'
import { deliveryContract } from './contract-deliveries.js'
import { heldContract } from './contract-held.js'
import { networkContract } from './contract-networks.js'
import { blockOf, commitOf, deliveryOf, START_MS } from './samples.js'

/** A place where a store can be opened, closed and opened again. */
export interface StorePlace {
	open(clock: () => number): Promise<Store>
	/** Removes all of it. */
	remove(): Promise<void>
}

/** An empty place of a test's own, opened. */
export interface OpenPlace {
	store: Store
	/** What the store's clock says. */
	nowMs: number
	open(): Promise<Store>
	/** Closes and opens: what is only in memory is gone. */
	reopened(): Promise<Store>
}

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
	describe(name, () => {
		let place: StorePlace
		const at: OpenPlace = {
			store: null as unknown as Store,
			nowMs: START_MS,
			async open() {
				at.store = await place.open(() => at.nowMs)
				return at.store
			},
			async reopened() {
				await at.store.close()
				return await at.open()
			},
		}

		beforeEach(async () => {
			at.nowMs = START_MS
			place = await makePlace()
			await at.open()
		})

		afterEach(async () => {
			await at.store.close()
			await place.remove()
		})

		networkContract(at)
		deliveryContract(at)
		heldContract(at)

		describe('summary', () => {
			test('default: per network where it stands and since when', async () => {
				await at.store.commit(commitOf({ checkpoint: blockOf(100), settled: blockOf(90) }))
				at.nowMs += 5
				await at.store.commit(commitOf({ settled: blockOf(91) }))
				expect((await (await at.reopened()).summary()).networks).toEqual(
					new Map([
						[
							'ethereum',
							{
								chainId: 1,
								checkpoint: blockOf(100),
								settled: blockOf(91),
								backfills: [],
								gaps: [],
								updatedAtMs: START_MS,
							},
						],
					]),
				)
			})
		})

		describe('close', () => {
			test('default: waits for what was asked before, and accepts nothing after', async () => {
				const asked = at.store.post([deliveryOf('a')])
				await at.store.close()
				await asked
				await expect(at.store.post([deliveryOf('b')])).rejects.toThrow('closed')
				await at.open()
				expect(ids(await at.store.deliveries())).toEqual(['a'])
			})
		})

		test('behavior: a hundred changes at once are all there', async () => {
			await at.store.commit(commitOf({ checkpoint: blockOf(0) }))
			const posts = Array.from({ length: 100 }, (_, index) => at.store.post([deliveryOf(`d${index}`)]))
			const steps = Array.from({ length: 100 }, (_, index) =>
				at.store.commit(commitOf({ checkpoint: blockOf(index + 1) })),
			)
			await Promise.all([...posts, ...steps])
			await at.reopened()
			expect((await at.store.network('ethereum'))?.checkpoint).toEqual(blockOf(100))
			expect(await at.store.deliveries()).toHaveLength(100)
		})
	})
}
