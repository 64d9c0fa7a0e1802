/**
 * A snapshot: the whole state as a list of records, one a line, so that `jq` can read it and it is never needed
 * in memory as a whole. Later changes are in the journal.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { type CoverageTable, coverageTableOf, createCoverageTable } from '../../core/packed/coverageTable.js'
import type { Delivery } from '../../model/delivery.js'
import type { Address } from '../../model/glossary.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Troubles } from '../../model/trouble.js'
import type { Coverage } from '../../model/watch.js'
import { booksOf } from '../bookShards.js'
import type { CoverageRecord, Definition, NetworkRecord, StateDoc, Whole } from '../document.js'
import type { Format } from '../file/disk/durable.js'
import { decoded, encoded } from './codec.js'

export interface Snapshot {
	/** Id that the journal of this snapshot names. */
	readonly id: string
	/** Id of the snapshot before, whose journal is contained in this one. Null: there was none. */
	readonly before: string | null
	readonly whole: Whole
}

/** What of a network may need more than one line. All else is in the record that starts it. */
const MAPS = ['announcements', 'books', 'gaps', 'payees', 'contracts'] as const
type Maps = { [K in (typeof MAPS)[number]]?: Map<unknown, unknown> }

/** Each record names its type; the records of a network follow the record that starts it. */
type SnapshotRecord =
	| { readonly snapshot: string; readonly before: string | null }
	| { readonly network: string; readonly facts: Omit<NetworkRecord, keyof Maps> }
	| { readonly of: string; readonly map: keyof Maps; readonly entries: readonly (readonly [unknown, unknown])[] }
	/** Also present for a network without covered addresses. */
	| { readonly coverage: string; readonly groups: readonly Group[] }
	| { readonly backfill: string; readonly facts: Omit<Definition, 'addresses'> }
	/** Belongs to the last backfill. */
	| { readonly places: readonly Place[] }
	| { readonly totals: StateDoc['totals'] }
	| { readonly deliveries: readonly Delivery[] }
	| { readonly history: number; readonly entries: readonly HistoryEntry[] }
	| { readonly troubles: Troubles }

/** Consecutive addresses with equal coverage. */
interface Group {
	readonly coverage: Coverage
	readonly addresses: readonly Address[]
}

/**
 * Positions in the coverage, both ends included, so that a million addresses are not in the file twice. An address
 * without coverage is written itself.
 */
type Place = readonly [from: number, to: number] | Address

