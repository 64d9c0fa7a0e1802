/**
 * The room writes the state as JSON and reads it. This file: parts that the snapshot and the journal
 * share: amounts and block numbers as decimal text, maps as objects or lists. Data that is read is validated as far as
 * other code relies on it; each reading function throws for invalid data.
 */

import type { CoverageTable } from '../../core/packed/coverageTable.js'
import type { Book } from '../../model/books.js'
import type { BlockRef, Span } from '../../model/chain.js'
import type { Delivery } from '../../model/delivery.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Announcement, Payee, Seen } from '../../model/state.js'
import type { Coverage } from '../../model/watch.js'
import { bookOfText, bookText } from '../bookShards.js'
import type { Definition, NetworkRecord } from '../document.js'
import { type AuditJson, auditIn, auditJson } from './auditState.js'
import { payeesOf, payeesText } from './payeesText.js'

export type BlockJson = readonly [number: string, hash: string]
export type SpanJson = readonly [from: string, to: string]
export type AnnouncementJson = Omit<Announcement, 'block'> & { readonly block: BlockJson }
/** Consecutive addresses with equal coverage. */
export interface GroupJson {
	readonly since: string
	readonly from: string
	readonly leftAt?: string
	readonly missed?: readonly SpanJson[]
	readonly addresses: readonly Address[]
}
/** Everything of a network that fits into one line. */
export interface NetworkJson {
	readonly chainId: number
	readonly checkpoint: BlockJson
	readonly settled: BlockJson
	readonly updatedAtMs: number
	readonly seen?: Seen
	readonly audit?: AuditJson
	/** Next block of each backfill, by its token. */
	readonly progress: Readonly<Record<string, string>>
}

export const blockJson = ({ number, hash }: BlockRef): BlockJson => [String(number), hash]
export const blockOf = ([number, hash]: BlockJson): BlockRef => ({ number: BigInt(number), hash: hash as Hash })
export const spanJson = ({ from, to }: Span): SpanJson => [String(from), String(to)]
export const spanOf = ([from, to]: SpanJson): Span => ({ from: BigInt(from), to: BigInt(to) })

export function announcementJson(entry: Announcement): AnnouncementJson {
	return { ...entry, block: blockJson(entry.block) }
}

export function announcementIn(entry: AnnouncementJson): Announcement {
	if (typeof entry.id !== 'string' || !Array.isArray(entry.alerts)) throw new Error('no announcement')
	return { ...entry, block: blockOf(entry.block) }
}

export function networkJson(record: NetworkRecord): NetworkJson {
	const { chainId, checkpoint, settled, updatedAtMs, seen, audit, progress } = record
	return {
		chainId,
		checkpoint: blockJson(checkpoint),
		settled: blockJson(settled),
		updatedAtMs,
		...(seen && { seen }),
		...(audit && { audit: auditJson(audit) }),
		progress: Object.fromEntries([...progress].map(([token, next]) => [token, String(next)])),
	}
}

export function networkIn(
	json: NetworkJson,
): Pick<NetworkRecord, 'chainId' | 'checkpoint' | 'settled' | 'updatedAtMs' | 'progress' | 'seen' | 'audit'> {
	const { chainId, checkpoint, settled, updatedAtMs, seen, audit, progress } = json
	if (!Number.isSafeInteger(chainId) || typeof updatedAtMs !== 'number') throw new Error('no network')
	return {
		chainId,
		checkpoint: blockOf(checkpoint),
		settled: blockOf(settled),
		updatedAtMs,
		...(seen && { seen }),
		...(audit && { audit: auditIn(audit) }),
		progress: new Map(Object.entries(progress).map(([token, next]) => [token, BigInt(next)])),
	}
}

export type BooksJson = Readonly<Record<Address, string | null>>

export function booksJson(books: Iterable<readonly [Address, Book | null]>): BooksJson {
	return Object.fromEntries([...books].map(([address, book]) => [address, book && bookText(book)]))
}

export function booksIn(json: BooksJson): ReadonlyMap<Address, Book | null> {
	const entries = Object.entries(json) as [Address, string | null][]
	return new Map(entries.map(([address, text]) => [addressIn(address), text === null ? null : bookOfText(text)]))
}

export type PayeesJson = Readonly<Record<Address, string>>

