/**
 * The room is the auditor: it compares the chain's state with the movements in scanned blocks, and keeps a book for
 * each watch. It reads the state through a port, `StateReader`, with two implementations: `asked/` asks endpoints for
 * balances; `listed/` reads the access lists of blocks, which reveals no address to any endpoint.
 */

import { nothingUnproved, type UnprovedFacts, withUnproved } from '../core/ledger/unproved.js'
import type { Announced, Proof } from '../core/reconcile/refuted.js'
import { limitsOf } from '../kinds/balance.js'
import type { Finding } from '../kinds/list.js'
import type { Accounts, Book, BookSet, BooksSummary, Unproved } from '../model/books.js'
import type { AddressSet, BlockRef, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Gap, NetworkState } from '../model/state.js'
import type { WatchIndex } from '../model/watch.js'
import { type BlockLists, type ClosedLists, compensations } from './accessLists.js'
import type { AskedBalances } from './asked/askBalances.js'
import { type AuditRotation, createAuditRotation } from './auditRotation.js'
import { type BooksDraft, draftOf } from './booksDraft.js'
import { afterwards } from './booksSummary.js'
import { type BookFindings, type ClosingBooks, closeBooks } from './closeBooks.js'
import type { CodeChange } from './delegations/delegations.js'

/** The result of closing the books over one part; nothing is written yet. */
export interface Closing {
	/** Books that changed; null: the book is dropped. */
	readonly books: ReadonlyMap<Address, Book | null>
	readonly findings: readonly Finding[]
	readonly witnessed: readonly Proof[]
	/** Addresses whose code differs from the code at the previous closing. */
	readonly changes: readonly CodeChange[]
	readonly summary: BooksSummary
}

export interface ClosingFacts {
	readonly watches: WatchIndex
	readonly books: BookSet
	/** Blocks before the part that no source could give. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Number of the newest block. */
	readonly head: bigint
	/** First block of an address that is watched without `from_block`. */
	readonly since: (address: Address) => bigint
	readonly announced: Announced
	/** Watches to close at blocks of the part, whose headers are in the part, beside those that move there. */
	readonly closeAt: ReadonlyMap<bigint, ReadonlySet<Address>>
	/** The summary last written; absent: none was. */
	readonly before?: BooksSummary
}

export type OpeningFacts = Pick<ClosingFacts, 'watches' | 'books' | 'head' | 'since' | 'before'>
export type Opening = Pick<Closing, 'books' | 'summary'>

/** Audits one network. Its state in memory is lost at a restart: the rotation and failed looks. */
export interface Auditor {
	/** Closes as many books as possible over blocks that are taken in for the first time. Throws no RpcError. */
	close(part: Part, facts: ClosingFacts, signal: AbortSignal): Promise<Closing>
	/** Opens new books at a block without a new part. Null: nothing to open, or not possible now. */
	open(at: BlockRef, facts: OpeningFacts, signal: AbortSignal): Promise<Opening | null>
	/** The summary of the last closing. Before the first closing: the stored summary, or one computed from the books. */
	summary(watches: WatchIndex, state: Pick<NetworkState, 'books' | 'booksSeen'>): Promise<BooksSummary>
}

export interface AuditorOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
	/** Whether the program ends after this poll, and forgets which endpoints were silent. */
	readonly runsOnce?: boolean
}

/** One part under audit; readers write into `draft` and `found`. */
export interface PartAudit {
	readonly part: Part
	readonly facts: ClosingFacts
	readonly kept: AddressSet
	readonly rotation: AuditRotation
	readonly draft: BooksDraft
	readonly found: BookFindings
	/** The summary of the last closing; null: none since the program started. */
	readonly last: BooksSummary | null
	feesAreKnown(): boolean
	noteUnproved(one: Unproved): void
	/** Closes the books over blocks whose balances are known. */
	closeOver(run: KnownRun, signal: AbortSignal): Promise<void>
}

/** Blocks whose balances are known, and how they were read. */
export interface KnownRun extends Pick<ClosingBooks, 'first' | 'isNew' | 'comparesFrom' | 'failedLooks' | 'isFinal'> {
	readonly part: Part
	readonly asked: AskedBalances
	readonly lists: BlockLists
	/** Gives the balances of these blocks. Default: the auditor's own port. */
	readonly accounts?: Accounts
	readonly chain?: Pick<Chain, 'walk' | 'block'>
	/** What the receipts of these blocks say. Absent: they were not read. */
	readonly postings?: ClosedLists['postings']
}