export const snapshotFormat = {
	*encode(snapshot: Snapshot) {
		let before = '[\n'
		for (const record of recordsOf(snapshot)) {
			yield before + JSON.stringify(encoded(record))
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
const PER_LINE = { map: 50, books: 500, addresses: 1_000, places: 20, groups: 50, deliveries: 20, history: 50 }

function* recordsOf({ id, before, whole: { state, coverage, troubles } }: Snapshot): Iterable<SnapshotRecord> {
	yield { snapshot: id, before }
	for (const [network, { announcements, books, gaps, payees, contracts, ...facts }] of state.networks) {
		yield { network, facts }
		const maps = { announcements, books, gaps, payees, contracts }
		for (const map of MAPS) {
			const most = map === 'books' ? PER_LINE.books : PER_LINE.map
			for (const entries of lots<readonly [unknown, unknown]>(maps[map] ?? [], most))
				yield { of: network, map, entries }
		}
	}
	for (const [network, { covered, backfills }] of coverage) {
		yield { coverage: network, groups: [] }
		for (const groups of groupLots(covered)) yield { coverage: network, groups }
		for (const { addresses, ...facts } of backfills) {
			yield { backfill: network, facts }
			const places = placesOf(addresses, coverageTableOf(covered))
			for (const some of lots(places, PER_LINE.places)) yield { places: some }
		}
	}
	if (state.totals.size > 0) yield { totals: state.totals }
	for (const deliveries of lots(state.deliveries.values(), PER_LINE.deliveries)) yield { deliveries }
	const { next, entries } = state.history
	if (next > 1) yield { history: next, entries: [] }
	for (const some of lots(entries, PER_LINE.history)) yield { history: next, entries: some }
	if (troubles !== undefined) yield { troubles }
}

function* groupLots(covered: CoverageRecord['covered']): Iterable<readonly Group[]> {
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

function* placesOf(addresses: readonly Address[], covered: CoverageTable): Iterable<Place> {
	let run: [from: number, to: number] | null = null
	for (const address of addresses) {
		const place = covered.indexOf(address)
		if (run !== null && place === run[1] + 1 && place - run[0] < PER_LINE.addresses) {
			run[1] = place
			continue
		}
		if (run !== null) yield run
		run = place === -1 ? null : [place, place]
		if (place === -1) yield address
	}
	if (run !== null) yield run
}

function* addressesAt(places: readonly Place[], covered: CoverageTable): Iterable<Address> {
	for (const place of places) {
		const [from, to] = typeof place === 'string' ? [0, -1] : place
		if (typeof place === 'string') yield place
		if (to >= covered.size) throw new Error('no place in the coverage')
		for (let at = from; at <= to; at++) yield covered.addressAt(at)
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

interface Reading {
	head: Pick<Snapshot, 'id' | 'before'> | null
	readonly networks: Map<string, { readonly facts: Omit<NetworkRecord, keyof Maps>; readonly maps: Maps }>
	readonly coverage: Map<string, { readonly covered: CoverageTable; readonly backfills: Definition[] }>
	/** The last one. */
	backfill: { readonly addresses: Address[]; readonly covered: CoverageTable } | null
	totals: StateDoc['totals']
	readonly deliveries: Map<string, Delivery>
	readonly history: { next: number; readonly entries: HistoryEntry[] }
	troubles: Troubles | undefined
}

/** Throws for data that `recordsOf` did not make. */
async function read(lines: Iterable<string>): Promise<Snapshot> {
	const reading: Reading = {
		head: null,
		networks: new Map(),
		coverage: new Map(),
		backfill: null,
		totals: new Map(),
		deliveries: new Map(),
		history: { next: 1, entries: [] },
		troubles: undefined,
	}
	for (const line of lines) {
		take(reading, decoded(JSON.parse(line)) as SnapshotRecord)
		if (isSliceOver()) await nextSlice()
	}
	const { head, networks, coverage, totals, deliveries, history, troubles } = reading
	const { id, before } = mustFind(head)
	const records = new Map([...networks].map(([name, { facts, maps }]) => [name, recordOf(facts, maps)]))
	const state = { networks: records, totals, deliveries, history }
	return { id, before, whole: { state, coverage, ...(troubles && { troubles }) } }
}

function take(reading: Reading, record: SnapshotRecord): void {
	const { networks, coverage } = reading
	if ('snapshot' in record) reading.head = { id: record.snapshot, before: record.before }
	else if ('network' in record) {
		const { facts } = record
		if (typeof facts.checkpoint.number !== 'bigint') throw new Error('a checkpoint without a number')
		networks.set(record.network, { facts, maps: {} })
	} else if ('of' in record) {
		const { maps } = mustFind(networks.get(record.of))
		maps[record.map] ??= new Map()
		for (const [key, value] of record.entries) maps[record.map]?.set(key, value)
	} else if ('coverage' in record) {
		const known = coverage.get(record.coverage) ?? { covered: freshTable(), backfills: [] }
		coverage.set(record.coverage, known)
		for (const group of record.groups) for (const address of group.addresses) known.covered.set(address, group.coverage)
	} else if ('backfill' in record) {
		const { covered, backfills } = mustFind(coverage.get(record.backfill))
		const backfill = { ...record.facts, addresses: [] }
		backfills.push(backfill)
		reading.backfill = { addresses: backfill.addresses, covered }
	} else if ('places' in record) {
		const { addresses, covered } = mustFind(reading.backfill)
		for (const address of addressesAt(record.places, covered)) addresses.push(address)
	} else if ('totals' in record) reading.totals = record.totals
	else if ('deliveries' in record) for (const one of record.deliveries) reading.deliveries.set(one.id, deliveryIn(one))
	else if ('history' in record) {
		reading.history.next = record.history
		reading.history.entries.push(...record.entries)
	} else if ('troubles' in record) reading.troubles = record.troubles
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

function recordOf(facts: Omit<NetworkRecord, keyof Maps>, maps: Maps): NetworkRecord {
	const { books = new Map(), ...rest } = maps as Partial<NetworkRecord>
	const blank = { announcements: new Map(), gaps: new Map(), contracts: new Map() }
	return { ...facts, ...blank, ...rest, books: booksOf(books) }
}

function freshTable() {
	return createCoverageTable({ seed: randomBytes(4).readUInt32LE() })
}
