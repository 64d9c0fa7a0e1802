import { closedAt, closes, deferred, type Movements, movementsOf, still } from '../core/books.js'
import type { Finding } from '../core/findings.js'
import { RpcError } from '../errors.js'
import type { Accounts, Balances, Book, BooksSummary, Witness } from '../model/books.js'
import type { BlockRef, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Gap } from '../model/state.js'
import type { WatchIndex } from '../model/watch.js'
import { askBalances, summed, type Told } from './askBalances.js'
import { type BooksDraft, draftOf } from './booksDraft.js'
import { summaryOf } from './booksSummary.js'
import type { CodeChange } from './delegations.js'
import { type CloserLook, lookCloser } from './lookCloser.js'
import { createRounds, MOST_KEPT } from './rounds.js'

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
	readonly books: ReadonlyMap<Address, Book>
	/** Blocks before the part that nobody could give. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Newest block there is. */
	readonly head: bigint
	/** Whether an address is watched only since this part, or will be. */
	readonly isNew: (address: Address) => boolean
}

/** What settling a part writes into. */
interface Settling {
	readonly draft: BooksDraft
	readonly found: { findings: Finding[]; witnessed: Witness[]; changes: CodeChange[] }
	readonly gaps: ClosingFacts['gaps']
	readonly isNew: ClosingFacts['isNew']
}

/** Keeps the books of one network; between polls it remembers only whose turn it is. */
export interface Bookkeeper {
	/** Closes what can be closed over blocks that are scanned for the first time. Throws only what is no RpcError. */
	close(part: Part, facts: ClosingFacts, signal: AbortSignal): Promise<Closing>
	/** As the last closing left it; null before the first. */
	summary(): BooksSummary | null
}

export interface BookkeeperOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

/** Most nodes keep the state of 128 blocks: what is older is put by until blocks near the head are read. */
const STATE_BLOCKS = 120n
/** Books that do not close at first are looked into, this many over one part and for this long; the rest next time. */
const MOST_CLOSER = 50
const CLOSER_MS = 4_000
/** All of it over one part: alerts wait for the books, and never long. */
const MOST_MS = 8_000
/** After balances could not be asked for. */
const REST_MS = 30_000

