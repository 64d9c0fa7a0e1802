/** The store in a database, with leases of a test's own. */

import type { Store } from '../../../src/model/ports.js'
import { type PgJournalOptions, pgJournal } from '../../../src/state/postgres/pgJournal.js'
import { openStoreOn, type StoreOptions } from '../../../src/state/store.js'

export async function openPgStore(url: string, options: StoreOptions & PgJournalOptions): Promise<Store> {
	const { log, leaseMs, owner, isBeside, ...rest } = options
	const own = {
		...(log && { log }),
		...(leaseMs && { leaseMs }),
		...(owner && { owner }),
		...(isBeside && { isBeside }),
	}
	const journal = pgJournal(url, own)
	try {
		return await openStoreOn(journal, { ...rest, ...(log && { log }) })
	} catch (error) {
		await journal.close()
		throw error
	}
}
