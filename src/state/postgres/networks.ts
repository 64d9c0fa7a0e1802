/**
 * Checkpoints, announced alerts and coverage. A change is worked out in memory, by the same rules as for a file, and
 * only what differs is written, in one transaction under the lease. What is known is kept, with the revision that it
 * was read or written at: a poll then reads one small row, however many addresses are watched.
 */

import { randomBytes } from 'node:crypto'
import type { Delivery } from '../../model/delivery.js'
import type { Commit, Enrolment, NetworkState, NetworkSummary } from '../../model/state.js'
import { bookTableOf } from '../bookTable.js'
import { applyCommit, type Draft, mustHave } from '../changes.js'
import type { CoverageRecord, Definition, NetworkRecord } from '../document.js'
import { emptyState, networkState, summarize } from '../document.js'
import { applyEnrolment } from '../enrolment.js'
import { readAnnouncements, writeAnnouncements } from './announcements.js'
import { noSheets, readBooks, type SheetPlan, writeBooks } from './books.js'
import { readBackfills, readCoverage, writeBackfills, writeCoverage, writeProgress } from './coverage.js'
import type { Ask, Database } from './database.js'
import type { Leases } from './leases.js'
import { type NetworkRow, recordOf, writeRow } from './networkRow.js'
import { readPayees, writePayees } from './payees.js'
import type { Skew } from './skew.js'

export interface Networks {
	state(name: string): Promise<NetworkState | null>
	/** `added`: how many deliveries. `sheets`: how many of the books were written. */
	commit(change: Commit): Promise<{ readonly state: NetworkState; readonly added: number; readonly sheets: number }>
	enrol(name: string, change: Enrolment): Promise<NetworkState>
	summaries(): Promise<ReadonlyMap<string, NetworkSummary>>
}

export interface NetworksOptions {
	readonly database: Database
	readonly leases: Pick<Leases, 'fence'>
	readonly skew: Skew
	/** By this instance's clock. */
	readonly nowMs: () => number
	/** Adds deliveries within the transaction; resolves to how many. */
	readonly post: (ask: Ask, deliveries: readonly Delivery[]) => Promise<number>
}

/** A network as of one revision. */
interface Known {
	readonly revision: number
	readonly coverageRevision: number
	readonly record: NetworkRecord
	readonly coverage: CoverageRecord
	/** Of the books in the record. */
	readonly sheets: SheetPlan
}

