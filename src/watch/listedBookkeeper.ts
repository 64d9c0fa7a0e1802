/**
 * The books of a private network: by the access lists of its blocks alone, so that nobody learns who is watched. Every
 * block is asked about alike, whether it moves a watch or not. A book is opened at the first list that names its watch.
 */

import { closes, MOST_KEPT, type Movements, movementsOf } from '../core/books.js'
import { lengthOf } from '../core/spans.js'
import { nothingUnproved, type UnprovedFacts, withUnproved } from '../core/unproved.js'
import { RpcError } from '../errors.js'
import type { Accounts, Book, BookSet, BooksSummary, Posting } from '../model/books.js'
import type { AddressSet, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import { type BlockLists, compensations, listsOf, withListed } from './accessLists.js'
import { type Bookkeeper, type Closing, prune, putBy } from './bookkeeper.js'
import { type BooksDraft, draftOf } from './booksDraft.js'
import { afterwards, summaryOf } from './booksSummary.js'
import { type BlockPostings, listedBalances, withFees, withPosted } from './listedBalances.js'
import { createRounds } from './rounds.js'
import { keyOf, type Settled, settle } from './settle.js'
import { createUnheard } from './unheard.js'

export interface ListedBookkeeperOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

/** A longer part is far from the head: reading it block by block takes too long. */
const MOST_BLOCKS = 64n
/** All of it over one part: alerts wait for the books, and never long. */
const MOST_MS = 8_000

const noLists = 'blocks of this chain name no access lists, and on a private network nobody is asked for a balance'
const notGiven = 'the access list of a block was not given'

export function createListedBookkeeper({ accounts, chain, clock, log }: ListedBookkeeperOptions): Bookkeeper {
	const rounds = createRounds({ clock })
	let summary: BooksSummary | null = null
	let pruned: AddressSet | null = null
	let prunedTo: number | null = null
	let unproved: UnprovedFacts | null = null
	let feesAreKnown = accounts.feesAreKnown

	async function close(part: Part, facts: Parameters<Bookkeeper['close']>[1], outer: AbortSignal): Promise<Closing> {
		const { books, before, watches, since } = facts
		const kept = await rounds.keptOf(watches)
		const draft = draftOf(books)
		const found: Settled = { findings: [], witnessed: [], changes: [] }
		if (kept !== pruned) prunedTo = 0
		pruned = kept
		prunedTo = prune(books, kept, prunedTo, draft)
		const { unproved: entries, unprovedCount } = before ?? {}
		unproved ??= { ...nothingUnproved, ...(entries && { unproved: entries }), ...(unprovedCount && { unprovedCount }) }

		const lists = await wholeLists(part, outer)
		if (lists === null) {
			putBy(draft, movementsOf(part.transactions, kept, part.blocks.values()))
			return result(null)
		}
		const listed = { from: continued(before, part) ?? part.span.from, to: part.span.to }
		// What one moved who was watched no more is in no book: it is opened anew, should he come back.
		for (const { changes } of lists) {
			for (const address of changes.balances.keys())
				if (!kept.has(address) && books.has(address)) draft.set(address, null)
		}

		const signal = AbortSignal.any([outer, AbortSignal.timeout(MOST_MS)])
		const postings = await postingsOf(lists, kept, signal)
		outer.throwIfAborted()
		const paid: Part = { ...part, transactions: withFees(part.transactions, postings) }
		const moved = movementsOf(paid.transactions, kept, part.blocks.values())
		const movements = withPosted(withListed(moved, lists, kept), postings)
		const openings = openingsOf(draft, movements, part.span.from, listed.from)
		const opened = openAnew(draft, movements, openings, lists)
		const balances = listedBalances(part, lists, movements, openings, postings, { accounts, chain })

		// That a book begins with the first movement is how these are; that one begins again is said.
		const isReplaced = before?.listed !== undefined && part.span.from <= BigInt(before.listed.to)
		const first = (address: Address) =>
			opened.get(address) ?? (isReplaced ? later(part.span.from, since(address)) : part.span.to + 1n)
		const settling = { draft, found, gaps: facts.gaps, first, since, limited: rounds.limited(), feesAreKnown }
		const ports = { accounts: balances.accounts, chain: { ...chain, ...balances.chain }, clock, log }
		const done = await settle(paid, balances.asked, { ...settling, vain: new Map(), isFinal: true }, ports, signal)
		outer.throwIfAborted()
		feesAreKnown = done.feesAreKnown
		for (const one of done.unproved) unproved = withUnproved(unproved, one)
		const whole = wholeOf(done.openings, paid, postings)
		const hidden = await compensations(paid, lists, { kept, openings: whole }, accounts, signal)
		found.findings.push(...hidden.findings)
		found.witnessed.push(...hidden.witnessed)
		outer.throwIfAborted()
		return result(listed)

		function result(span: { readonly from: bigint; readonly to: bigint } | null): Closing {
			const hasLists = part.last.accessListHash !== undefined
			const isNone = !hasLists && books.size === 0
			const reason = span !== null ? null : hasLists ? notGiven : noLists
			const all = afterwards(books, draft)
			summary = summaryIn(isNone ? nobody : kept, all, reason, span, unproved ?? nothingUnproved)
			return { books: draft.changes, ...found, summary }
		}
	}

	/** Of every block of the part; null where one is missing. */
	async function wholeLists(part: Part, signal: AbortSignal): Promise<BlockLists | null> {
		const bounded = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])
		try {
			const lists = await listsOf(part, { accounts, chain, mostBlocks: MOST_BLOCKS }, bounded)
			return BigInt(lists.length) === BigInt(lengthOf(part.span)) ? lists : null
		} catch (error) {
			signal.throwIfAborted()
			if (!(error instanceof RpcError) && !bounded.aborted) throw error
			return null
		}
	}

	async function postingsOf(lists: BlockLists, kept: AddressSet, signal: AbortSignal): Promise<BlockPostings> {
		const all = new Map<bigint, readonly Posting[] | null>()
		for (const { block } of lists) {
			if (block.txHashes.length > 0 || (block.withdrawals ?? []).length > 0)
				all.set(block.number, await postingsIn(block, kept, signal))
			else all.set(block.number, [])
		}
		return all
	}

	async function postingsIn(block: BlockLists[number]['block'], kept: AddressSet, signal: AbortSignal) {
		try {
			return await accounts.postings(block, kept, signal)
		} catch (error) {
			if (!(error instanceof RpcError) && !signal.aborted) throw error
			log.debug({ block: block.number, err: error }, 'what transactions cost is not told: some books are opened anew')
			return null
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

/** Balances before the part, of books that no block since left in doubt; they stand right before the part from here. */
function openingsOf(
	draft: BooksDraft,
	movements: Movements,
	from: bigint,
	listedFrom: bigint,
): ReadonlyMap<Address, bigint> {
	const openings = new Map<Address, bigint>()
	for (const moved of movements.values()) {
		for (const address of moved.keys()) {
			const book = draft.get(address)
			if (book === null || openings.has(address)) continue
			if (book.block < listedFrom - 1n || book.movedWei !== 0n) continue
			openings.set(address, book.balanceWei)
			draft.set(address, { ...book, block: from - 1n })
		}
	}
	return openings
}

/**
 * Books that stand before a hole in the lists, and that what was put by since does not explain: nobody can tell where
 * it moved. Gives the first block of which that is so.
 */
function openAnew(
	draft: BooksDraft,
	movements: Movements,
	openings: ReadonlyMap<Address, bigint>,
	lists: BlockLists,
): ReadonlyMap<Address, bigint> {
	const opened = new Map<Address, bigint>()
	const seen = new Set<Address>()
	for (const { block, changes } of lists) {
		for (const [address, movement] of movements.get(block.number) ?? []) {
			if (openings.has(address) || seen.has(address)) continue
			const book = draft.get(address)
			const closing = changes.balances.get(address)?.at(-1)
			if (book === null) continue
			if (closing === undefined) {
				if (!closes(book.balanceWei, movement, book.balanceWei)) drop(address, book)
				continue
			}
			seen.add(address)
			if (!closes(book.balanceWei + book.movedWei, movement, closing.wei)) drop(address, book)
		}
	}
	return opened

	function drop(address: Address, book: Book): void {
		seen.add(address)
		opened.set(address, book.block + 1n)
		draft.set(address, null)
	}
}

/** Balances before blocks, of those all whose transactions in the block are among those told. */
function wholeOf(
	openings: ReadonlyMap<string, bigint>,
	{ transactions }: Part,
	postings: BlockPostings,
): ReadonlyMap<string, bigint> {
	const whole = new Map(openings)
	const hashes = new Set(transactions.map(({ txHash }) => txHash))
	for (const [number, list] of postings) {
		for (const { address, txHash } of list ?? [])
			if (txHash !== null && !hashes.has(txHash)) whole.delete(keyOf(address, number))
	}
	return whole
}

/** The first block since which every one had its list, up to this part; null where there is a hole before it. */
function continued(before: BooksSummary | undefined, { span }: Part): bigint | null {
	if (before?.listed === undefined) return null
	const { from, to } = before.listed
	return BigInt(from) <= span.from && span.from <= BigInt(to) + 1n ? BigInt(from) : null
}

function summaryIn(
	kept: AddressSet,
	books: BookSet,
	reason: string | null,
	span: { readonly from: bigint; readonly to: bigint } | null,
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
