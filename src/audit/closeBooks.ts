import { nextSlice } from '../base/waits/slices.js'
import { isAccepted, isOpen } from '../core/gaps.js'
import { closedAt, closes, deferred, type Movement, still } from '../core/ledger/books.js'
import type { Announced, Proof } from '../core/reconcile/refuted.js'
import { RpcError } from '../errors.js'
import type { Finding } from '../kinds/list.js'
import type { Accounts, Balances, Book, Posting, Unproved } from '../model/books.js'
import type { BlockRef, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Gap } from '../model/state.js'
import type { AskedBalances } from './asked/askBalances.js'
import { type Bisection, bisectDifference, type Examined } from './bisectDifference.js'
import type { BooksDraft } from './booksDraft.js'
import type { CodeChange } from './delegations/delegations.js'

export interface BookFindings {
	readonly findings: Finding[]
	readonly witnessed: Proof[]
	readonly changes: CodeChange[]
}

export interface ClosingBooks {
	readonly asked: AskedBalances
	/** Like `found`, updated in place. */
	readonly draft: BooksDraft
	readonly found: BookFindings
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** The block from which the book of an address should have been kept. */
	readonly first: (address: Address) => bigint
	/** Whether an address without a book never had one; a threshold then compares with no previous balance. */
	readonly isNew: (address: Address) => boolean
	/** The block before which a book that a reorganisation dropped compares no threshold: it was not kept. Default: 0. */
	readonly comparesFrom?: (address: Address) => bigint
	/** `limitsOf` the watches of an address. */
	readonly limits: (address: Address) => string | null
	readonly feesAreKnown: boolean
	readonly announced: Announced
	/** Books that could not be examined; updated in place. */
	readonly failedLooks: FailedLooks
	/** Whether this is the only attempt: an unanswered question then counts as unproved at once. */
	readonly isFinal?: boolean
}

/** Attempts by address, and when the first one failed. */
export type FailedLooks = Map<Address, { readonly looks: number; readonly sinceMs: number }>

export interface ClosedPart {
	readonly unproved: readonly Unproved[]
	/** Blocks that closed by the frames of this reading, by `keyOf`. */
	readonly closed: ReadonlyMap<string, ClosedBlock>
	readonly feesAreKnown: boolean
}

export interface ClosedBlock {
	/** Balance before it. */
	readonly openingWei: bigint
	/** What closed it beside the frames; null: the receipts did not have to be asked. */
	readonly postings: readonly Posting[] | null
}

export interface ClosePorts {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
	/** See `AuditorOptions`. */
	readonly runsOnce: boolean
}

/** Limits, per part, for examining books that do not close: 50 books, 4 s. The rest follow with the next part. */
const MOST_CLOSER = 50
const CLOSER_MS = 4_000
/** Books closed before yielding; they take some milliseconds. */
const AT_ONCE = 2_000

/** Tries and time until a passing failure is permanent; fewer for a silent witness, which a finding can do without. */
const GIVE_UP_AFTER = { looks: 30, ms: 60_000 }
const UNHEARD = { looks: 10, ms: 60_000 }

/** Reasons shown in the summary of `status`. */
const OPENED_LATE = 'the book was opened at the end of them'
const NOT_LOOKED_INTO = 'there was no time to look into them'
const MOST_NAMED = 3

