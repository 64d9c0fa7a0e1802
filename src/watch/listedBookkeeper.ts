/**
 * The books of a private network: by the access lists of its blocks alone, so that nobody learns who is watched. Every
 * block is asked about alike, whether it moves a watch or not. A book is opened at the first list that names its watch.
 */

import { signalWithin } from '../base/deadline.js'
import { MOST_KEPT, movementsOf } from '../core/books.js'
import { nothingUnproved, type UnprovedFacts, withUnproved } from '../core/unproved.js'
import type { Accounts, BookSet, BooksSummary } from '../model/books.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import { type BlockLists, compensations, withListed } from './accessLists.js'
import { type Bookkeeper, type Closing, prune, putBy } from './bookkeeper.js'
import { draftOf } from './booksDraft.js'
import { afterwards, summaryOf } from './booksSummary.js'
import { createLateLists, type ListedRun, waitingFrom } from './lateLists.js'
import { listedBalances, withFees, withPosted } from './listedBalances.js'
import { giveBack, openAnew, openingsOf, takeBack, wholeOf } from './listedOpenings.js'
import { hiddenInOpenings, openingsIn } from './openingBlocks.js'
import { createRounds } from './rounds.js'
import { type Settled, settle } from './settle.js'
import { createUnheard } from './unheard.js'

export interface ListedBookkeeperOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

interface Listed {
	readonly from: bigint
	readonly to: bigint
}

/** To look into what does not close: the next part waits for it. */
const MOST_MS = 8_000

const noLists = 'blocks of this chain name no access lists, and on a private network nobody is asked for a balance'
const notGiven = 'the access list of a block was not given'

