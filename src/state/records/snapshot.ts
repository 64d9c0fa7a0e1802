/**
 * A snapshot: the whole state as a list of records, one a line, so that `jq` can read it and it is never needed
 * in memory as a whole. Later changes are in the journal.
 */

import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { type CoverageTable, createCoverageTable } from '../../core/packed/coverageTable.js'
import type { Delivery } from '../../model/delivery.js'
import type { Address } from '../../model/glossary.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Coverage } from '../../model/watch.js'
import { booksOf } from '../bookShards.js'
import { emptyState, type NetworkRecord, type StateDoc } from '../document.js'
import type { Format } from '../file/disk/durable.js'
import { fromJson, toJson } from './codec.js'

export interface Snapshot {
	/** Number of the last line of the journal that it contains. */
	readonly line: number
	/** First segment of the journal that continues it. */
	readonly since: number
	/** Set until a copy of another state is complete. */
	readonly isCopyBegun?: true
	readonly whole: StateDoc
	/** Rows of history that are not in a place of their own yet. */
	readonly rows: readonly HistoryEntry[]
}

/** What of a network may need more than one line. All else is in the record that starts it. */
const MAPS = ['announcements', 'books', 'gaps', 'payees', 'contracts'] as const
type MapName = (typeof MAPS)[number]

type SnapshotHead = Omit<Snapshot, 'whole' | 'rows'>

/** Each record names its type; the records of a network follow the record that starts it. */
type SnapshotRecord =
	| SnapshotHead
	/** Everything else without lists. */
	| { readonly facts: Omit<StateDoc, 'networks' | 'deliveries'> }
	| { readonly network: string; readonly facts: Omit<NetworkRecord, MapName | 'covered'> }
	| { readonly map: MapName; readonly part: ReadonlyMap<unknown, unknown> }
	| { readonly covered: readonly Group[] }
	/** Addresses of the backfill with this index. */
	| { readonly backfill: number; readonly addresses: readonly Address[] }
	| { readonly deliveries: readonly Delivery[] }
	| { readonly history: readonly HistoryEntry[] }

/** Consecutive addresses with equal coverage. */
interface Group {
	readonly coverage: Coverage
	readonly addresses: readonly Address[]
}

export const snapshotFormat = {
	*encode(snapshot: Snapshot) {
		let before = '[\n'
		for (const record of recordsOf(snapshot)) {
			yield before + toJson(record)
			before = ',\n'
		}
		yield '\n]'
	},
	decodeLines: read,
} satisfies Format<Snapshot>

export function statePath(folder: string): string {
	return join(folder, 'state.json')
}

/** Items per line; a line takes a few milliseconds to make. */
const PER_LINE = { map: 50, books: 500, addresses: 1_000, groups: 50, deliveries: 20, history: 50 }

function* recordsOf({ whole, rows, ...head }: Snapshot): Iterable<SnapshotRecord> {
	const { networks, deliveries, ...rest } = whole
	yield head
	yield { facts: rest }
	for (const [network, { announcements, books, gaps, payees, contracts, covered, ...facts }] of networks) {
		const maps = { announcements, books, gaps, payees, contracts }
		yield { network, facts: { ...facts, backfills: facts.backfills.map((one) => ({ ...one, addresses: [] })) } }
		for (const map of MAPS) {
			const most = map === 'books' ? PER_LINE.books : PER_LINE.map
			for (const part of lots<readonly [unknown, unknown]>(maps[map] ?? [], most)) yield { map, part: new Map(part) }
		}
		for (const groups of groupLots(covered)) yield { covered: groups }
		for (const [backfill, { addresses }] of facts.backfills.entries())
			for (const some of lots(addresses, PER_LINE.addresses)) yield { backfill, addresses: some }
	}
	for (const some of lots(deliveries.values(), PER_LINE.deliveries)) yield { deliveries: some }
	for (const some of lots(rows, PER_LINE.history)) yield { history: some }
}

function* groupLots(covered: NetworkRecord['covered']): Iterable<readonly Group[]> {
	for (const some of lots(covered, PER_LINE.addresses)) {
		const groups: { coverage: Coverage; addresses: Address[] }[] = []
		for (const [address, coverage] of some) {
			const last = groups.at(-1)
			if (last?.coverage === coverage) last.addresses.push(address)
			else groups.push({ coverage, addresses: [address] })
		}
		yield* lots(groups, PER_LINE.groups)
	}
}

function* lots<T>(values: Iterable<T>, most: number): Iterable<readonly T[]> {
	let lot: T[] = []
	for (const value of values) {
		if (lot.push(value) < most) continue
		yield lot
		lot = []
	}
	if (lot.length > 0) yield lot
}

/** A network whose records are being read. */
type NetworkDraft = Omit<NetworkRecord, MapName> & { [K in MapName]?: Map<unknown, unknown> } & {
	readonly covered: CoverageTable
}

interface Reading {
	head: SnapshotHead | null
	facts: Omit<StateDoc, 'networks' | 'deliveries'>
	readonly networks: [name: string, NetworkDraft][]
	readonly deliveries: Map<string, Delivery>
	readonly rows: HistoryEntry[]
}

/** Throws for data that `recordsOf` did not make. */
async function read(lines: Iterable<string>): Promise<Snapshot> {
	const reading: Reading = { head: null, facts: emptyState, networks: [], deliveries: new Map(), rows: [] }
	for (const line of lines) {
		take(reading, fromJson(line) as SnapshotRecord)
		if (isSliceOver()) await nextSlice()
	}
	const { head, facts, deliveries, rows } = reading
	const records = reading.networks as unknown as readonly [string, NetworkRecord][]
	const networks = new Map(records.map(([name, record]) => [name, { ...record, books: booksOf(record.books) }]))
	return { ...mustFind(head), whole: { ...facts, networks, deliveries }, rows }
}

function take(reading: Reading, record: SnapshotRecord): void {
	const network = () => mustFind(reading.networks.at(-1))[1]
	if ('since' in record) reading.head = record
	else if ('network' in record) {
		const { network: name, facts } = record
		if (typeof facts.checkpoint.number !== 'bigint') throw new Error('a checkpoint without a number')
		const maps = { announcements: new Map(), books: new Map(), gaps: new Map(), contracts: new Map() }
		reading.networks.push([name, { ...facts, ...maps, covered: createCoverageTable() }])
	} else if ('facts' in record) reading.facts = record.facts
	else if ('map' in record) {
		network()[record.map] ??= new Map()
		for (const [key, value] of record.part) network()[record.map]?.set(key, value)
	} else if ('covered' in record) {
		for (const { addresses, coverage } of record.covered)
			for (const address of addresses) network().covered.set(address, coverage)
	} else if ('backfill' in record) {
		const own = mustFind(network().backfills[record.backfill]).addresses as Address[]
		own.push(...record.addresses)
	} else if ('deliveries' in record)
		for (const one of record.deliveries) reading.deliveries.set(one.id, deliveryIn(one))
	else if ('history' in record) reading.rows.push(...record.history)
	else throw new Error('a record of no known kind')
}

/** Validates what the code that shows or sends deliveries relies on; a database has no checksum. */
function deliveryIn(one: Delivery): Delivery {
	const { type, data } = one.message
	if (![one.id, one.receiver, one.status, type].every((text) => typeof text === 'string') || typeof data !== 'object')
		throw new Error('no delivery')
	return one
}

function mustFind<T>(found: T | undefined | null): T {
	if (found === undefined || found === null) throw new Error('a record is before the record that it belongs to')
	return found
}
