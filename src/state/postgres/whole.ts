/** Reads a whole state from the database, or writes it to an empty one. */

import { StateError } from '../../errors.js'
import type { HistoryEntry } from '../../model/history.js'
import { type CoverageRecord, emptyHistory, type NetworkRecord, type Whole } from '../document.js'
import type { Ask, Database } from './connection/database.js'
import type { Skew } from './connection/skew.js'
import { lockSchema } from './connection/tables.js'
import { insertHistory } from './deliveries/historyQueries.js'
import { insertDeliveries, readDeliveries } from './deliveries/outbox.js'
import { readReceivers } from './deliveries/waitingCounts.js'
import { readAnnouncements, writeAnnouncements } from './networks/announcements.js'
import { readBooks, writeBooks } from './networks/bookRows.js'
import { readContracts, writeContracts } from './networks/contractRows.js'
import { readBackfills, readCoverage, writeBackfills, writeCoverage, writeProgress } from './networks/coverageRows.js'
import { type NetworkRow, recordOf, writeRow } from './networks/networkRow.js'
import { readPayees, writePayees } from './networks/payeeRows.js'
import { readTroubleRow, writeTroubleRow } from './troubleRow.js'

/** Inside a snapshot. */
export async function readWhole(ask: Ask, skew: Skew): Promise<Whole> {
	const networks = new Map<string, NetworkRecord>()
	const coverage = new Map<string, CoverageRecord>()
	for (const row of await ask<NetworkRow>('select * from tracewatch.network order by name')) {
		const { definitions, progress } = await readBackfills(ask, row.name)
		networks.set(row.name, {
			...recordOf(row, skew),
			announcements: await readAnnouncements(ask, row.name),
			progress,
			books: await readBooks(ask, row.name),
			...(await readPayees(ask, row.name)),
			contracts: await readContracts(ask, row.name),
		})
		coverage.set(row.name, { covered: await readCoverage(ask, row.name), backfills: definitions })
	}
	const deliveries = new Map((await readDeliveries(ask, skew)).map((one) => [one.id, one]))
	const totals = new Map(
		[...(await readReceivers(ask, skew))].flatMap(([receiver, { delivered, lastDeliveredAtMs }]) =>
			delivered === 0 ? [] : [[receiver, { delivered, lastDeliveredAtMs }]],
		),
	)
	// `wholeState.ts` reads the history by itself, in pieces.
	const troubles = await readTroubleRow(ask)
	const state = { networks, deliveries, totals, history: emptyHistory }
	return { state, coverage, ...(troubles && { troubles }) }
}

/**
 * All or nothing. Current leases are lost, because their owners computed their changes from an empty state. Throws
 * StateError `mismatch` when there is a state already.
 */
export async function writeWhole(
	database: Database,
	{ state, coverage, troubles }: Whole,
	history: AsyncIterable<readonly HistoryEntry[]>,
	skew: Skew,
): Promise<void> {
	await database.transact(async (ask) => {
		await lockSchema(ask)
		await ask('lock table tracewatch.network, tracewatch.delivery, tracewatch.total in share row exclusive mode')
		const [found] = await ask<{ used: boolean }>(USED)
		if (found?.used) {
			throw new StateError(
				'mismatch',
				`the database at ${database.host} holds a state already, and nothing was changed: name an empty one`,
			)
		}
		await ask(DISOWN, [[...state.networks.keys()]])
		if (troubles !== undefined) await writeTroubleRow(ask, troubles)
		for (const [name, record] of state.networks) {
			await writeRow(ask, { name, record, revision: 1 }, skew)
			await writeAnnouncements(ask, name, new Map(), record.announcements)
			const covered = coverage.get(name)
			await writeCoverage(ask, name, covered?.covered ?? new Map())
			await writeBackfills(ask, name, covered?.backfills ?? [])
			await writeProgress(ask, name, record.progress)
			await writeBooks(ask, name, record.books)
			await writePayees(ask, name, undefined, record.payees)
			await writeContracts(ask, name, record.contracts)
		}
		await insertDeliveries(ask, [...state.deliveries.values()], skew)
		let last = 0
		for await (const piece of history) {
			await insertHistory(ask, piece, skew)
			last = piece.at(-1)?.seq ?? last
		}
		// What a folder has not written to its files yet.
		await insertHistory(
			ask,
			state.history.entries.filter(({ seq }) => seq > last),
			skew,
		)
		for (const [receiver, { delivered, lastDeliveredAtMs }] of state.totals) {
			const last = lastDeliveredAtMs === null ? null : skew.toDatabase(lastDeliveredAtMs)
			await ask('insert into tracewatch.total values ($1, $2, $3)', [receiver, delivered, last])
		}
	})
}

const USED = `
	select exists (select from tracewatch.network) or exists (select from tracewatch.delivery)
		or exists (select from tracewatch.total) or exists (select from tracewatch.history) as used`

const DISOWN = `
	insert into tracewatch.lease as l (network, owner, epoch, expires) select unnest($1::text[]), '', 1, '-infinity'
	on conflict (network) do update
		set owner = '', epoch = l.epoch + 1, expires = '-infinity', released = false, wanted = false`