/** Closes the books block by block. A book that does not close is examined before the next block. */
export async function closeBooks(
	part: Part,
	{
		asked,
		draft,
		found,
		gaps,
		first,
		isNew,
		comparesFrom = () => 0n,
		limits: limitsAt,
		feesAreKnown: areKnown,
		announced,
		failedLooks,
		isFinal = false,
	}: ClosingBooks,
	ports: ClosePorts,
	signal: AbortSignal,
): Promise<ClosedPart> {
	const { clock, log, runsOnce } = ports
	const startedAtMs = clock()
	const unproved: Unproved[] = []
	const closed = new Map<string, ClosedBlock>()
	let feesAreKnown = areKnown
	let looks = 0
	/** Addresses whose books wait for the next poll. */
	const waiting = new Set<Address>()
	/** Books opened with this part that should have been kept earlier, with the first block of each. */
	const openedLate = new Map<Address, bigint>()
	const before = part.span.from - 1n
	for (const [address, wei] of asked.openings) {
		if (part.span.to < comparesFrom(address)) continue
		const limits = isNew(address) ? null : limitsAt(address)
		noteOpening(address, before)
		const book = closedAt(before, wei, codeIn(asked.openings, address))
		draft.set(address, { ...book, ...(limits !== null && { compared: { limits, at: before } }) })
	}

	function noteOpening(address: Address, block: bigint): void {
		const from = first(address)
		if (draft.get(address) === null && from <= block) openedLate.set(address, from)
	}

	function closeAt(address: Address, ref: BlockRef, balances: Balances, movement: Movement): void {
		noteOpening(address, ref.number)
		failedLooks.delete(address)
		const book = draft.get(address)
		const balanceWei = balances.get(address) ?? 0n
		const block = part.blocks.get(ref.number) ?? (ref.number === part.last.number ? part.last : undefined)
		const limits = limitsAt(address)
		const comparedLimits = book === null && !isNew(address) ? limits : (book?.compared?.limits ?? '')
		// A threshold that is compared for the first time has no previous balance.
		const isFirst = limits !== null && comparedLimits !== limits
		const isEarly = isFirst && (block === undefined || ref.number < comparesFrom(address))
		const previousWei = book?.balanceWei ?? (isFirst ? null : balanceWei)
		const compared = (isFirst ? undefined : book?.compared) ?? { limits: limits ?? '', at: ref.number }
		const seen = codeIn(balances, address)
		const code = seen === undefined ? book?.code : seen
		const isStill = book !== null && movement === still && book.balanceWei === balanceWei && book.code === code
		const next = closedAt(ref.number, balanceWei, code, isStill ? book.movedAt : ref.number)
		const kept = isEarly ? book?.compared : compared
		draft.set(address, { ...next, ...(limits !== null && kept && { compared: kept }) })
		if (book?.code !== undefined && code !== undefined && code !== book.code)
			found.changes.push({ address, from: book.block, to: ref })
		if (isEarly || block === undefined || limits === null || comparedLimits === null) return
		if (!isFirst && previousWei === balanceWei) return
		const change = { kind: 'balance', address, block, previousWei, comparedLimits, balanceWei } as const
		found.findings.push({ ...change, crossed: 'below' }, { ...change, crossed: 'above' })
	}

	/** Closes the book at the last block examined, so that the next look begins there. The rest waits in the book. */
	function closeUntil(
		{ address, ref, book, code }: { address: Address; ref: BlockRef; book: Book; code: string | null | undefined },
		{ block, wei, restWei }: Examined,
	): void {
		if (book.code !== undefined && code !== undefined && code !== book.code)
			found.changes.push({ address, from: book.block, to: ref })
		const known = book.code === undefined ? undefined : code === undefined ? book.code : code
		const { compared, balanceWei: previousWei } = book
		const next = closedAt(block.number, wei, known, ref.number)
		draft.set(address, { ...next, movedWei: restWei, ...(compared !== undefined && { compared }) })
		const comparedLimits = limitsAt(address)
		if (previousWei === wei || comparedLimits === null) return
		const change = { kind: 'balance', address, block, previousWei, comparedLimits, balanceWei: wei } as const
		found.findings.push({ ...change, crossed: 'below' }, { ...change, crossed: 'above' })
	}

	let seen = 0
	for (const { ref, balances, movements } of asked.blocks) {
		for (const [address, closingWei] of balances) {
			if (++seen % AT_ONCE === 0) await nextSlice()
			const movement = movements.get(address) ?? still
			const book = draft.get(address)
			if (book === null) {
				if (part.span.to >= comparesFrom(address)) closeAt(address, ref, balances, movement)
			} else if (
				waiting.has(address) ||
				(!isFinal && failedLooks.has(address) && waitsFor(gaps.get(book.block + 1n)))
			) {
				draft.set(address, deferred(book, movement, ref.number))
			} else if (closes(book.balanceWei + book.movedWei, movement, closingWei)) {
				feesAreKnown ||= movement.posted[0] < 0n
				closed.set(keyOf(address, ref.number), { openingWei: book.balanceWei + book.movedWei, postings: null })
				closeAt(address, ref, balances, movement)
			} else {
				// A final attempt has no next time, so only the signal limits it.
				const mayLook = looks < MOST_CLOSER && (isFinal || clock() - startedAtMs < CLOSER_MS)
				looks++
				const scanned = { movements: asked.all, scannedFrom: part.span.from, gaps, feesAreKnown }
				const reading = { announced, ...(part.endpoint !== undefined && { endpoint: part.endpoint }) }
				const before = failedLooks.get(address)
				const isOver = ({ looks: most, ms }: typeof GIVE_UP_AFTER) =>
					before !== undefined && before.looks >= most && clock() - before.sinceMs >= ms
				const patience = {
					mayWait: !isFinal && !isOver(GIVE_UP_AFTER),
					isHeardEnough: isFinal || runsOnce || isOver(UNHEARD),
				}
				const suspect = {
					address,
					book,
					to: ref,
					closingWei,
					endsEarly: true,
					isFinal,
					...patience,
					...scanned,
					...reading,
				}
				const closer = mayLook ? await tryBisecting(suspect, ports, signal) : null
				if (closer === null && isFinal) {
					const [fromBlock, toBlock] = [Number(book.block + 1n), Number(ref.number)]
					unproved.push({ fromBlock, toBlock, count: 1, addresses: [address], why: NOT_LOOKED_INTO })
					closeAt(address, ref, balances, movement)
					continue
				}
				if (closer === null) {
					const looks = (before?.looks ?? 0) + (mayLook ? 1 : 0)
					failedLooks.set(address, { looks, sinceMs: before?.sinceMs ?? clock() })
					waiting.add(address)
					draft.set(address, deferred(book, movement, ref.number))
					continue
				}
				feesAreKnown ||= closer.feesHeld
				found.findings.push(...closer.findings)
				found.witnessed.push(...closer.witnessed)
				const own = closer.looked.find(({ block }) => block.number === ref.number)
				if (own?.closes === true)
					closed.set(keyOf(address, ref.number), { openingWei: closingWei - own.changeWei, postings: own.postings })
				for (const { from, to, why } of closer.unproved) {
					unproved.push({ fromBlock: Number(from), toBlock: Number(to), count: 1, addresses: [address], why })
					log.warn(
						{ address, from, to, why },
						'nothing can be proved of these blocks: the book is opened anew after them',
					)
				}
				if (closer.until !== null) {
					const code = codeIn(balances, address)
					closeUntil({ address, ref, book, code }, closer.until)
					if (!isFinal) {
						failedLooks.set(address, { looks: 1, sinceMs: clock() })
						waiting.add(address)
						continue
					}
					const [fromBlock, toBlock] = [Number(closer.until.block.number + 1n), Number(ref.number)]
					unproved.push({ fromBlock, toBlock, count: 1, addresses: [address], why: NOT_LOOKED_INTO })
				}
				closeAt(address, ref, balances, movement)
			}
		}
	}
	return { unproved: [...unproved, ...lateOnes(openedLate, part.span.to)], closed, feesAreKnown }
}

