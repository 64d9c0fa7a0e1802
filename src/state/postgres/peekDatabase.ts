/** Short operations on a database that instances may be using: reading a state, and copying a whole one. */

import { StateError } from '../../errors.js'
import type { Contract } from '../../model/contract.js'
import type { Address, Clock } from '../../model/glossary.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Announcement } from '../../model/state.js'
import type { Whole } from '../document.js'
import type { Peek } from '../file/peek.js'
import { type Database, openDatabase } from './connection/database.js'
import { createSkew, type Skew } from './connection/skew.js'
import { hasTables, prepareTables } from './connection/tables.js'
import { readDeliveries } from './deliveries/outbox.js'
import { readReceivers } from './deliveries/waitingCounts.js'
import { readAnnouncements } from './networks/announcements.js'
import { readContracts } from './networks/contractRows.js'
import { readNetworks } from './networks/networks.js'
import { readWhole, writeWhole } from './whole.js'

const STANDSTILL_MS = 30_000
const HELD = 'select 1 from tracewatch.lease where expires > clock_timestamp() limit 1'

/** Reads the state without changing anything. Null when this database has no state of tracewatch. Throws StateError. */
export async function peekPostgres(url: string, clock: Clock): Promise<Peek | null> {
	return await withDatabase(url, clock, async (database, skew) => {
		if (!(await hasTables(database.ask, database.host))) return null
		return await database.snapshot(async (ask) => ({
			summary: { networks: await readNetworks(ask, skew), receivers: await readReceivers(ask, skew) },
			deliveries: await readDeliveries(ask, skew),
			history: [],
			isPolled: (await ask(HELD)).length > 0,
		}))
	})
}

/** Empty when this database has no state of tracewatch. Throws StateError. */
export async function peekContractRows(
	url: string,
	network: string,
	clock: Clock,
): Promise<ReadonlyMap<Address, Contract>> {
	return await peekRows(url, clock, (ask) => readContracts(ask, network))
}

/** As `peekContractRows`. */
export async function peekAnnouncementRows(
	url: string,
	network: string,
	clock: Clock,
): Promise<ReadonlyMap<string, Announcement>> {
	return await peekRows(url, clock, (ask) => readAnnouncements(ask, network))
}

async function peekRows<K, V>(
	url: string,
	clock: Clock,
	read: (ask: Database['ask']) => Promise<ReadonlyMap<K, V>>,
): Promise<ReadonlyMap<K, V>> {
	return await withDatabase(url, clock, async ({ ask, host }) => {
		if (!(await hasTables(ask, host))) return new Map()
		return await read(ask)
	})
}

/** The whole state, for `wholeState.ts`. Null when there is none. Throws StateError `locked` while a daemon uses it. */
export async function readPostgres(url: string, clock: Clock): Promise<Whole | null> {
	return await withDatabase(url, clock, async (database, skew) => {
		if (!(await hasTables(database.ask, database.host))) return null
		return await database.snapshot(async (ask) => {
			if ((await ask(HELD)).length > 0) {
				throw new StateError(
					'locked',
					`the database at ${database.host} is in use by a running tracewatch: stop every one first; ` +
						'after a kill, wait until its lease has ended (30 s)',
				)
			}
			return await readWhole(ask, skew)
		})
	})
}

/** Creates the tables if necessary. Throws StateError `mismatch` when there is a state already. */
export async function writePostgres(
	url: string,
	whole: Whole,
	history: AsyncIterable<readonly HistoryEntry[]>,
	clock: Clock,
): Promise<void> {
	await withDatabase(url, clock, async (database, skew) => {
		await prepareTables(database)
		await writeWhole(database, whole, history, skew)
	})
}

async function withDatabase<T>(
	url: string,
	clock: Clock,
	work: (database: Database, skew: Skew) => Promise<T>,
): Promise<T> {
	const database = openDatabase(url, { connections: 1, standstillMs: STANDSTILL_MS })
	try {
		const skew = createSkew(database.ask, clock, undefined, null)
		await skew.measure()
		return await work(database, skew)
	} finally {
		await database.close()
	}
}