export function createNetworks({ database, leases, skew, nowMs, post }: NetworksOptions): Networks {
	const known = new Map<string, Known>()
	/** For summaries of networks that others poll. */
	const definitions = new Map<string, Definitions>()

	async function read(ask: Ask, name: string): Promise<Known | null> {
		const [row] = await ask<NetworkRow>('select * from tracewatch.network where name = $1', [name])
		if (row === undefined) return null
		const before = known.get(name)
		if (before?.revision === row.revision) return before
		const backfills = await readBackfills(ask, name)
		const coverage =
			before?.coverageRevision === row.coverage_revision
				? before.coverage
				: { covered: await readCoverage(ask, name), backfills: backfills.definitions }
		const { books, sheets } = await readBooks(ask, name)
		const record = {
			...recordOf(row, skew),
			announcements: await readAnnouncements(ask, name),
			progress: backfills.progress,
			books,
			...(await readPayees(ask, name)),
		}
		return { revision: row.revision, coverageRevision: row.coverage_revision, record, coverage, sheets }
	}

	function keep(name: string, now: Known | null): void {
		if (now === null) known.delete(name)
		else known.set(name, now)
	}

	return {
		async state(name) {
			const [row] = await database.ask<{ revision: number }>(
				'select revision from tracewatch.network where name = $1',
				[name],
			)
			if (row === undefined || known.get(name)?.revision !== row.revision) {
				keep(name, row === undefined ? null : await database.snapshot((ask) => read(ask, name)))
			}
			const now = known.get(name)
			return now === undefined ? null : networkState(now.record, now.coverage)
		},

		async commit({ deliveries = [], ...step }) {
			const name = step.network
			const [now, added, written] = await database.transact(async (ask) => {
				await leases.fence(ask, name)
				const before = await read(ask, name)
				const record = committed(before, step, nowMs())
				const revision = (before?.revision ?? 0) + 1
				await writeRow(ask, name, record, revision, skew)
				await writeAnnouncements(ask, name, before?.record.announcements ?? new Map(), record.announcements)
				await writeProgress(ask, name, changedProgress(before, record))
				const { sheets = noSheets } = before ?? {}
				const changed = [...(step.books?.keys() ?? [])]
				const written =
					changed.length === 0 ? 0 : await writeBooks(ask, name, bookTableOf(record.books), sheets, changed)
				await writePayees(ask, name, before?.record.payees, record.payees)
				const added = await post(ask, deliveries)
				const { coverageRevision = 0, coverage = { covered: new Map(), backfills: [] } } = before ?? {}
				return [{ revision, coverageRevision, record, coverage, sheets }, added, written] as const
			})
			keep(name, now)
			return { state: networkState(now.record, now.coverage), added, sheets: written }
		},

		async enrol(name, change) {
			const now = await database.transact(async (ask) => {
				await leases.fence(ask, name)
				const before = await read(ask, name)
				const record = mustHave(name, before?.record)
				const documents = new Map(before === null ? [] : [[name, before.coverage]])
				const coverage = applyEnrolment(documents, name, change, record, newToken).get(name)
				if (before === null || coverage === undefined || coverage === before.coverage) return before
				await writeCoverage(ask, name, change.covered)
				if (change.backfills !== null) await writeBackfills(ask, name, coverage.backfills)
				const revision = before.revision + 1
				await ask('update tracewatch.network set revision = $2, coverage_revision = $2 where name = $1', [
					name,
					revision,
				])
				return { ...before, revision, coverageRevision: revision, coverage }
			})
			keep(name, now)
			return networkState(mustHave(name, now?.record), now?.coverage)
		},

		summaries: () => readNetworks(database.ask, skew, definitions),
	}
}

interface Definitions {
	readonly revision: number
	readonly list: readonly Definition[]
}

/**
 * By name. `known` keeps definitions of backfills from one time to the next: they may name many addresses, and rarely
 * change.
 */
export async function readNetworks(
	ask: Ask,
	skew: Skew,
	known: Map<string, Definitions> = new Map(),
): Promise<ReadonlyMap<string, NetworkSummary>> {
	const networks = new Map<string, NetworkRecord>()
	const coverage = new Map<string, CoverageRecord>()
	for (const row of await ask<SummaryRow>(SUMMARY)) {
		const { name, coverage_revision, progress } = row
		let definitions = known.get(name)
		if (definitions?.revision !== coverage_revision) {
			definitions = { revision: coverage_revision, list: (await readBackfills(ask, name)).definitions }
			known.set(name, definitions)
		}
		const done = (progress ?? []).flatMap(([token, next]) => (next === null ? [] : [[token, BigInt(next)] as const]))
		networks.set(name, { ...recordOf(row, skew), announcements: new Map(), progress: new Map(done), books: new Map() })
		coverage.set(name, { covered: new Map(), backfills: definitions.list })
	}
	return summarize({ ...emptyState, networks }, coverage).networks
}

interface SummaryRow extends NetworkRow {
	readonly progress: readonly (readonly [token: string, next: string | null])[] | null
}

const SUMMARY = `
	select n.*, (
		select json_agg(json_build_array(token, next::text)) from tracewatch.backfill b where b.network = n.name
	) as progress
	from tracewatch.network n order by n.name`

function committed(before: Known | null, step: Commit, nowMs: number): NetworkRecord {
	const networks = new Map(before === null ? [] : [[step.network, before.record]])
	const draft: Draft = { networks, deliveries: new Map(), totals: new Map(), history: null, changed: false }
	const coverage = new Map(before === null ? [] : [[step.network, before.coverage]])
	return applyCommit(draft, step, coverage, nowMs).record
}

function changedProgress(before: Known | null, { progress }: NetworkRecord): ReadonlyMap<string, bigint> {
	return new Map([...progress].filter(([token, next]) => before?.record.progress.get(token) !== next))
}

function newToken(): string {
	return randomBytes(6).toString('hex')
}
