/** A folder that the program of version 0.1.0 wrote: `test/fixtures/state/0.1.0`, as it left it. */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openFileStore } from '../../../src/state/file/store.js'
import { temporaryFolder } from '../../support/folder.js'
import { addressOf, blockOf, commitOf } from '../samples.js'

const NOW_MS = 1_790_000_000_000

async function opened() {
	const folder = join(temporaryFolder(), 'state')
	cpSync(new URL('../../fixtures/state/0.1.0', import.meta.url), folder, { recursive: true })
	const open = () => openFileStore(folder, { clock: () => NOW_MS })
	const store = await open()
	onTestFinished(() => store.close())
	return { store, open }
}

const expected = {
	chainId: 1,
	checkpoint: blockOf(100),
	settled: blockOf(90),
	covered: new Map([
		[addressOf(1), { since: 101n, from: 50n, leftAt: null, missed: [] }],
		[addressOf(2), { since: 80n, from: 80n, leftAt: 99n, missed: [{ from: 10n, to: 20n }] }],
	]),
	backfills: [{ id: '50-100-x', span: { from: 60n, to: 100n }, addresses: [addressOf(1)] }],
	updatedAtMs: NOW_MS,
	books: new Map(),
	gaps: new Map(),
	contracts: new Map(),
}

test('default: it opens with all that is in it', async () => {
	const { store } = await opened()
	const state = await store.network('ethereum')
	const { announcements, covered, ...rest } = state ?? { announcements: new Map(), covered: new Map() }
	expect({ ...rest, covered: new Map([...covered]) }).toEqual(expected)
	expect([...announcements.values()].map(({ id, block, status, revision }) => [id, block, status, revision])).toEqual([
		['1:announced', blockOf(95), 'announced', 0],
		['1:retracted', blockOf(96), 'retracted', 1],
		['1:again', blockOf(97), 'announced', 2],
	])
	expect(announcements.get('1:retracted')?.alerts[0]?.data.valueWei).toBe('1000000000000000000')
	const deliveries = (await store.deliveries()).map(({ id, status, attempts, lastError }) => [
		id,
		status,
		attempts,
		lastError,
	])
	expect(deliveries).toEqual([
		['msg_a', 'pending', 0, null],
		['msg_b', 'parked', 1, 'HTTP 410'],
		['msg_c', 'held', 0, null],
		['msg_d', 'dead', 1, 'HTTP 400'],
	])
	expect((await store.summary()).receivers.get('hook')).toMatchObject({ delivered: 1, lastDeliveredAtMs: NOW_MS })
})

test('behavior: it continues, and what was not touched is the same after the next start', async () => {
	const { store, open } = await opened()
	const made = await store.commit(commitOf({ checkpoint: blockOf(101) }))
	expect(made.announcements.get('1:retracted')).toMatchObject({ status: 'retracted', revision: 1 })
	await store.close()
	const again = await open()
	onTestFinished(() => again.close())
	expect(await again.network('ethereum')).toEqual(made)
})