export function createListedBookkeeper({ accounts, chain, clock, log }: ListedBookkeeperOptions): Bookkeeper {
	const rounds = createRounds({ clock })
	const lateLists = createLateLists({ accounts, chain, clock, log })
	let summary: BooksSummary | null = null
	let pruned: AddressSet | null = null
	let prunedTo: number | null = null
	let unproved: UnprovedFacts | null = null
	let feesAreKnown = accounts.feesAreKnown

	async function close(part: Part, facts: Parameters<Bookkeeper['close']>[1], outer: AbortSignal): Promise<Closing> {
		const { books, before, watches, gaps } = facts
		const kept = await rounds.keptOf(watches)
		const draft = draftOf(books)
		const found: Settled = { findings: [], witnessed: [], changes: [] }
		if (kept !== pruned) prunedTo = 0
		pruned = kept
		prunedTo = prune(books, kept, prunedTo, draft)
		const { unproved: entries, unprovedCount } = before ?? {}
		unproved ??= { ...nothingUnproved, ...(entries && { unproved: entries }), ...(unprovedCount && { unprovedCount }) }

		const hasLists = part.last.accessListHash !== undefined
		if (!hasLists) {
			putBy(draft, movementsOf(part.transactions, kept, part.blocks.values()))
			return result(null, noLists)
		}
		const from = waitingFrom(before, part)
		const reading = await lateLists.read(part, from, { kept, gaps }, outer)
		let listed = listedBefore(before, from)
		const putBefore = takeBack(draft, reading.again, kept, listed)
		for (const run of reading.again) listed = await take(run, listed)
		giveBack(draft, putBefore)
		for (const run of reading.runs) listed = await take(run, listed)
		for (const { from: first, to } of kept.size === 0 ? [] : reading.lost) {
			const entry = { fromBlock: Number(first), toBlock: Number(to), count: kept.size, addresses: [], why: notGiven }
			unproved = withUnproved(unproved, entry)
		}
		if (reading.waitsFrom !== null) {
			const waiting = { from: Number(reading.waitsFrom), to: Number(part.span.to) }
			return result(
				listed,
				`the access list of block ${waiting.from} was not given yet: it is asked for again`,
				waiting,
			)
		}
		return result(listed, listed?.to === part.span.to ? null : notGiven)

		async function take({ lists, ...run }: ListedRun, known: Listed | null): Promise<Listed | null> {
			if (lists !== null) return closeOver({ ...run, lists }, known)
			putBy(draft, movementsOf(run.part.transactions, kept, run.part.blocks.values()))
			return known
		}

		/** Gives the blocks whose lists were checked against the books without a hole, up to the end of these. */
		async function closeOver(run: ListedRun & { lists: BlockLists }, known: Listed | null): Promise<Listed> {
			const { part: own, lists, postings } = run
			const isGoingOn = known !== null && own.span.from === known.to + 1n
			const now = { from: isGoingOn ? known.from : own.span.from, to: own.span.to }
			// What one moved who was watched no more is in no book: it is opened anew, should he come back.
			for (const { changes } of lists) {
				for (const address of changes.balances.keys())
					if (!kept.has(address) && books.has(address)) draft.set(address, null)
			}
			const signal = signalWithin(MOST_MS, outer)
			const paid: Part = { ...own, transactions: withFees(own.transactions, postings) }
			const moved = movementsOf(paid.transactions, kept, own.blocks.values())
			const movements = withPosted(withListed(moved, lists, kept), postings)
			const openings = openingsOf(draft, movements, own.span.from, now.from)
			const opened = openAnew(draft, movements, openings, lists)
			const begun = openingsIn(lists, kept, draft)
			const balances = listedBalances(own, lists, movements, openings, postings, { accounts, chain })

			// That a book begins with the first movement is how these are; that one begins again is said.
			const isReplaced = before?.listed !== undefined && own.span.from <= BigInt(before.listed.to)
			const first = (address: Address) =>
				opened.get(address) ?? (isReplaced ? later(own.span.from, facts.since(address)) : own.span.to + 1n)
			// Nothing tells what an address had when it was seen first, and none has a threshold.
			const settling = { draft, found, gaps, first, isNew: () => false, limited: rounds.limited(), feesAreKnown }
			const ports = { accounts: balances.accounts, chain: { ...chain, ...balances.chain }, clock, log }
			const done = await settle(paid, balances.asked, { ...settling, vain: new Map(), isFinal: true }, ports, signal)
			outer.throwIfAborted()
			feesAreKnown = done.feesAreKnown
			for (const one of done.unproved) unproved = withUnproved(unproved ?? nothingUnproved, one)
			const whole = wholeOf(done.openings, paid, postings)
			const hidden = await compensations(paid, lists, { kept, openings: whole }, accounts, signal)
			found.findings.push(...hidden.findings)
			found.witnessed.push(...hidden.witnessed)
			const openingFacts = { transactions: paid.transactions, postings, feesAreKnown, since: facts.since }
			const opening = await hiddenInOpenings(begun, openingFacts, accounts, signal)
			found.findings.push(...opening.findings)
			found.witnessed.push(...opening.witnessed)
			for (const one of opening.unproved) unproved = withUnproved(unproved ?? nothingUnproved, one)
			outer.throwIfAborted()
			return now
		}

		async function result(
			span: Listed | null,
			reason: string | null,
			waiting?: BooksSummary['waiting'],
		): Promise<Closing> {
			const changes = new Map(draft.changes)
			const all = await afterwards(books, changes)
			const isNone = !hasLists && books.size === 0
			const now = summaryIn(isNone ? nobody : kept, all, reason, span, unproved ?? nothingUnproved)
			summary = waiting === undefined ? now : { ...now, waiting }
			return { books: changes, ...found, summary }
		}
	}

	return {
		close,
		async summary(watches, { books, booksSeen }) {
			const last = summary ?? booksSeen
			if (last !== undefined) return last
			return summaryIn(await rounds.keptOf(watches), books, null, null, nothingUnproved)
		},
		unheard: createUnheard({ clock }),
	}
}

const nobody: AddressSet = new Set()

/** What was checked against the books before a block. */
function listedBefore(before: BooksSummary | undefined, block: bigint): Listed | null {
	if (before?.listed === undefined) return null
	const [from, to] = [BigInt(before.listed.from), BigInt(before.listed.to)]
	if (from >= block) return null
	return { from, to: to < block ? to : block - 1n }
}

function summaryIn(
	kept: AddressSet,
	books: BookSet,
	reason: string | null,
	span: Listed | null,
	unproved: UnprovedFacts,
): BooksSummary {
	if (kept.size > MOST_KEPT) return summaryIn(nobody, books, 'there are too many watches', null, unproved)
	const { unopened = 0, ...own } = summaryOf(kept, books, reason, unproved)
	// Those without a book have not moved since the lists began, or they would have one.
	const plain = { ...own, open: own.open.filter((address) => books.has(address)), openCount: own.openCount - unopened }
	if (span === null) return plain
	const listed = { from: Number(span.from), to: Number(span.to) }
	const isWhole = own.closedTo === null || own.closedTo >= listed.from - 1
	return { ...plain, closedTo: isWhole ? listed.to : own.closedTo, listed }
}

function later(one: bigint, other: bigint): bigint {
	return one > other ? one : other
}
