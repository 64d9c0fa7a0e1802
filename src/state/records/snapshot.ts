/**
 * A snapshot: the whole state as a list of records, one a line, so that `jq` can read it and it is never needed
 * in memory as a whole. Later changes are in the journal.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { type CoverageTable, coverageTableOf, createCoverageTable } from '../../core/packed/coverageTable.js'
import type { Book } from '../../model/books.js'
import type { Contract } from '../../model/contract.js'
import type { Delivery } from '../../model/delivery.js'
import type { Address } from '../../model/glossary.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Announcement, Gap, Payee } from '../../model/state.js'
import type { Troubles } from '../../model/trouble.js'
import { booksOf } from '../bookShards.js'
import type { CoverageRecord, Definition, NetworkRecord, Total, Whole } from '../document.js'
import type { Format } from '../file/disk/durable.js'
import { type ContractsJson, contractsIn, contractsJson } from './contractText.js'
import { gapsOf, type StoredGap, storedGap } from './gap.js'
import {
	type AnnouncementJson,
	addressesAt,
	announcementIn,
	announcementJson,
	type BooksJson,
	booksIn,
	booksJson,
	coverageIn,
	deliveryIn,
	type GroupJson,
	groupsOf,
	type NetworkJson,
	networkIn,
	networkJson,
	type PayeesJson,
	type PlaceJson,
	payeesIn,
	payeesJson,
	placesOf,
	type SpanJson,
	spanJson,
	spanOf,
} from './records.js'

export interface Snapshot {
	/** Id that the journal of this snapshot names. */
	readonly id: string
	/** Id of the snapshot before, whose journal is contained in this one. Null: there was none. */
	readonly before: string | null
	readonly whole: Whole
}

/** Each record names its type; the records of a network follow the record that starts it. */
type SnapshotRecord =
	| { readonly snapshot: string; readonly before: string | null }
	| ({ readonly network: string } & NetworkJson)
	| { readonly announcements: string; readonly entries: readonly AnnouncementJson[] }
	| { readonly books: string; readonly entries: BooksJson }
	| { readonly gaps: string; readonly entries: readonly StoredGap[] }
	| { readonly payees: string; readonly entries: PayeesJson }
	| { readonly contracts: string; readonly entries: ContractsJson }
	/** Also present for a network without covered addresses. */
	| { readonly coverage: string; readonly entries: readonly GroupJson[] }
	| { readonly backfill: string; readonly id: string; readonly token: string; readonly span: SpanJson }
	/** Belongs to the last backfill. */
	| { readonly places: readonly PlaceJson[] }
	| { readonly totals: Readonly<Record<string, Total>> }
	| { readonly deliveries: readonly Delivery[] }
	| { readonly history: number; readonly entries: readonly HistoryEntry[] }
	| { readonly troubles: Troubles }

export const snapshotFormat = {
	*encode(snapshot: Snapshot) {
		let before = '[\n'
		for (const record of recordsOf(snapshot)) {
			yield before + JSON.stringify(record)
			before = ',\n'
		}
		yield '\n]'
	},
	decodeLines: read,
} satisfies Format<Snapshot>

export function statePath(folder: string): string {
	return join(folder, 'state.json')
}

export function freshId(): string {
	return randomBytes(6).toString('hex')
}

/** Items per line; a line takes a few milliseconds to make. */
const PER_LINE = {
	announcements: 50,
	books: 500,
	payees: 50,
	contracts: 50,
	groups: 50,
	places: 500,
	deliveries: 20,
	history: 50,
}
/** Addresses per line of coverage. */
const ADDRESSES = 1_000

function* recordsOf({ id, before, whole: { state, coverage, troubles } }: Snapshot): Iterable<SnapshotRecord> {
	yield { snapshot: id, before }
	for (const [network, record] of state.networks) {
		yield { network, ...networkJson(record) }
		const { announcements, books, gaps, payees, contracts } = record
		for (const some of lots(announcements.values(), PER_LINE.announcements))
			yield { announcements: network, entries: some.map(announcementJson) }
		for (const some of lots(books, PER_LINE.books)) yield { books: network, entries: booksJson(some) }
		if (gaps.size > 0) yield { gaps: network, entries: [...gaps.values()].map(storedGap) }
		for (const some of lots(payees ?? [], PER_LINE.payees)) yield { payees: network, entries: payeesJson(some) }
		for (const some of lots(contracts, PER_LINE.contracts)) yield { contracts: network, entries: contractsJson(some) }
	}
	for (const [network, { covered, backfills }] of coverage) {
		yield { coverage: network, entries: [] }
		for (const entries of groupLots(covered)) yield { coverage: network, entries }
		const table = coverageTableOf(covered)
		for (const backfill of backfills) {
			const { id, token, span } = backfill
			yield { backfill: network, id, token, span: spanJson(span) }
			for (const places of placeLots(backfill, table)) yield { places }
		}
	}
	if (state.totals.size > 0) yield { totals: Object.fromEntries(state.totals) }
	for (const deliveries of lots(state.deliveries.values(), PER_LINE.deliveries)) yield { deliveries }
	const { next, entries } = state.history
	if (next > 1) yield { history: next, entries: [] }
	for (const some of lots(entries, PER_LINE.history)) yield { history: next, entries: some }
	if (troubles !== undefined) yield { troubles }
}

