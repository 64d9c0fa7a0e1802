import { closedAt, closes, deferred, still } from '../core/books.js'
import type { Finding } from '../core/findings.js'
import { RpcError } from '../errors.js'
import type { Accounts, Balances, Unproved, Witness } from '../model/books.js'
import type { AddressSet, BlockRef, Part } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Gap } from '../model/state.js'
import type { AskedBalances } from './askBalances.js'
import type { BooksDraft } from './booksDraft.js'
import type { CodeChange } from './delegations.js'
import { yieldNow } from './inSteps.js'
import { type CloserLook, lookCloser } from './lookCloser.js'

/** What was found on the way. */
export interface Settled {
	readonly findings: Finding[]
	readonly witnessed: Witness[]
	readonly changes: CodeChange[]
}

export interface Settling {
	/** Written into, as is `found`. */
	readonly draft: BooksDraft
	readonly found: Settled
	/** Blocks before the part that nobody could give. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** From where on the book of an address was to be kept. */
	readonly first: (address: Address) => bigint
	/** Whether an address without a book never had one: what it has is news. */
	readonly isNew: (address: Address) => boolean
	/** Those whose balance has a threshold. */
	readonly limited: AddressSet
	readonly feesAreKnown: boolean
	/** Books that were looked into in vain; written into. */
	readonly vain: VainLooks
	/** What cannot be answered now is not asked for again: then what is known is said at once. */
	readonly isFinal?: boolean
}

/** By address: how often, and since when. */
export type VainLooks = Map<Address, { readonly looks: number; readonly sinceMs: number }>

export interface SettledPart {
	readonly unproved: readonly Unproved[]
	/** Balances before blocks, by `keyOf`, where the block closes by what was known. */
	readonly openings: ReadonlyMap<string, bigint>
	readonly feesAreKnown: boolean
}

export interface SettlePorts {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly clock: Clock
	readonly log: Log
}

/** Books that do not close at first are looked into, this many over one part and for this long; the rest next time. */
const MOST_CLOSER = 50
const CLOSER_MS = 4_000
/** Closed in one breath: some milliseconds. */
const AT_ONCE = 2_000

/**
 * What fails in passing is waited for so long, and so many looks at least. An endpoint that cannot be a witness is
 * waited for less: without it there is still something to say, without balances there is not.
 */
const VAIN = { looks: 30, ms: 60_000 }
const UNHEARD = { looks: 10, ms: 60_000 }

/** In the summary of `status`. */
const OPENED_LATE = 'the book was opened at the end of them'
const NOT_LOOKED_INTO = 'there was no time to look into them'
const MOST_NAMED = 3

