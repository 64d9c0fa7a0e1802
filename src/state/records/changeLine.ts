/**
 * Converts changes to journal lines and back. A field has the same name as in the snapshot where the content is the
 * same.
 */

import type { Delivery } from '../../model/delivery.js'
import type { Address } from '../../model/glossary.js'
import type { Commit, Gap, GapMark } from '../../model/state.js'
import type { Coverage } from '../../model/watch.js'
import type { Argument, Change } from '../acts.js'
import type { CoverageDoc, Definition } from '../document.js'
import { type AuditJson, auditIn, auditJson } from './auditState.js'
import { type ContractsJson, contractsIn, contractsJson } from './contractText.js'
import { gapsOf, type StoredGap, storedGap } from './gap.js'
import {
	type AnnouncementJson,
	addressIn,
	announcementIn,
	announcementJson,
	type BlockJson,
	type BooksJson,
	blockJson,
	blockOf,
	booksIn,
	booksJson,
	coverageIn,
	deliveryIn,
	type GroupJson,
	groupsOf,
	type PayeesJson,
	payeesIn,
	payeesJson,
	type SpanJson,
	spanJson,
	spanOf,
} from './records.js'

interface CommitJson extends Pick<Commit, 'network' | 'chainId' | 'seen' | 'deliveries' | 'folded'> {
	readonly checkpoint?: BlockJson
	readonly settled?: BlockJson
	readonly forgetTo?: string
	readonly announced?: readonly AnnouncementJson[]
	readonly backfill?: { readonly id: string; readonly scannedTo: string }
	readonly audit?: AuditJson
	readonly books?: BooksJson
	/** By block number; null: closed. */
	readonly gaps?: Readonly<Record<string, StoredGap | null>>
	readonly payees?: PayeesJson
	readonly contracts?: ContractsJson
}

interface EnrolJson {
	readonly network: string
	readonly covered: readonly GroupJson[]
	/** Absent addresses: unchanged for the backfill with this token. */
	readonly backfills:
		| readonly {
				readonly id: string
				readonly token: string
				readonly span: SpanJson
				readonly addresses?: readonly Address[]
		  }[]
		| null
}

interface MarkGapsJson {
	readonly network: string
	readonly numbers: readonly string[]
	readonly mark: GapMark
}

/** `of`: the argument of the act, as JSON. */
export interface ChangeJson {
	readonly act: Change['act']
	readonly atMs: number
	readonly of: unknown
}

/** `before`: the coverage before the change. */
export function changeJson({ act, argument, atMs }: Change, before: CoverageDoc): ChangeJson {
	if (act === 'commit') return { act, atMs, of: commitJson(argument) }
	if (act === 'enrol') return { act, atMs, of: enrolJson(argument, before) }
	if (act === 'markGaps') return { act, atMs, of: { ...argument, numbers: argument.numbers.map(String) } }
	return { act, atMs, of: argument }
}

/** Throws for data that `changeJson` did not make. */
export function changeIn({ act, atMs, of }: ChangeJson, before: CoverageDoc): Change {
	if (typeof atMs !== 'number') throw new Error('a change without a time')
	if (act === 'commit') return { act, atMs, argument: commitIn(of as CommitJson) }
	if (act === 'enrol') return { act, atMs, argument: enrolIn(of as EnrolJson, before) }
	if (act === 'post') return { act, atMs, argument: (of as readonly Delivery[]).map(deliveryIn) }
	if (act === 'resolve') {
		const { resolutions, post } = of as Argument<'resolve'>
		return { act, atMs, argument: { resolutions, post: post.map(deliveryIn) } }
	}
	if (act === 'retry') return { act, atMs, argument: of as Argument<'retry'> }
	if (act === 'drop') return { act, atMs, argument: of as Argument<'drop'> }
	if (act === 'markGaps') {
		const { numbers, ...rest } = of as MarkGapsJson
		return { act, atMs, argument: { ...rest, numbers: numbers.map(BigInt) } }
	}
	throw new Error('a change of no known kind')
}