/** Whether the gap after a book's last block keeps it open. */
function waitsFor(gap: Gap | undefined): boolean {
	return gap !== undefined && isOpen(gap) && !isAccepted(gap)
}

export function keyOf(address: Address, block: bigint): string {
	return `${address} ${block}`
}

/** Null: it could not be examined now. */
async function tryBisecting(
	suspect: Parameters<typeof bisectDifference>[0],
	{ accounts, chain, log }: ClosePorts,
	signal: AbortSignal,
): Promise<Bisection | null> {
	try {
		return await bisectDifference(suspect, { accounts, chain }, signal)
	} catch (error) {
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		log.debug({ address: suspect.address, err: error }, 'a book is looked into at the next poll')
		return null
	}
}

/** One entry for all of them, since many new watches cause many. */
function lateOnes(openedLate: ReadonlyMap<Address, bigint>, to: bigint): readonly Unproved[] {
	if (openedLate.size === 0) return []
	let from = to
	for (const first of openedLate.values()) if (first < from) from = first
	const addresses = [...openedLate.keys()].slice(0, MOST_NAMED)
	return [{ fromBlock: Number(from), toBlock: Number(to), count: openedLate.size, addresses, why: OPENED_LATE }]
}

/** The code in the answer. Undefined: no endpoint gave the code. Null: the address has no code. */
export function codeIn({ codes }: Balances, address: Address): string | null | undefined {
	return codes === undefined ? undefined : (codes.get(address) ?? null)
}