/** Block by block: what does not close is looked into before the next block is. */
export async function settle(
	part: Part,
	asked: AskedBalances,
	{ draft, found, gaps, first, isNew, limited, feesAreKnown: areKnown, vain, isFinal = false }: Settling,
	ports: SettlePorts,
	signal: AbortSignal,
): Promise<SettledPart> {
	const { clock, log } = ports
	const startedAtMs = clock()
	const unproved: Unproved[] = []
	const openings = new Map<string, bigint>()
	let feesAreKnown = areKnown
	let looks = 0
	/** Their books wait for the next poll. */
	const waiting = new Set<Address>()
	/** Whose balance was never known before. */
	const unknown = new Set<Address>()
	/** Opened with this part, although their books were to be kept before; and the first block of these. */
	const openedLate = new Map<Address, bigint>()
	const before = part.span.from - 1n
	for (const [address, wei] of asked.openings) {
		if (draft.get(address) === null && isNew(address)) unknown.add(address)
		noteOpening(address, before)
		draft.set(address, closedAt(before, wei, codeIn(asked.openings, address)))
	}

	function noteOpening(address: Address, block: bigint): void {
		const from = first(address)
		if (draft.get(address) === null && from <= block) openedLate.set(address, from)
	}

	function closeAt(address: Address, ref: BlockRef, balances: Balances): void {
		noteOpening(address, ref.number)
		vain.delete(address)
		const book = draft.get(address)
		const balanceWei = balances.get(address) ?? 0n
		const isFirst = unknown.delete(address) || (book === null && isNew(address))
		const previousWei = isFirst ? null : (book?.balanceWei ?? balanceWei)
		const seen = codeIn(balances, address)
		const code = seen === undefined ? book?.code : seen
		draft.set(address, closedAt(ref.number, balanceWei, code))
		if (book?.code !== undefined && code !== undefined && !draft.isSameCode(code, book.code))
			found.changes.push({ address, from: book.block, to: ref })
		const block = part.blocks.get(ref.number) ?? (ref.number === part.last.number ? part.last : undefined)
		if (previousWei === balanceWei || block === undefined || !limited.has(address)) return
		const change = { kind: 'balance', address, block, previousWei, balanceWei } as const
		found.findings.push({ ...change, crossed: 'below' }, { ...change, crossed: 'above' })
	}

	let seen = 0
	for (const { ref, balances, movements } of asked.blocks) {
		for (const [address, closingWei] of balances) {
			if (++seen % AT_ONCE === 0) await yieldNow()
			const movement = movements.get(address) ?? still
			const book = draft.get(address)
			if (book === null) {
				closeAt(address, ref, balances)
			} else if (waiting.has(address)) {
				draft.set(address, deferred(book, movement))
			} else if (closes(book.balanceWei + book.movedWei, movement, closingWei)) {
				feesAreKnown ||= movement.posted[0] < 0n
				openings.set(keyOf(address, ref.number), book.balanceWei + book.movedWei)
				closeAt(address, ref, balances)
			} else {
				// There is no next time where it is final: then the signal alone ends it.
				const mayLook = looks < MOST_CLOSER && (isFinal || clock() - startedAtMs < CLOSER_MS)
				looks++
				const scanned = { movements: asked.all, scannedFrom: part.span.from, gaps, feesAreKnown }
				const before = vain.get(address)
				const isOver = ({ looks: most, ms }: typeof VAIN) =>
					before !== undefined && before.looks >= most && clock() - before.sinceMs >= ms
				const patience = { mayWait: !isFinal && !isOver(VAIN), isHeardEnough: isFinal || isOver(UNHEARD) }
				const suspect = { address, book, to: ref, closingWei, ...patience, ...scanned }
				const closer = mayLook ? await tryCloser(suspect, ports, signal) : null
				if (closer === null && isFinal) {
					const [fromBlock, toBlock] = [Number(book.block + 1n), Number(ref.number)]
					unproved.push({ fromBlock, toBlock, count: 1, addresses: [address], why: NOT_LOOKED_INTO })
					closeAt(address, ref, balances)
					continue
				}
				if (closer === null) {
					const looks = (before?.looks ?? 0) + (mayLook ? 1 : 0)
					vain.set(address, { looks, sinceMs: before?.sinceMs ?? clock() })
					waiting.add(address)
					draft.set(address, deferred(book, movement))
					continue
				}
				feesAreKnown ||= closer.feesHeld
				found.findings.push(...closer.findings)
				found.witnessed.push(...closer.witnessed)
				for (const { from, to, why } of closer.unproved) {
					unproved.push({ fromBlock: Number(from), toBlock: Number(to), count: 1, addresses: [address], why })
					log.warn(
						{ address, from, to, why },
						'nothing can be proved of these blocks: the book is opened anew after them',
					)
				}
				closeAt(address, ref, balances)
			}
		}
	}
	return { unproved: [...unproved, ...lateOnes(openedLate, part.span.to)], openings, feesAreKnown }
}

/** Of an address at a block. */
export function keyOf(address: Address, block: bigint): string {
	return `${address} ${block}`
}

/** Null: not now. */
async function tryCloser(
	suspect: Parameters<typeof lookCloser>[0],
	{ accounts, chain, log }: SettlePorts,
	signal: AbortSignal,
): Promise<CloserLook | null> {
	try {
		return await lookCloser(suspect, { accounts, chain }, signal)
	} catch (error) {
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		log.debug({ address: suspect.address, err: error }, 'a book is looked into at the next poll')
		return null
	}
}

/** Together: with many new watches there are many of these. */
function lateOnes(openedLate: ReadonlyMap<Address, bigint>, to: bigint): readonly Unproved[] {
	if (openedLate.size === 0) return []
	let from = to
	for (const first of openedLate.values()) if (first < from) from = first
	const addresses = [...openedLate.keys()].slice(0, MOST_NAMED)
	return [{ fromBlock: Number(from), toBlock: Number(to), count: openedLate.size, addresses, why: OPENED_LATE }]
}

/** Undefined where nobody answered. */
export function codeIn({ codes }: Balances, address: Address): string | null | undefined {
	return codes === undefined ? undefined : (codes.get(address) ?? null)
}
