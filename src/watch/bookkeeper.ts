import { signalWithin } from '../base/deadline.js'
import { deferred, MOST_KEPT, type Movements, movementsOf } from '../core/books.js'
import type { Finding } from '../core/findings.js'
import { nothingUnproved, type UnprovedFacts, withUnproved } from '../core/unproved.js'
import { RpcError } from '../errors.js'
import type { Accounts, Book, BookSet, BooksSummary, Witness } from '../model/books.js'
import type { AddressSet, BlockRef, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Gap, NetworkState } from '../model/state.js'
import type { WatchIndex } from '../model/watch.js'
import { type BlockLists, compensations, listedCodes, listsOf, withBlocks, withListed } from './accessLists.js'
import { type AskedBalances, askBalances, summed } from './askBalances.js'
import { type BooksDraft, draftOf } from './booksDraft.js'
import { afterwards, summaryOf } from './booksSummary.js'
import type { CodeChange } from './delegations.js'
import { newBooks } from './newBooks.js'
import { createRounds } from './rounds.js'
import { type Settled, settle, type VainLooks } from './settle.js'
import { createUnheard, type Unheard } from './unheard.js'

/** What closing the books over one part came to; nothing of it is written yet. */
export interface Closing {
	/** Those that changed; null: gone. */
	readonly books: ReadonlyMap<Address, Book | null>
	readonly findings: readonly Finding[]
	readonly witnessed: readonly Witness[]
	/** Addresses whose code is another than when their books were closed before. */
	readonly changes: readonly CodeChange[]
	readonly summary: BooksSummary
}

export interface ClosingFacts {
	readonly watches: WatchIndex
	readonly books: BookSet
	/** Blocks before the part that nobody could give. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Newest block there is. */
	readonly head: bigint
	/** First block of an address that is watched without `from_block`. */
	readonly since: (address: Address) => bigint
	/** How far the books were when they were last written; absent: never. */
	readonly before?: BooksSummary
}

export type OpeningFacts = Pick<ClosingFacts, 'watches' | 'books' | 'head' | 'since' | 'before'>
export type Opening = Pick<Closing, 'books' | 'summary'>

/** Keeps the books of one network; between polls it remembers only whose turn it is. */
export interface Bookkeeper {
	/** Closes what can be closed over blocks that are scanned for the first time. Throws only what is no RpcError. */
	close(part: Part, facts: ClosingFacts, signal: AbortSignal): Promise<Closing>
	/** Opens books at a block where there is none to close them over; null: nothing to open, or not now. */
	open?(at: BlockRef, facts: OpeningFacts, signal: AbortSignal): Promise<Opening | null>
	/** As the last closing left it; before the first, as it was last seen, or as the books are. */
	summary(watches: WatchIndex, state: Pick<NetworkState, 'books' | 'booksSeen'>): Promise<BooksSummary>
	readonly unheard: Unheard
}

export interface BookkeeperOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

/** Most nodes keep the state of 128 blocks: what is older is put by until blocks near the head are read. */
export const STATE_BLOCKS = 120n
/** All of it over one part: the next block waits for the books, and never long. */
const MOST_MS = 8_000
/** Books of others that are looked for over one part: some milliseconds. */
const MOST_PRUNED = 20_000
/** After balances could not be asked for. */
const REST_MS = 30_000

