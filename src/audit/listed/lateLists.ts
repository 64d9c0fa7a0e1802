/**
 * Reads the access lists of a private network's blocks. A list that no endpoint gives yet is asked for again with each
 * part, within limits. Later blocks wait for it, since books are closed in the order of the chain.
 */

import { signalWithin } from '../../base/waits/deadline.js'
import { firstOf, lengthOf, numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { Accounts, BlockChanges, BooksSummary, Posting } from '../../model/books.js'
import type { AddressSet, Block, Part, Span } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import type { Chain, Log } from '../../model/ports.js'
import type { Gap } from '../../model/state.js'
import type { BlockLists } from '../accessLists.js'
import { headerIn, replaced } from '../blocks.js'
import type { BlockPostings } from './listedBalances.js'

const DURING = 'its access list was asked for'

/** Consecutive blocks of which either all have a list or none has. */
export interface ListedRun {
	readonly part: Part
	/** Null: the movements of these blocks are deferred. */
	readonly lists: BlockLists | null
	readonly postings: BlockPostings
}

export interface ListReading {
	/** Blocks before the part that were read again, in order; their movements were deferred. */
	readonly again: readonly ListedRun[]
	/** Runs that cover the whole part. */
	readonly runs: readonly ListedRun[]
	/** Blocks that are no longer waited for: no endpoint gave their lists. */
	readonly lost: readonly (Span & Missing)[]
	/** The first block whose list is asked for again; null: none is missing. */
	readonly waits: ({ readonly from: bigint } & Missing) | null
}

export interface Missing {
	/** Hosts that gave a list which contradicts the header; null: none gave any. */
	readonly falseBy: string | null
}

export interface LateLists {
	/** Reads lists from block `from` on: the first block without a list, or the first of the part. Throws no RpcError. */
	read(part: Part, from: bigint, facts: ReadFacts, signal: AbortSignal): Promise<ListReading>
}

export interface ReadFacts {
	readonly kept: AddressSet
	readonly gaps: ReadonlyMap<bigint, Gap>
}

export interface LateListsOptions {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

interface Given {
	readonly block: Block
	readonly changes: BlockChanges
	/** Null: no endpoint gives the cost of the block's transactions. */
	readonly postings: readonly Posting[] | null
}

/** At most this many blocks wait for lists; more are far from the head, or no endpoint gives lists. */
const MOST_WAITING = 512n
/** Lists read with one part. */
const MOST_AT_ONCE = 64n
/** Time limit per part for lists and costs, and again for reading blocks again, since the next part waits. */
const MOST_MS = 8_000
/** Backoff after the time limit passed without a single list; nothing is asked meanwhile. */
const REST_MS = 30_000
/** A list counts as lost after at least 3 failures and 60 s. */
const PATIENCE = { looks: 3, ms: 60_000 }

/** The first block whose list is to be read with this part, according to the stored summary. */
export function waitingFrom(before: BooksSummary | undefined, { span }: Part): bigint {
	const { waiting, listed } = before ?? {}
	const first = waiting?.from ?? (listed === undefined ? null : listed.to + 1)
	return first === null || BigInt(first) > span.from ? span.from : BigInt(first)
}

export function createLateLists({ accounts, chain, clock, log }: LateListsOptions): LateLists {
	const missed = new Map<bigint, Missing & { readonly looks: number; readonly sinceMs: number }>()
	let restsUntilMs = 0

	function noteMissed(number: bigint, falseBy: string | null): void {
		const { looks = 0, sinceMs = clock() } = missed.get(number) ?? {}
		missed.set(number, { looks: looks + 1, sinceMs, falseBy })
	}

	const waitsAt = (from: bigint) => ({ from, falseBy: missed.get(from)?.falseBy ?? null })

	function isOver(number: bigint): boolean {
		const one = missed.get(number)
		return one !== undefined && one.looks >= PATIENCE.looks && clock() - one.sinceMs >= PATIENCE.ms
	}

	async function read(part: Part, first: bigint, facts: ReadFacts, outer: AbortSignal): Promise<ListReading> {
		const { span } = part
		const lost: (Span & Missing)[] = []
		let from = first
		if (lengthOf({ from, to: span.to }) > MOST_WAITING && from < span.from) {
			lost.push({ from, to: span.from - 1n, falseBy: null })
			from = span.from
		}
		for (const number of missed.keys()) if (number < from || number > span.to) missed.delete(number)
		const unlisted = { again: [], runs: [{ part, lists: null, postings: new Map() }], lost }
		if (lengthOf(span) > MOST_WAITING) return { ...unlisted, lost: [...lost, { ...span, falseBy: null }], waits: null }
		if (clock() < restsUntilMs) return { ...unlisted, waits: waitsAt(from) }

		const signal = signalWithin(MOST_MS, outer)
		const given = new Map<bigint, Given>()
		const now = firstOf({ from, to: span.to }, Number(MOST_AT_ONCE))
		let waits = now.to < span.to ? waitsAt(now.to + 1n) : null
		let falseBy: string | null = null
		for (const number of numbersOf(now)) {
			falseBy = null
			const job = () => givenOf(number, part, facts.kept, signal)
			const one = facts.gaps.has(number) ? 'lost' : await orLater(job, signal)
			if (one === 'later' && !isOver(number)) {
				if (signal.aborted && given.size === 0) restsUntilMs = clock() + REST_MS
				noteMissed(number, falseBy)
				waits = waitsAt(number)
				break
			}
			if (one === 'lost' || one === 'later') lost.push({ from: number, to: number, falseBy })
			else if (one !== 'none') given.set(number, one)
		}
		const before = [...given.keys()].filter((number) => number < span.from)
		const last = before.at(-1)
		if (last === undefined) return { again: [], runs: cutBy(given, part), lost, waits }
		const walking = signalWithin(MOST_MS, outer)
		const again = await orLater(() => readAgain({ from, to: last, kept: facts.kept }, part, given, walking), walking)
		if (again !== 'later') {
			return { again: again.flatMap((one) => cutBy(given, one)), runs: cutBy(given, part), lost, waits }
		}
		noteMissed(from, null)
		if (!isOver(from)) return { ...unlisted, lost: lost.filter(({ to }) => to < from), waits: waitsAt(from) }
		for (const number of before) {
			lost.push({ from: number, to: number, falseBy: null })
			given.delete(number)
		}
		return { again: [], runs: cutBy(given, part), lost, waits }

		/** Resolves to 'later' on an RpcError or a timeout. */
		async function orLater<T>(job: () => Promise<T>, bounded: AbortSignal): Promise<T | 'later'> {
			try {
				return await job()
			} catch (error) {
				outer.throwIfAborted()
				if (!(error instanceof RpcError) && !bounded.aborted) throw error
				if (error instanceof RpcError && error.facts.content === true) falseBy = error.facts.endpoint
				log.debug({ from, to: span.to, err: error }, 'an access list is asked for again')
				return 'later'
			}
		}
	}

	async function givenOf(
		number: bigint,
		part: Part,
		kept: AddressSet,
		signal: AbortSignal,
	): Promise<Given | 'none' | 'later'> {
		const block = await headerIn(part, number, chain, signal)
		if (block === null) return 'later'
		if (block.accessListHash === undefined) return 'none'
		const changes = await accounts.changes(block, signal)
		if (changes === null) return 'later'
		const isStill = block.txHashes.length === 0 && (block.withdrawals ?? []).length === 0
		return { block, changes, postings: isStill ? [] : await postingsIn(block, kept, signal) }
	}

	async function postingsIn(block: Block, kept: AddressSet, signal: AbortSignal): Promise<readonly Posting[] | null> {
		try {
			return await accounts.postings(block, kept, signal)
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			const isForGood = error.kind === 'no-data' && error.facts.forNow !== true
			if (!isForGood && !isOver(block.number)) throw error
			log.debug({ block: block.number, err: error }, 'what transactions cost is not known: some books are opened anew')
			return null
		}
	}

	/** Reads blocks again; they must be those of the lists and adjoin the part. Throws RpcError `unsettled` if not. */
	async function readAgain(
		{ kept, ...span }: Span & { readonly kept: AddressSet },
		part: Part,
		given: ReadonlyMap<bigint, Given>,
		signal: AbortSignal,
	): Promise<readonly Part[]> {
		const parts: Part[] = []
		for await (const one of chain.walk(span, kept, signal)) parts.push(one)
		let before: Block | null = null
		for (const { last, parentHash } of parts) {
			const isApart = before !== null && parentHash !== undefined && parentHash !== before.hash
			const isOther = (given.get(last.number)?.block.hash ?? last.hash) !== last.hash
			if (isApart || isOther) throw replaced(last.number, DURING)
			before = last
		}
		const isAdjoining = span.to + 1n === part.span.from && part.parentHash !== undefined
		if (isAdjoining && before?.hash !== part.parentHash) throw replaced(span.to, DURING)
		return parts
	}

	return { read }
}

/** Cuts a part into runs of blocks with and without lists. */
function cutBy(given: ReadonlyMap<bigint, Given>, part: Part): readonly ListedRun[] {
	const runs: ListedRun[] = []
	let { from } = part.span
	for (const number of numbersOf(part.span)) {
		const isEnd = number === part.span.to || given.has(number) !== given.has(number + 1n)
		if (!isEnd) continue
		const last = number === part.span.to ? part.last : given.get(number)?.block
		const lists = [...numbersOf({ from, to: number })].flatMap((one) => given.get(one) ?? [])
		const own = sliceOf(part, { from, to: number }, last ?? part.last)
		const postings = new Map(lists.map(({ block, postings: paid }) => [block.number, paid]))
		runs.push({ part: own, lists: given.has(number) ? lists : null, postings })
		from = number + 1n
	}
	return runs
}

function sliceOf(part: Part, span: Span, last: Block): Part {
	if (span.from === part.span.from && span.to === part.span.to) return part
	const isIn = (number: bigint) => span.from <= number && number <= span.to
	const { parentHash } = part
	return {
		span,
		last,
		...(span.from === part.span.from && parentHash !== undefined && { parentHash }),
		blocks: new Map([...part.blocks].filter(([number]) => isIn(number))),
		transactions: part.transactions.filter(({ block }) => isIn(block.number)),
	}
}
