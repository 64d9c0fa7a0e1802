/**
 * Reads the formats of earlier versions: `state.json` as one object (version 1 by 0.1.0), with coverage in
 * `coverage.json` and `coverage.changes.json`, and documents of `state export`, which hold both. Packed books are not
 * read, but opened anew. Nothing is written in these formats: the first snapshot of this version replaces them.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import { type CoverageTable, createCoverageTable } from '../../../core/packed/coverageTable.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Address } from '../../../model/glossary.js'
import type { HistoryEntry } from '../../../model/history.js'
import type { Troubles } from '../../../model/trouble.js'
import { booksOf } from '../../bookShards.js'
import {
	type CoverageDoc,
	type CoverageRecord,
	emptyCoverage,
	emptyHistory,
	type NetworkRecord,
	type Total,
	type Whole,
} from '../../document.js'
import { gapsOf, type StoredGap } from '../../gap.js'
import { damagedError, previousOf } from '../disk/damage.js'
import { exists } from '../disk/diskErrors.js'
import { durableFile, type Format, isWhole } from '../disk/durable.js'
import {
	type AnnouncementJson,
	addressIn,
	announcementIn,
	booksIn,
	coverageIn,
	deliveryIn,
	type GroupJson,
	type NetworkJson,
	networkIn,
	type PayeesJson,
	payeesIn,
	type SpanJson,
	spanOf,
} from './records.js'

interface StateJson {
	readonly networks: Readonly<
		Record<
			string,
			NetworkJson & {
				readonly told: readonly AnnouncementJson[]
				readonly books?: Readonly<Record<Address, string>>
				readonly gaps?: readonly StoredGap[]
				readonly payees?: PayeesJson
			}
		>
	>
	readonly totals: Readonly<Record<string, Total>>
	readonly deliveries: readonly Delivery[]
	readonly history?: { readonly next: number; readonly entries: readonly HistoryEntry[] }
}

/** A document: each part with the version of its own file. */
interface WholeJson {
	readonly state: { readonly data: StateJson }
	readonly coverage: { readonly data: CoverageJson | CoverageJson1 }
	readonly troubles?: { readonly data: Troubles }
}

interface BackfillJson {
	readonly id: string
	readonly token: string
	readonly span: SpanJson
}

interface CoverageJson1 {
	readonly networks: Readonly<
		Record<
			string,
			{
				readonly backfills: readonly (BackfillJson & { readonly addresses: readonly Address[] })[]
				readonly covers: Readonly<
					Record<Address, Omit<GroupJson, 'addresses' | 'missed'> & { readonly owed?: readonly SpanJson[] }>
				>
			}
		>
	>
}

/** Addresses are base64, 20 bytes each. */
interface CoverageJson {
	readonly id: string
	readonly networks: Readonly<
		Record<
			string,
			{
				readonly backfills: readonly (BackfillJson & { readonly addresses: string })[]
				readonly covered: readonly (Omit<GroupJson, 'addresses'> & { readonly addresses: string })[]
			}
		>
	>
}

/** Parses the data of a state file or a document. Throws for invalid data. */
export async function earlierWhole(data: unknown): Promise<Whole> {
	if (typeof data === 'object' && data !== null && 'state' in data) {
		const { state, coverage, troubles } = data as WholeJson
		const found = await coverageOfJson(coverage.data)
		return { state: stateIn(state.data), coverage: found.coverage, ...(troubles && { troubles: troubles.data }) }
	}
	return { state: stateIn(data as StateJson), coverage: emptyCoverage }
}