export function createBookkeeper({ accounts, chain, clock, log }: BookkeeperOptions): Bookkeeper {
	const rounds = createRounds({ clock })
	let reason: string | null = null
	let restsUntilMs = 0
	let summary: BooksSummary | null = null
	/** Whose books are kept while those of all others are taken away, and how far that is; null: done. */
	let pruned: AddressSet | null = null
	let prunedTo: number | null = null
	let unproved: UnprovedFacts | null = null
	/** Where the last part ended: one that begins before comes after a reorganisation. */
	let lastTo: bigint | null = null
	/** After a reorganisation: the first block whose books had to be opened anew. */
	let reopenedFrom: bigint | null = null
	let feesAreKnown = accounts.feesAreKnown
	const vain: VainLooks = new Map()
	/** Books were opened, or were to be opened, of these at this block. */
	let opened: { readonly kept: AddressSet; readonly hash: string } | null = null

	function recall({ unproved: entries, unprovedCount }: Partial<UnprovedFacts> = {}): UnprovedFacts {
		unproved ??= { ...nothingUnproved, ...(entries && { unproved: entries }), ...(unprovedCount && { unprovedCount }) }
		return unproved
	}

	function failed(error: RpcError): void {
		// The chain moved: the next poll sees how.
		if (error.kind === 'unsettled') return
		restsUntilMs = clock() + REST_MS
		if (reason === null)
			log.warn({ error: error.message }, 'the books cannot be closed now: no endpoint gives balances')
		reason = error.message
	}

	function tooMany(): void {
		const words = `there are more than ${MOST_KEPT.toLocaleString('en')} watches`
		if (reason !== words) log.warn({ most: MOST_KEPT }, 'no books are kept of so many watches')
		reason = words
	}

	function works(): void {
		if (reason !== null) log.info({}, 'the books can be closed again')
		reason = null
	}

	async function close(part: Part, facts: ClosingFacts, outer: AbortSignal): Promise<Closing> {
		const signal = signalWithin(MOST_MS, outer)
		const kept = await rounds.keptOf(facts.watches)
		const draft = draftOf(facts.books)
		let movements = movementsOf(part.transactions, kept, part.blocks.values())
		const found: Settled = { findings: [], witnessed: [], changes: [] }
		if (kept !== pruned) prunedTo = 0
		pruned = kept
		prunedTo = prune(facts.books, kept, prunedTo, draft)

		unproved = recall(facts.before)
		const areAllOpen = summary?.unopened === 0
		if (areAllOpen) reopenedFrom = null
		// Those that have no book then had one.
		if (lastTo !== null && part.span.from <= lastTo && areAllOpen) reopenedFrom = part.span.from
		lastTo = part.span.to
		// Where not all had one, those without never had: so many blocks may have come since they were seen first.
		const isAnyNew = reopenedFrom === null && (summary ?? facts.before)?.unopened !== 0
		const isNew = (address: Address) => isAnyNew || facts.since(address) >= part.span.from

		const isNear = facts.head - part.span.to <= STATE_BLOCKS
		if (facts.watches.size > MOST_KEPT) tooMany()
		if (kept.size === 0) return await result()
		if (!isNear || clock() < restsUntilMs) {
			putBy(draft, movements)
			return await result()
		}
		const next = rounds.next(part, facts.books.size < kept.size, facts.books)
		for (const address of vain.keys()) if (!kept.has(address)) vain.delete(address)
		const due = vain.size === 0 ? next : [...new Set([...next, ...vain.keys()])]
		let asked: AskedBalances
		let lists: BlockLists = []
		let listed = part
		try {
			lists = await listsOf(part, { accounts, chain }, signal)
			movements = withListed(movements, lists, kept)
			listed = withBlocks(part, lists)
			asked = await askBalances(listed, movements, { due, limited: rounds.limited() }, draft, accounts, signal)
			works()
		} catch (error) {
			outer.throwIfAborted()
			if (error instanceof RpcError) failed(error)
			else if (signal.aborted) failed(tooSlow())
			else throw error
			putBy(draft, movements)
			return await result()
		}
		const first = (address: Address) => later(facts.since(address), reopenedFrom)
		const settling = { draft, found, gaps: facts.gaps, first, isNew, limited: rounds.limited() }
		const ports = { accounts, chain, clock, log }
		const done = await settle(listed, asked, { ...settling, feesAreKnown, vain }, ports, signal)
		feesAreKnown = done.feesAreKnown
		for (const one of done.unproved) unproved = withUnproved(unproved, one)
		const hidden = await compensations(part, lists, { kept, openings: done.openings }, accounts, signal)
		found.changes.push(...listedCodes(lists, kept, found.changes))
		found.findings.push(...hidden.findings)
		found.witnessed.push(...hidden.witnessed)
		outer.throwIfAborted()
		return await result()

		async function result(): Promise<Closing> {
			const round = rounds.slow()
			const books = new Map(draft.changes)
			const now = summaryOf(kept, await afterwards(facts.books, books), reason, unproved ?? nothingUnproved)
			summary = round === null ? now : { ...now, round }
			return { books, ...found, summary }
		}
	}

	async function open(at: BlockRef, facts: OpeningFacts, outer: AbortSignal): Promise<Opening | null> {
		const kept = await rounds.keptOf(facts.watches)
		const isTried = opened?.kept === kept && opened.hash === at.hash
		if (isTried || facts.head - at.number > STATE_BLOCKS || clock() < restsUntilMs) return null
		opened = { kept, hash: at.hash }
		try {
			const signal = signalWithin(MOST_MS, outer)
			const books = await newBooks(at, { ...facts, kept, limited: rounds.limited() }, accounts, signal)
			if (books.size === 0) return null
			summary = summaryOf(kept, await afterwards(facts.books, books), reason, recall(facts.before))
			return { books, summary }
		} catch (error) {
			outer.throwIfAborted()
			if (!(error instanceof RpcError) && !(error instanceof DOMException)) throw error
			// With the next block they are asked for again.
			log.debug({ err: error }, 'the books of new watches cannot be opened now')
			return null
		}
	}

	return {
		close,
		open,
		async summary(watches, { books, booksSeen }) {
			const last = summary ?? booksSeen
			if (last !== undefined) return last
			if (watches.size > MOST_KEPT) tooMany()
			return summaryOf(await rounds.keptOf(watches), books, reason, nothingUnproved)
		},
		unheard: createUnheard({ clock }),
	}
}

function later(block: bigint, other: bigint | null): bigint {
	return other !== null && other > block ? other : block
}

function tooSlow(): RpcError {
	return new RpcError(`balances did not come within ${MOST_MS / 1_000} s`, { kind: 'timeout', endpoint: '' })
}

/**
 * Takes away books of those that are watched no more, some at a time; gives where to go on, null at the end. One whose
 * watch is back before its turn came is closed over the time between.
 */
export function prune(books: BookSet, kept: AddressSet, from: number | null, draft: BooksDraft): number | null {
	if (from === null && books.size <= kept.size) return null
	const { addresses, next } = books.some?.(from ?? 0, MOST_PRUNED) ?? { addresses: books.keys(), next: 0 }
	for (const address of addresses) if (!kept.has(address)) draft.set(address, null)
	return next === 0 ? null : next
}

/** No balance can be asked for: what moved is added up, to be proved later. */
export function putBy(draft: BooksDraft, movements: Movements): void {
	for (const [address, movement] of summed(movements)) {
		const book = draft.get(address)
		if (book !== null) draft.set(address, deferred(book, movement))
	}
}
