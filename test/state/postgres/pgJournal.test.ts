import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.js'
import { emptyState } from '../../../src/state/document.js'
import { readCopyRows } from '../../../src/state/postgres/keptRows.js'
import { pgJournal } from '../../../src/state/postgres/pgJournal.js'
import { standingClock } from '../../support/standingClock.js'
import { storeContract } from '../contract.js'
import { contentOf, copiesOf } from '../copySets.js'
import { deliveryOf } from '../samples.js'
import { openPgStore } from './pgStore.js'
import { emptied, startServer } from './server.js'

const server = await startServer()

afterAll(() => server?.stop())

describe.skipIf(server === null)('PostgreSQL', () => {
	if (server === null) return
	storeContract('store in PostgreSQL', async () => ({
		open: (clock) => openPgStore(server.url(), { clock }),
		remove: () => emptied(server),
	}))

	test('error: a snapshot cannot be written: nothing of it takes room, and the next one is written', async () => {
		const url = await server.fresh('parts')
		const journal = pgJournal(url)
		onTestFinished(() => journal.close())
		await journal.acquire()
		const parts = async () =>
			(await server.sql<{ id: string }>('select distinct id from tracewatch.snapshot', [], 'parts')).length
		const whole = { ...emptyState, deliveries: new Map(Array.from({ length: 2_000 }, (_, at) => large(`d${at}`))) }
		await journal.compact(whole, null)
		expect(await parts()).toBe(1)
		// As on a full disk: the second part is refused.
		const [head] = await server.sql<{ id: string }>('select snapshot as id from tracewatch.head', [], 'parts')
		const first = `check (part = 0 or id = '${head?.id}') not valid`
		await server.sql(`alter table tracewatch.snapshot add constraint full_disk ${first}`, [], 'parts')
		await expect(journal.compact(whole, null)).rejects.toThrow(/the database/)
		expect(await parts()).toBe(1)
		await server.sql('alter table tracewatch.snapshot drop constraint full_disk', [], 'parts')
		await journal.compact(whole, null)
		expect(await parts()).toBe(1)
	})

	test('copies of watchlists: a text is written once, and removed when no list has it', async () => {
		const url = await server.fresh('kept')
		const found = async () => await contentOf(await readCopyRows(url))
		expect(await readCopyRows(url)).toBeNull()
		const store = await openPgStore(url, { clock: standingClock, leaseMs: 300_000 })
		onTestFinished(() => store.close())
		const first = copiesOf(['network: a', 'b', 'b', `\ufeff${'0x12,Größe \u{1f600}'.repeat(50_000)}`], 'one')
		await store.keepWatchlists(first)
		expect(await found()).toEqual(await contentOf(first))
		const rows = () =>
			server.sql<{ name: string; xmin: string }>('select key as name, xmin::text from tracewatch.kept', [], 'kept')
		const before = await rows()
		await store.keepWatchlists({ ...first, chunks: () => expect.unreachable('nothing is to be read') })
		expect(await rows()).toEqual(before)

		const second = copiesOf(['network: a', 'c'], 'two')
		await store.keepWatchlists(second)
		expect(await found()).toEqual(await contentOf(second))
		const after = await rows()
		expect(after.map(({ name }) => name).toSorted()).toEqual(
			['copies', ...second.files.map(({ digest }) => `copy ${digest} 0`)].toSorted(),
		)
		const plain = `copy ${second.files[0]?.digest} 0`
		expect(after.find(({ name }) => name === plain)).toEqual(before.find(({ name }) => name === plain))
	})
})

function large(id: string): [string, Delivery] {
	return [id, deliveryOf(id, { lastError: 'x'.repeat(400) })]
}
