/**
 * The room reads the state by asking for it: balances and code at recent blocks, by `eth_call`, `eth_getBalance` and
 * `eth_getCode`.
 */

import { signalWithin, withDeadline } from '../../base/waits/deadline.js'
import { closedAt, MOST_BOOKS, movementsOf, tooManyInWords } from '../../core/ledger/books.js'
import { RpcError } from '../../errors.js'
import type { Accounts, Book, BookSet } from '../../model/books.js'
import type { AddressSet, BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Chain } from '../../model/ports.js'
import { type BlockLists, listedCodes, listsOf, withBlocks, withListed } from '../accessLists.js'
import type { AuditorOptions, ClosingFacts, PartAudit, StateReader } from '../auditor.js'
import { deferAll } from '../booksDraft.js'
import { summaryOf } from '../booksSummary.js'
import { codeIn, type FailedLooks } from '../closeBooks.js'
import { type AskedBalances, askBalances } from './askBalances.js'

/** Most nodes keep the state of 128 blocks. Movements in older blocks are deferred until newer blocks are read. */
const STATE_BLOCKS = 120n

/** Whether nodes can be expected to have the state of this block. */
export function isKeepingState(block: bigint, head: bigint): boolean {
	return head - block <= STATE_BLOCKS
}
/** Time limit for one part, since the next part waits. */
const MOST_MS = 8_000
/** Backoff after a request for balances failed. */
const REST_MS = 30_000

export function createAskedState(options: AuditorOptions): StateReader {
	const { accounts, chain, clock, log } = options
	/** Why the books cannot be closed now; null if they can. */
	let reason: string | null = null
	let restsUntilMs = 0
	/** The last block of the previous part; null before the first. One that begins no later follows a reorganisation. */
	let lastTo: bigint | null = null
	/** After a reorganisation: the first block whose books must be opened again. */
	let reopenedFrom: bigint | null = null
	const failedLooks: FailedLooks = new Map()
	/** The watches and the block of the last attempt to open books, successful or not. */
	let opened: { readonly kept: AddressSet; readonly hash: string } | null = null

	function failed(error: RpcError): void {
		// The chain changed; the next poll handles that.
		if (error.kind === 'unsettled') return
		restsUntilMs = clock() + REST_MS
		if (reason === null)
			log.warn({ error: error.message }, 'the books cannot be closed now: no endpoint gives balances')
		reason = error.message
	}

	function tooMany(): void {
		if (reason !== tooManyInWords)
			log.warn({ most: MOST_BOOKS, reason: tooManyInWords }, 'too many watches for books: balances are not checked')
		reason = tooManyInWords
	}

	function works(): void {
		if (reason !== null) log.info({}, 'the books can be closed again')
		reason = null
	}

	/** Tells which addresses without a book never had one, and from which block each book should have been kept. */
	function openingsFrom({ part, facts, last }: PartAudit) {
		const before = last ?? facts.before
		const areAllOpen = before?.unopened === 0
		if (areAllOpen) reopenedFrom = null
		// All books were open, so an address without a book lost it in the reorganisation.
		const isBack = lastTo === null ? facts.books.size < (before?.closed ?? 0) : part.span.from <= lastTo
		if (isBack && areAllOpen) reopenedFrom = part.span.from
		lastTo = part.span.to
		// A reorganisation before the start may have dropped books; later ones are known. Any other missing book is new,
		// even if the address was first seen many blocks ago.
		const isAnyNew = reopenedFrom === null && (last !== null || facts.before?.unopened !== 0)
		return {
			isNew: (address: Address) => isAnyNew || facts.since(address) >= part.span.from,
			first: (address: Address) => later(facts.since(address), reopenedFrom),
			comparesFrom: (address: Address) => (reopenedFrom === null ? 0n : firstClosing(address, facts)),
		}
	}

	async function read(audit: PartAudit, outer: AbortSignal): Promise<void> {
		const { part, facts, kept, rotation, draft, found } = audit
		const signal = signalWithin(MOST_MS, outer)
		let movements = movementsOf(part.transactions, kept, part.blocks.values())
		const openings = openingsFrom(audit)
		if (kept.size === 0) return
		if (!isKeepingState(part.span.to, facts.head) || clock() < restsUntilMs) return deferAll(draft, movements)
		const next = rotation.next(part, facts.books.size < kept.size)
		for (const address of failedLooks.keys()) if (!kept.has(address)) failedLooks.delete(address)
		const due = failedLooks.size === 0 ? next : [...new Set([...next, ...failedLooks.keys()])]
		let asked: AskedBalances
		let lists: BlockLists = []
		let listed = part
		try {
			lists = await listsOf(part, { accounts, chain }, signal)
			movements = withListed(movements, lists, kept)
			listed = withBlocks(part, lists)
			const closing = { movements, draft, due, limited: rotation.limited(), closeAt: facts.closeAt, kept }
			asked = await askBalances(listed, closing, accounts, signal)
			works()
		} catch (error) {
			outer.throwIfAborted()
			const isStateless = error instanceof RpcError && error.kind === 'no-data'
			const isReplaced = isStateless && (await hasLeft(part.last, chain, signal))
			outer.throwIfAborted()
			if (error instanceof RpcError) {
				if (!isReplaced) failed(error)
			} else if (signal.aborted) failed(tooSlow())
			else throw error
			return deferAll(draft, movements)
		}
		await audit.closeOver({ part: listed, asked, lists, ...openings, failedLooks }, signal)
		found.changes.push(...listedCodes(lists, kept, found.changes))
	}

	return {
		read,
		summary(kept, books, unproved, watched) {
			if (watched > MOST_BOOKS) tooMany()
			return summaryOf(kept, books, reason, unproved)
		},
		async open(at, facts, own, outer) {
			const isTried = opened?.kept === own.kept && opened.hash === at.hash
			if (isTried || !isKeepingState(at.number, facts.head) || clock() < restsUntilMs) return null
			opened = { kept: own.kept, hash: at.hash }
			const late = () => {
				throw tooSlow()
			}
			try {
				const ask = (signal: AbortSignal) => newBooks(at, { ...facts, ...own }, accounts, signal)
				return await withDeadline(MOST_MS, ask, late, outer)
			} catch (error) {
				outer.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				// They are asked for again with the next block.
				log.debug({ err: error }, 'the books of new watches cannot be opened now')
				return null
			}
		},
	}
}