export function createBookkeeper({ accounts, chain, clock, log }: BookkeeperOptions): Bookkeeper {
	const rounds = createRounds({ clock })
	let reason: string | null = null
	let restsUntilMs = 0
	let summary: BooksSummary | null = null
	let feesAreKnown = accounts.feesAreKnown

	function failed(error: RpcError): void {
		// The chain moved: the next poll sees how.
		if (error.kind === 'unsettled') return
		restsUntilMs = clock() + REST_MS
		if (reason === null) log.warn({ error: error.message }, 'the books cannot be closed now: balances are not told')
		reason = error.message
	}

	function tooMany(): void {
		const words = `there are more than ${MOST_KEPT} watches`
		if (reason !== words) log.warn({ most: MOST_KEPT }, 'no books are kept of so many watches')
		reason = words
	}

	function works(): void {
		if (reason !== null) log.info({}, 'the books can be closed again')
		reason = null
	}

	async function close(part: Part, facts: ClosingFacts, outer: AbortSignal): Promise<Closing> {
		const signal = AbortSignal.any([outer, AbortSignal.timeout(MOST_MS)])
		const kept = rounds.keptOf(facts.watches)
		const draft = draftOf(facts.books)
		const movements = movementsOf(part.transactions, kept, part.blocks.values())
		const found: Settling['found'] = { findings: [], witnessed: [], changes: [] }
		for (const address of facts.books.keys()) if (!kept.has(address)) draft.set(address, null)

		const isNear = facts.head - part.span.to <= STATE_BLOCKS
		if (facts.watches.size > MOST_KEPT) tooMany()
		if (kept.size === 0) return result()
		if (!isNear || clock() < restsUntilMs) {
			putBy(draft, movements)
			return result()
		}
		const turns = rounds.next(part)
		let told: Told
		try {
			told = await askBalances(part, movements, { turns, limited: rounds.limited() }, draft, accounts, signal)
			works()
		} catch (error) {
			outer.throwIfAborted()
			if (error instanceof RpcError) failed(error)
			else if (signal.aborted) failed(tooSlow())
			else throw error
			putBy(draft, movements)
			return result()
		}
		await settle(part, told, { draft, found, gaps: facts.gaps, isNew: facts.isNew }, signal)
		outer.throwIfAborted()
		return result()

		function result(): Closing {
			summary = summaryOf(kept, draft, reason)
			return { books: draft.changes, ...found, summary }
		}
	}

	/** Block by block: what does not close is looked into before the next block is. */
	async function settle(
		part: Part,
		told: Told,
		{ draft, found, gaps, isNew }: Settling,
		signal: AbortSignal,
	): Promise<void> {
		const startedAtMs = clock()
		let looks = 0
		/** Their books wait for the next poll. */
		const waiting = new Set<Address>()
		/** Whose balance was never known before. */
		const unknown = new Set(
			[...told.openings.keys()].filter((address) => draft.get(address) === null && isNew(address)),
		)
		for (const [address, wei] of told.openings)
			draft.set(address, closedAt(part.span.from - 1n, wei, codeIn(told.openings, address)))
		const closeAt = (address: Address, ref: BlockRef, balances: Balances) => {
			const before = draft.get(address)
			const balanceWei = balances.get(address) ?? 0n
			const previousWei = unknown.delete(address) ? null : (before?.balanceWei ?? balanceWei)
			const seen = codeIn(balances, address)
			const code = seen === undefined ? before?.code : seen
			draft.set(address, closedAt(ref.number, balanceWei, code))
			if (before !== null && before.code !== undefined && code !== before.code)
				found.changes.push({ address, from: before.block, to: ref })
			const block = part.blocks.get(ref.number) ?? (ref.number === part.last.number ? part.last : undefined)
			if (previousWei === balanceWei || block === undefined || !rounds.limited().has(address)) return
			const change = { kind: 'balance', address, block, previousWei, balanceWei } as const
			found.findings.push({ ...change, crossed: 'below' }, { ...change, crossed: 'above' })
		}
		for (const { ref, balances, movements } of told.blocks) {
			for (const [address, closingWei] of balances) {
				const movement = movements.get(address) ?? still
				const book = draft.get(address)
				if (book === null) {
					closeAt(address, ref, balances)
				} else if (waiting.has(address)) {
					draft.set(address, deferred(book, movement))
				} else if (closes(book.balanceWei + book.movedWei, movement, closingWei)) {
					feesAreKnown ||= movement.posted[0] < 0n
					closeAt(address, ref, balances)
				} else {
					const mayLook = looks < MOST_CLOSER && clock() - startedAtMs < CLOSER_MS
					looks++
					const suspect = {
						address,
						book,
						to: ref,
						closingWei,
						movements: told.all,
						scannedFrom: part.span.from,
						gaps,
						feesAreKnown,
					}
					const closer = mayLook ? await tryCloser(suspect, signal) : null
					if (closer === null) {
						waiting.add(address)
						draft.set(address, deferred(book, movement))
						continue
					}
					feesAreKnown ||= closer.feesHeld
					found.findings.push(...closer.findings)
					found.witnessed.push(...closer.witnessed)
					for (const { from, to, why } of closer.unproved) {
						log.warn(
							{ address, from, to, why },
							'nothing can be proved of these blocks: the book is opened anew after them',
						)
					}
					closeAt(address, ref, balances)
				}
			}
		}
	}

	/** Null: not now. */
	async function tryCloser(suspect: Parameters<typeof lookCloser>[0], signal: AbortSignal): Promise<CloserLook | null> {
		try {
			return await lookCloser(suspect, { accounts, chain }, signal)
		} catch (error) {
			if (!(error instanceof RpcError) && !signal.aborted) throw error
			log.debug({ address: suspect.address, err: error }, 'a book is looked into at the next poll')
			return null
		}
	}

	return { close, summary: () => summary }
}

/** Undefined where it was not told. */
function codeIn({ codes }: Balances, address: Address): string | null | undefined {
	return codes === undefined ? undefined : (codes.get(address) ?? null)
}

function tooSlow(): RpcError {
	return new RpcError(`balances were not told within ${MOST_MS / 1_000} s`, { kind: 'timeout', endpoint: '' })
}

/** No balance can be asked for: what moved is added up, to be proved later. */
function putBy(draft: BooksDraft, movements: Movements): void {
	for (const [address, movement] of summed(movements)) {
		const book = draft.get(address)
		if (book !== null) draft.set(address, deferred(book, movement))
	}
}
