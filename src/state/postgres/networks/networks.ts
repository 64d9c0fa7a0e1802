/**
 * The room stores what is known of each network, under its lease. This file: checkpoints, announcements and coverage. A
 * change is computed in memory by the same rules as for a folder, and only the differences are written, in one
 * transaction under the lease. Networks are cached with the revision that was read or written last, so that a poll
 * reads one small row, however many addresses are watched.
 */

import { randomBytes } from 'node:crypto'
import type { Delivery } from '../../../model/delivery.js'
import type { Commit, Enrolment, NetworkState, NetworkSummary } from '../../../model/state.js'
import { noBooks } from '../../bookShards.js'
import { applyCommit, type Draft } from '../../changes.js'
import { definitionsOf, withCovered } from '../../coverageChanges.js'
import type { CoverageRecord, Definition, NetworkRecord } from '../../document.js'
import { emptyState, mustHave, networkState, summarize } from '../../document.js'
import type { Ask, Database } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { readAnnouncements, writeAnnouncements } from './announcements.js'
import { noRows, openBooks, type RowBooks, writeBooks } from './bookRows.js'
import { readContracts, writeContracts } from './contractRows.js'
import { readBackfills, readCoverage, writeBackfills, writeCoverage, writeProgress } from './coverageRows.js'
import type { Leases } from './leases.js'
import { type NetworkRow, recordOf, writeRow } from './networkRow.js'
import { readPayees, writePayees } from './payeeRows.js'

export interface Networks {
	state(name: string): Promise<NetworkState | null>
	/** `added`: number of deliveries added. */
	commit(change: Commit): Promise<{ readonly state: NetworkState; readonly added: number }>
	enrol(name: string, change: Enrolment): Promise<NetworkState>
	summaries(): Promise<ReadonlyMap<string, NetworkSummary>>
}

export interface NetworksOptions {
	readonly database: Database
	readonly leases: Pick<Leases, 'fence'>
	readonly skew: Skew
	/** By this instance's clock. */
	readonly nowMs: () => number
	/** Adds deliveries within the transaction; resolves to their number. */
	readonly post: (ask: Ask, deliveries: readonly Delivery[]) => Promise<number>
	/** Adds history rows within the transaction, for deliveries that others stand for. */
	readonly keepFolded: (ask: Ask, deliveries: readonly Delivery[]) => Promise<void>
}

/** A network at one revision. */
interface Known {
	readonly revision: number
	readonly coverageRevision: number
	readonly record: NetworkRecord & { readonly books: RowBooks }
	readonly coverage: CoverageRecord
}

export function createNetworks({ database, leases, skew, nowMs, post, keepFolded }: NetworksOptions): Networks {
	const known = new Map<string, Known>()
	/** For summaries of networks that other instances poll. */
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
		const record = {
			...recordOf(row, skew),
			announcements: await readAnnouncements(ask, name),
			progress: backfills.progress,
			books: await openBooks(ask, database.ask, name),
			...(await readPayees(ask, name)),
			contracts: await readContracts(ask, name),
		}
		return { revision: row.revision, coverageRevision: row.coverage_revision, record, coverage }
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

		async commit({ deliveries = [], folded = [], books: changes = new Map(), ...step }) {
			const name = step.network
			const [now, added] = await database.transact(async (ask) => {
				await leases.fence(ask, name)
				const before = await read(ask, name)
				const books = before?.record.books ?? noRows(database.ask, name)
				await books.load(changes.keys(), ask)
				const record = { ...committed(before, step, nowMs()), books: books.after(changes) }
				const revision = (before?.revision ?? 0) + 1
				await writeRow(ask, { name, record, revision }, skew)
				await writeAnnouncements(ask, name, before?.record.announcements ?? new Map(), record.announcements)
				await writeProgress(ask, name, changedProgress(before, record))
				await writeBooks(ask, name, changes)
				await writeContracts(ask, name, step.contracts ?? new Map())
				await writePayees(ask, name, before?.record.payees, record.payees)
				const added = await post(ask, deliveries)
				await keepFolded(ask, folded)
				const { coverageRevision = 0, coverage = { covered: new Map(), backfills: [] } } = before ?? {}
				return [{ revision, coverageRevision, record, coverage }, added] as const
			})
			keep(name, now)
			return { state: networkState(now.record, now.coverage), added }
		},

		async enrol(name, change) {
			const now = await database.transact(async (ask) => {
				await leases.fence(ask, name)
				const before = await read(ask, name)
				const record = mustHave(name, before?.record)
				const documents = new Map(before === null ? [] : [[name, before.coverage]])
				const definitions = definitionsOf(change, before?.coverage, record, newToken)
				const coverage = withCovered(documents, name, change.covered, definitions).get(name)
				if (before === null || coverage === undefined || coverage === before.coverage) return before
				await writeCoverage(ask, name, change.covered)
				if (definitions !== null) await writeBackfills(ask, name, definitions)
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
 * By name. `known` caches the definitions of backfills between calls: they may name many addresses, and rarely change.
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
		networks.set(name, {
			...recordOf(row, skew),
			announcements: new Map(),
			progress: new Map(done),
			books: noBooks,
			contracts: new Map(),
		})
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