export function payeesJson(payees: Iterable<readonly [Address, readonly Payee[]]>): PayeesJson {
	return Object.fromEntries([...payees].map(([watch, list]) => [watch, payeesText(list)]))
}

export function payeesIn(json: PayeesJson): ReadonlyMap<Address, readonly Payee[]> {
	return new Map((Object.entries(json) as [Address, string][]).map(([watch, text]) => [watch, payeesOf(text)]))
}

/** In order, because backfills refer to addresses by position; at most `most` addresses in a group. */
export function* groupsOf(covered: Iterable<readonly [Address, Coverage]>, most = 1_000): Iterable<GroupJson> {
	let last: Coverage | null = null
	let addresses: Address[] = []
	const group = ({ since, from, leftAt, missed }: Coverage): GroupJson => ({
		since: String(since),
		from: String(from),
		...(leftAt !== null && { leftAt: String(leftAt) }),
		...(missed.length > 0 && { missed: missed.map(spanJson) }),
		addresses,
	})
	for (const [address, coverage] of covered) {
		if (last !== null && (coverage !== last || addresses.length === most)) {
			yield group(last)
			addresses = []
		}
		last = coverage
		addresses.push(address)
	}
	if (last !== null) yield group(last)
}

export function coverageIn({ since, from, leftAt, missed = [] }: Omit<GroupJson, 'addresses'>): Coverage {
	const left = leftAt === undefined ? null : BigInt(leftAt)
	return { since: BigInt(since), from: BigInt(from), leftAt: left, missed: missed.map(spanOf) }
}

export function addressIn(text: string): Address {
	if (!/^0x[0-9a-f]{40}$/.test(text)) throw new Error('no address')
	return text as Address
}

/** Positions in the coverage, both ends included; an address without coverage is written itself. */
export type PlaceJson = readonly [from: number, to: number] | Address

/** Positions, so that a million addresses are not in the file twice; at most `most` addresses in a range. */
export function* placesOf({ addresses }: Definition, covered: CoverageTable, most: number): Iterable<PlaceJson> {
	let from = -1
	let to = -2
	for (const address of addresses) {
		const place = covered.indexOf(address)
		if (place !== -1 && place === to + 1 && to - from < most) {
			to = place
			continue
		}
		if (from !== -1) yield [from, to]
		;[from, to] = [place, place === -1 ? -2 : place]
		if (place === -1) yield address
	}
	if (from !== -1) yield [from, to]
}

export function* addressesAt(places: Iterable<PlaceJson>, covered: CoverageTable): Iterable<Address> {
	for (const place of places) {
		if (typeof place === 'string') {
			yield addressIn(place)
			continue
		}
		const [from, to] = place
		if (!(from >= 0 && to < covered.size)) throw new Error('no place in the coverage')
		for (let at = from; at <= to; at++) yield covered.addressAt(at)
	}
}

const STATUSES: readonly unknown[] = ['pending', 'dead']

/** Validates what the code that shows or sends deliveries relies on. */
export function deliveryIn(json: unknown): Delivery {
	const one = json as Partial<Delivery> | null
	const isOurs =
		one !== null &&
		typeof one === 'object' &&
		areTexts(one.id, one.receiver) &&
		areNumbers(one.createdAtMs, one.attempts, one.nextAttemptAtMs) &&
		isTextOrNull(one.recipient) &&
		isTextOrNull(one.lastError) &&
		STATUSES.includes(one.status) &&
		isMessage(one.message)
	if (!isOurs) throw new Error('no delivery')
	return one as Delivery
}

function isMessage(json: unknown): boolean {
	const { type, timestamp, data } = (json ?? {}) as { type?: unknown; timestamp?: unknown; data?: unknown }
	if (!areTexts(type, timestamp) || typeof data !== 'object' || data === null) return false
	if (type === 'test' || !String(type).startsWith('alert.')) return true
	const { kind, network, to, watch } = data as Record<string, unknown>
	return areTexts(kind, network, to) && areTexts((watch as { address?: unknown } | null)?.address)
}

const areTexts = (...values: readonly unknown[]) => values.every((value) => typeof value === 'string')
const areNumbers = (...values: readonly unknown[]) => values.every((value) => typeof value === 'number')
const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'