export interface StateReader {
	/** Reads the state for a part, and closes the books over it. Movements without a known balance are deferred. */
	read(audit: PartAudit, signal: AbortSignal): Promise<void>
	/** The summary after the last part read. `watched`: the number of watches. */
	summary(kept: AddressSet, books: BookSet, unproved: UnprovedFacts, watched: number): BooksSummary
	/** Opens new books at a block; null: not possible now. Absent: this reader opens books only when an address moves. */
	open?(
		at: BlockRef,
		facts: OpeningFacts,
		own: OpeningWatches,
		signal: AbortSignal,
	): Promise<BooksDraft['changes'] | null>
}

export type OpeningWatches = { readonly kept: AddressSet; readonly limited: AddressSet }

/** Books checked per part for addresses that are no longer watched; takes some milliseconds. */
const MOST_PRUNED = 20_000

export function createAuditor(options: AuditorOptions, reader: StateReader): Auditor {
	const { accounts, chain, clock, log, runsOnce = false } = options
	const rotation = createAuditRotation(options)
	const prune = createPruner()
	let last: BooksSummary | null = null
	let unproved: UnprovedFacts | null = null
	let feesAreKnown = accounts.feesAreKnown

	function unprovedSince({ unproved: entries, unprovedCount }: Partial<UnprovedFacts> = {}): UnprovedFacts {
		unproved ??= { ...nothingUnproved, ...(entries && { unproved: entries }), ...(unprovedCount && { unprovedCount }) }
		return unproved
	}

	function noteUnproved(one: Unproved): void {
		unproved = withUnproved(unproved ?? nothingUnproved, one)
	}

	async function summaryWith(
		{ books, watches }: Pick<ClosingFacts, 'books' | 'watches'>,
		kept: AddressSet,
		changes: BooksDraft['changes'],
	): Promise<BooksSummary> {
		const after = await afterwards(books, changes)
		const now = reader.summary(kept, after, unproved ?? nothingUnproved, watches.size)
		const round = rotation.slow()
		last = round === null ? now : { ...now, round }
		return last
	}

	return {
		async close(part, facts, signal) {
			const kept = await rotation.keptOf(facts.watches)
			const draft = draftOf(facts.books)
			const found: BookFindings = { findings: [], witnessed: [], changes: [] }
			prune(facts.books, kept, draft)
			unprovedSince(facts.before)
			const audit = { part, facts, kept, rotation, draft, found, last, feesAreKnown: () => feesAreKnown, noteUnproved }
			await reader.read({ ...audit, closeOver }, signal)
			const books = new Map(draft.changes)
			return { books, ...found, summary: await summaryWith(facts, kept, books) }

			async function closeOver(run: KnownRun, own: AbortSignal): Promise<void> {
				const { asked, lists, first, isNew, comparesFrom = () => 0n, failedLooks, isFinal = false } = run
				const { gaps, announced } = facts
				const limits = (address: Address) => limitsOf(facts.watches.get(address))
				const known = { gaps, announced, limits, feesAreKnown }
				const closing = { asked, draft, found, first, isNew, comparesFrom, failedLooks, isFinal, ...known }
				const ports = { accounts: run.accounts ?? accounts, chain: { ...chain, ...run.chain }, clock, log, runsOnce }
				const done = await closeBooks(run.part, closing, ports, own)
				signal.throwIfAborted()
				feesAreKnown = done.feesAreKnown
				for (const one of done.unproved) noteUnproved(one)
				const postings = (feesAreKnown && run.postings) || null
				const { closed } = done
				const hidden = await compensations(run.part, { lists, kept, closed, postings, announced }, accounts, own)
				found.findings.push(...hidden.findings)
				found.witnessed.push(...hidden.witnessed)
				signal.throwIfAborted()
			}
		},
		async open(at, facts, signal) {
			const kept = await rotation.keptOf(facts.watches)
			const books = await reader.open?.(at, facts, { kept, limited: rotation.limited() }, signal)
			if (!books?.size) return null
			unprovedSince(facts.before)
			return { books, summary: await summaryWith(facts, kept, books) }
		},
		async summary(watches, { books, booksSeen }) {
			const seen = last ?? booksSeen
			return seen ?? reader.summary(await rotation.keptOf(watches), books, nothingUnproved, watches.size)
		},
	}
}

/** Drops books of addresses no longer watched, some a part; one that returns before is closed over that time. */
function createPruner(): (books: BookSet, kept: AddressSet, draft: BooksDraft) => void {
	let pruned: AddressSet | null = null
	/** Where the next part continues; null: all books were checked. */
	let from: string | null = null
	return (books, kept, draft) => {
		if (kept !== pruned) from = ''
		pruned = kept
		if (from === null && books.size <= kept.size) return
		const { addresses, next } = books.some?.(from ?? '', MOST_PRUNED) ?? { addresses: books.keys(), next: '' }
		for (const address of addresses) if (!kept.has(address)) draft.set(address, null)
		from = next === '' ? null : next
	}
}