function commitJson(step: Commit): CommitJson {
	const {
		network,
		chainId,
		checkpoint,
		settled,
		forgetTo,
		announcements,
		seen,
		backfill,
		audit,
		books,
		gaps,
		payees,
		contracts,
		...lists
	} = step
	const { deliveries, folded, ...rest } = lists
	// Does not compile if a field is not written here: it would be lost at the next start.
	rest satisfies Record<keyof typeof rest, never>
	return {
		network,
		chainId,
		...(checkpoint && { checkpoint: blockJson(checkpoint) }),
		...(settled && { settled: blockJson(settled) }),
		...(forgetTo !== undefined && { forgetTo: String(forgetTo) }),
		...(announcements?.length && { announced: announcements.map(announcementJson) }),
		...(seen && { seen }),
		...(backfill && { backfill: { ...backfill, scannedTo: String(backfill.scannedTo) } }),
		...(audit && { audit: auditJson(audit) }),
		...(books?.size && { books: booksJson(books) }),
		...(gaps?.size && {
			gaps: Object.fromEntries([...gaps].map(([number, gap]) => [String(number), gap && storedGap(gap)])),
		}),
		...(payees?.size && { payees: payeesJson(payees) }),
		...(contracts?.size && { contracts: contractsJson(contracts) }),
		...(deliveries?.length && { deliveries }),
		...(folded?.length && { folded }),
	}
}

function commitIn(json: CommitJson): Commit {
	const {
		network,
		chainId,
		checkpoint,
		settled,
		forgetTo,
		announced,
		seen,
		backfill,
		audit,
		books,
		gaps,
		payees,
		contracts,
		deliveries,
		folded,
	} = json
	return {
		network,
		chainId,
		...(checkpoint && { checkpoint: blockOf(checkpoint) }),
		...(settled && { settled: blockOf(settled) }),
		...(forgetTo !== undefined && { forgetTo: BigInt(forgetTo) }),
		...(announced && { announcements: announced.map(announcementIn) }),
		...(seen && { seen }),
		...(backfill && { backfill: { ...backfill, scannedTo: BigInt(backfill.scannedTo) } }),
		...(audit && { audit: auditIn(audit) }),
		...(books && { books: booksIn(books) }),
		...(gaps && { gaps: gapsIn(gaps) }),
		...(payees && { payees: payeesIn(payees) }),
		...(contracts && { contracts: contractsIn(contracts) }),
		...(deliveries && { deliveries: deliveries.map(deliveryIn) }),
		...(folded && { folded: folded.map(deliveryIn) }),
	}
}

function gapsIn(json: NonNullable<CommitJson['gaps']>): ReadonlyMap<bigint, Gap | null> {
	return new Map(
		Object.entries(json).map(([number, gap]) => [
			BigInt(number),
			gap === null ? null : (gapsOf([gap]).get(BigInt(number)) ?? null),
		]),
	)
}

function enrolJson({ network, covered, backfills }: Argument<'enrol'>, before: CoverageDoc): EnrolJson {
	const known = new Map(before.get(network)?.backfills.map((one) => [one.token, one.addresses]))
	return {
		network,
		covered: [...groupsOf(covered)],
		backfills:
			backfills?.map(({ id, token, span, addresses }) => ({
				id,
				token,
				span: spanJson(span),
				...(known.get(token) !== addresses && { addresses }),
			})) ?? null,
	}
}

function enrolIn({ network, covered, backfills }: EnrolJson, before: CoverageDoc): Argument<'enrol'> {
	const known = new Map(before.get(network)?.backfills.map((one) => [one.token, one.addresses]))
	const entries = new Map<Address, Coverage>()
	for (const { addresses, ...said } of covered) {
		const one = coverageIn(said)
		for (const address of addresses) entries.set(addressIn(address), one)
	}
	const definitions = backfills?.map(({ id, token, span, addresses = known.get(token) }): Definition => {
		if (addresses === undefined) throw new Error('a backfill of no addresses')
		return { id, token, span: spanOf(span), addresses }
	})
	return { network, covered: entries, backfills: definitions ?? null }
}

/** A change with more addresses is written as a new snapshot. */
const MOST_ADDRESSES = 20_000
/** So is a change with more alerts, deliveries and contracts: some 3 kB each, and a line is made without a pause. */
const MOST_MESSAGES = 2_000

/** Whether its journal line would take too long to make. */
export function isLarge({ act, argument }: Change, before: CoverageDoc): boolean {
	if (act === 'commit') {
		const { books, deliveries, folded, announcements, contracts } = argument
		const lists = (deliveries?.length ?? 0) + (folded?.length ?? 0) + (announcements?.length ?? 0)
		const messages = lists + (contracts?.size ?? 0)
		return (books?.size ?? 0) > 2 * MOST_ADDRESSES || messages > MOST_MESSAGES
	}
	if (act === 'post') return argument.length > MOST_MESSAGES
	if (act !== 'enrol') return false
	const known = new Set(before.get(argument.network)?.backfills.map(({ addresses }) => addresses))
	const listed = (argument.backfills ?? []).filter(({ addresses }) => !known.has(addresses))
	return listed.reduce((sum, { addresses }) => sum + addresses.length, argument.covered.size) > MOST_ADDRESSES
}
