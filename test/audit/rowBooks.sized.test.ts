// Books in a database, of which only those in question are read: the same is found as with all of them in memory.
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Book } from '../../src/model/books.js'
import type { Address } from '../../src/model/glossary.js'
import { openPostgresStore } from '../../src/state/postgres/postgresStore.js'
import { type Bench, openBench, watchOf } from '../scan/bench.js'
import { startServer } from '../state/postgres/server.js'
import { readState } from '../state/samples.js'
import { startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { sized } from '../support/longRun.js'

const server = await startServer()
afterAll(async () => {
	await server?.stop()
})

describe.skipIf(server === null)('books in a database', () => {
	test('default: after payments, edits, reorganisations and restarts the same is there as in a folder', async () => {
		if (server === null) return
		const node = await startTestAnvil()
		onTestFinished(() => node.stop())
		const accounts = (await node.accounts()) as Address[]
		const watches = accounts.slice(0, 6).map((address) => watchOf(address, { kinds: ['transfer', 'unexplained'] }))
		const url = await server.fresh('followed')
		const openRows = () => openBench({ ...options, openStore: (clock) => openPostgresStore(url, { ...leases, clock }) })
		const options = { urls: [node.url], watches }
		const leases = { leaseMs: 30_000, skewMs: 0 }
		const folder = await openBench(options)
		onTestFinished(() => folder.close())
		let rows = await openRows()
		onTestFinished(() => rows.close())
		const chance = createChance(11)
		let watched = watches
		let snapshot = await node.rpc('evm_snapshot')
		for (let step = 1; step <= sized(30, 200); step++) {
			const one = accounts[chance.number(6)] as Address
			const act = chance.number(8)
			if (act === 0) await node.rpc('anvil_setBalance', [one, `0x${(10n ** 21n + BigInt(step)).toString(16)}`])
			if (act === 1) {
				const head = await node.head()
				await node.rpc('evm_revert', [snapshot])
				snapshot = await node.rpc('evm_snapshot')
				// A shorter chain is one that the endpoint does not have yet.
				await node.mine(Number(head - (await node.head())))
			}
			if (act === 2) {
				await rows.close()
				rows = await openRows()
			}
			if (act === 3) watched = watches.slice(0, 4)
			if (act === 4) watched = watches
			for (const bench of [folder, rows]) bench.setWatches(watched)
			if (act === 5) snapshot = await node.rpc('evm_snapshot')
			if (act > 5) await node.send({ from: one, to: accounts[chance.number(10)] as Address, valueWei: BigInt(step) })
			await node.mine(1 + chance.number(3))
			await folder.settle()
			await rows.settle()
			expect(await booksOf(rows), `after step ${step}`).toEqual(await booksOf(folder))
		}
		expect((await booksOf(rows)).size).toBeGreaterThan(2)
		const found = await idsOf(folder)
		expect(found.filter((id) => id.includes(':unexplained:')).length).toBeGreaterThan(0)
		expect(await idsOf(rows)).toEqual(found)
	})
})

/** Without `movedAt`, which may be later than the true block: a restart forgets what was read meanwhile. */
async function booksOf({ store }: Bench) {
	const books = (await readState(await store.network('local')))?.books ?? new Map<Address, Book>()
	return new Map([...books].map(([address, { movedAt, ...book }]) => [address, book]))
}

async function idsOf(bench: Bench): Promise<readonly string[]> {
	const posted = await bench.posted()
	return posted.flatMap(({ message: { data } }) => ('id' in data ? [String(data.id)] : [])).sort()
}