/** The first block, as far as it is known, at which the book of a watch was closed before a reorganisation. */
function firstClosing(address: Address, { since, closeAt }: Pick<ClosingFacts, 'since' | 'closeAt'>): bigint {
	let first = since(address)
	for (const [number, addresses] of closeAt) if (number < first && addresses.has(address)) first = number
	return first
}

function later(block: bigint, other: bigint | null): bigint {
	return other !== null && other > block ? other : block
}

/** Endpoints say of a block that left the chain that they have no state of it; the next poll handles that. */
async function hasLeft({ number, hash }: BlockRef, chain: Pick<Chain, 'block'>, signal: AbortSignal): Promise<boolean> {
	try {
		return (await chain.block(number, signal))?.hash !== hash
	} catch (error) {
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		return false
	}
}

function tooSlow(): RpcError {
	return new RpcError(`no endpoint gave balances within ${MOST_MS / 1_000} s`, { kind: 'timeout', endpoint: '' })
}

/** Most books opened at once: they fit into one request. */
const MOST_OPENED = 2_000
/** With more watches, new ones are not searched for; the rotation opens their books. */
const MOST_LOOKED_AT = 20_000

interface NewBooks {
	readonly kept: AddressSet
	/** Watches with thresholds. Their books are opened with the next block, since this function announces no crossing. */
	readonly limited: AddressSet
	readonly books: BookSet
	/** First block of an address. Books with an earlier first block are opened late, and reported as such. */
	readonly since: (address: Address) => bigint
}

/** Opens the books of watches that begin after block `at`, at that block: nodes may prune its state later. */
async function newBooks(
	at: BlockRef,
	{ kept, limited, books, since }: NewBooks,
	accounts: Pick<Accounts, 'balances'>,
	signal: AbortSignal,
): Promise<ReadonlyMap<Address, Book>> {
	if (kept.size > MOST_LOOKED_AT || kept.size <= books.size) return new Map()
	const all: Address[] = []
	for (let keys = kept.keys(), one = keys.next(); one.done !== true; one = keys.next()) all.push(one.value)
	const fresh = all.filter((one) => !books.has(one) && !limited.has(one) && since(one) > at.number)
	if (fresh.length === 0 || fresh.length > MOST_OPENED) return new Map()
	const balances = await accounts.balances(fresh, at, signal)
	return new Map([...balances].map(([address, wei]) => [address, closedAt(at.number, wei, codeIn(balances, address))]))
}