function* groupLots(covered: CoverageRecord['covered']): Iterable<readonly GroupJson[]> {
	let lot: GroupJson[] = []
	let size = 0
	for (const group of groupsOf(covered, ADDRESSES)) {
		lot.push(group)
		size += group.addresses.length
		if (size < ADDRESSES && lot.length < PER_LINE.groups) continue
		yield lot
		lot = []
		size = 0
	}
	if (lot.length > 0) yield lot
}

function* placeLots(backfill: Definition, covered: CoverageTable): Iterable<readonly PlaceJson[]> {
	let lot: PlaceJson[] = []
	let size = 0
	for (const place of placesOf(backfill, covered, ADDRESSES)) {
		lot.push(place)
		size += typeof place === 'string' ? 1 : place[1] - place[0] + 1
		if (size < ADDRESSES && lot.length < PER_LINE.places) continue
		yield lot
		lot = []
		size = 0
	}
	if (lot.length > 0) yield lot
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

interface NetworkBuilder {
	readonly facts: ReturnType<typeof networkIn>
	readonly announcements: Map<string, Announcement>
	readonly books: Map<Address, Book>
	gaps: ReadonlyMap<bigint, Gap>
	readonly payees: Map<Address, readonly Payee[]>
	readonly contracts: Map<Address, Contract>
}

/** Throws for data that `recordsOf` did not make. */
async function read(lines: Iterable<string>): Promise<Snapshot> {
	let head: Pick<Snapshot, 'id' | 'before'> | null = null
	const networks = new Map<string, NetworkBuilder>()
	const coverage = new Map<string, { readonly covered: CoverageTable; readonly backfills: Definition[] }>()
	let backfill: { readonly covered: CoverageTable; readonly addresses: Address[] } | null = null
	let totals: ReadonlyMap<string, Total> = new Map()
	const deliveries = new Map<string, Delivery>()
	const history: { next: number; readonly entries: HistoryEntry[] } = { next: 1, entries: [] }
	let troubles: Troubles | undefined

	function mustHave<T>(found: T | undefined | null): T {
		if (found === undefined || found === null) throw new Error('a record stands before that which it belongs to')
		return found
	}

	function add(record: SnapshotRecord): void {
		if ('snapshot' in record) head = { id: String(record.snapshot), before: record.before }
		else if ('network' in record) {
			const { network, ...json } = record
			const facts = networkIn(json)
			const blank = { announcements: new Map(), books: new Map(), gaps: new Map() }
			networks.set(network, { facts, ...blank, payees: new Map(), contracts: new Map() })
		} else if ('announcements' in record) {
			const { announcements } = mustHave(networks.get(record.announcements))
			for (const json of record.entries) announcements.set(json.id, announcementIn(json))
		} else if ('books' in record) {
			const { books } = mustHave(networks.get(record.books))
			for (const [address, book] of booksIn(record.entries)) books.set(address, mustHave(book))
		} else if ('gaps' in record) mustHave(networks.get(record.gaps)).gaps = gapsOf(record.entries)
		else if ('payees' in record) {
			const { payees } = mustHave(networks.get(record.payees))
			for (const [watch, list] of payeesIn(record.entries)) payees.set(watch, list)
		} else if ('contracts' in record) {
			const { contracts } = mustHave(networks.get(record.contracts))
			for (const [address, one] of contractsIn(record.entries)) contracts.set(address, mustHave(one))
		} else if ('coverage' in record) {
			const known = coverage.get(record.coverage) ?? { covered: freshTable(), backfills: [] }
			coverage.set(record.coverage, known)
			for (const { addresses, ...said } of record.entries) {
				const one = coverageIn(said)
				for (const address of addresses) known.covered.set(address, one)
			}
		} else if ('backfill' in record) {
			const { covered, backfills } = mustHave(coverage.get(record.backfill))
			const { id, token } = record
			backfill = { covered, addresses: [] }
			backfills.push({ id, token, span: spanOf(record.span), addresses: backfill.addresses })
		} else if ('places' in record) {
			const { covered, addresses } = mustHave(backfill)
			for (const address of addressesAt(record.places, covered)) addresses.push(address)
		} else if ('totals' in record) totals = new Map(Object.entries(record.totals))
		else if ('deliveries' in record) {
			for (const json of record.deliveries) deliveries.set(json.id, deliveryIn(json))
		} else if ('history' in record) {
			history.next = record.history
			history.entries.push(...record.entries)
		} else if ('troubles' in record) troubles = record.troubles
		else throw new Error('a record of no known kind')
	}

	for (const line of lines) {
		add(JSON.parse(line) as SnapshotRecord)
		if (isSliceOver()) await nextSlice()
	}
	const state = {
		networks: new Map([...networks].map(([name, builder]) => [name, recordOf(builder)])),
		totals,
		deliveries,
		history,
	}
	const { id, before } = mustHave<Pick<Snapshot, 'id' | 'before'>>(head)
	return { id, before, whole: { state, coverage, ...(troubles && { troubles }) } }
}

function recordOf({ facts, announcements, books, gaps, payees, contracts }: NetworkBuilder): NetworkRecord {
	return { ...facts, announcements, books: booksOf(books), gaps, ...(payees.size > 0 && { payees }), contracts }
}

function freshTable(): CoverageTable {
	return createCoverageTable({ seed: randomBytes(4).readUInt32LE() })
}