function stateIn({ networks, totals, deliveries, history = emptyHistory }: StateJson): Whole['state'] {
	return {
		networks: new Map(
			Object.entries(networks).map(([name, { told, books, gaps, payees, ...json }]): [string, NetworkRecord] => [
				name,
				{
					...networkIn(json),
					announcements: new Map(told.map((entry) => [entry.id, announcementIn(entry)])),
					books: booksOf(new Map([...booksIn(books ?? {})].flatMap(([one, book]) => (book ? [[one, book]] : [])))),
					gaps: gapsOf(gaps ?? []),
					...(payees && { payees: payeesIn(payees) }),
					contracts: new Map(),
				},
			]),
		),
		totals: new Map(Object.entries(totals)),
		deliveries: new Map(deliveries.map((entry) => [entry.id, deliveryIn(entry)])),
		history,
	}
}

interface EarlierCoverage {
	readonly id: string
	readonly coverage: CoverageDoc
}

const coverageFormat: Format<EarlierCoverage> = {
	version: 2,
	migrations: { 1: (data) => data },
	encode: () => [],
	decode: (data) => coverageOfJson(data as CoverageJson | CoverageJson1),
}

/** Throws StateError `damaged`, `newer` or `disk`. */
export async function readEarlierCoverage(folder: string, isNeeded: boolean): Promise<CoverageDoc> {
	const path = join(folder, 'coverage.json')
	const whole = await durableFile(path, coverageFormat).read()
	if (whole === null) {
		if (isNeeded || (await exists(previousOf(path))))
			throw await damagedError(path, 'it is missing, though there was one', isWhole(coverageFormat))
		return emptyCoverage
	}
	const changesPath = join(folder, 'coverage.changes.json')
	const changes = await durableFile(changesPath, coverageFormat).read()
	if (changes === null && (await exists(previousOf(changesPath))))
		throw await damagedError(changesPath, 'it is missing, though there was one', isWhole(coverageFormat))
	// Changes for another `coverage.json` are already contained in this one.
	if (changes === null || changes.id !== whole.id || whole.id === '') return whole.coverage
	const coverage = new Map(whole.coverage)
	for (const [name, { covered, backfills }] of changes.coverage) {
		const table = coverage.get(name)?.covered as CoverageTable | undefined
		if (table !== undefined) for (const [address, one] of covered) table.set(address, one)
		coverage.set(name, { covered: table ?? covered, backfills })
	}
	return coverage
}

async function coverageOfJson(data: CoverageJson | CoverageJson1): Promise<EarlierCoverage> {
	const coverage = new Map<string, CoverageRecord>()
	for (const [name, record] of Object.entries(data.networks)) {
		const covered = createCoverageTable({ seed: randomBytes(4).readUInt32LE() })
		for (const { addresses, ...said } of 'covers' in record ? groupsOf1(record.covers) : record.covered) {
			const one = coverageIn(said)
			for (const address of addressesIn(addresses)) {
				covered.set(address, one)
				if (isSliceOver()) await nextSlice()
			}
		}
		const backfills = (record.backfills as readonly (BackfillJson & { addresses: string | readonly Address[] })[]).map(
			(backfill) => {
				const { id, token, span, addresses } = backfill
				return { id, token, span: spanOf(span), addresses: [...addressesIn(addresses)] }
			},
		)
		coverage.set(name, { covered, backfills })
	}
	return { id: 'id' in data ? data.id : '', coverage }
}

function* groupsOf1(covers: CoverageJson1['networks'][string]['covers']) {
	for (const [address, { owed, ...said }] of Object.entries(covers)) {
		yield { ...said, ...(owed && { missed: owed }), addresses: [address as Address] }
	}
}

/** Base64 of 60,000 bytes. */
const PIECE_CHARACTERS = 80_000

function* addressesIn(addresses: string | readonly Address[]): Iterable<Address> {
	if (typeof addresses !== 'string') {
		for (const address of addresses) yield addressIn(address)
		return
	}
	for (let from = 0; from < addresses.length; from += PIECE_CHARACTERS) {
		const bytes = Buffer.from(addresses.slice(from, from + PIECE_CHARACTERS), 'base64')
		if (bytes.length % 20 !== 0) throw new Error('addresses are not whole')
		for (let at = 0; at < bytes.length; at += 20) yield `0x${bytes.toString('hex', at, at + 20)}`
	}
}
