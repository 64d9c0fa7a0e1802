/**
 * Blocks of which no book is kept are compared with the balances before and after them: each part of a backfill, and
 * without books the blocks in which a contract destroyed itself and the node names neither heir nor amount, whichever
 * contract it was, since any watch may be the heir. What that leaves open is reported as not proved.
 */

import { draftOf } from '../audit/booksDraft.js'
import { closeBooks } from '../audit/closeBooks.js'
import { signalWithin } from '../base/waits/deadline.js'
import { hasBlankEnd } from '../core/events/effective.js'
import { movementsOf, summed } from '../core/ledger/books.js'
import { noDifference } from '../core/reconcile/reconcile.js'
import { announcedIn } from '../core/reconcile/refuted.js'
import { RpcError } from '../errors.js'
import type { Accounts, Balances } from '../model/books.js'
import type { BlockRef, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { NetworkState } from '../model/state.js'
import type { UnprovedBlock } from '../model/token.js'
import type { Backfill } from '../model/watch.js'
import { withProof } from './auditing/keepBooks.js'
import type { Looked } from './conclude.js'
import { reconcileWith } from './look/answers.js'
import { sightOfFindings } from './look/findingAlerts.js'
import type { PollConfig, PollPorts } from './pollSession.js'

interface Unkept {
	readonly part: Part
	/** Null: the watches of the network. */
	readonly addresses: readonly Address[] | null
	readonly why: 'backfill' | 'self-destruct'
}

/** Most addresses whose balances are compared: one request. */
const MOST_ADDRESSES = 2_000
/** Time limit for the proofs of one part, since new blocks wait for the end of the poll. */
const MOST_MS = 4_000

/** The balances after the last part of a backfill; its addresses are the same list until it ends. */
const closings = new WeakMap<readonly Address[], { readonly hash: string; readonly balances: Balances }>()

/** What balances must prove of a part. Books prove new blocks; without them nothing proves an address filter. */
export function toProve(
	part: Part,
	{ job, isSecondLook }: { readonly job: Backfill | undefined; readonly isSecondLook: boolean },
	{ audit }: PollPorts,
): readonly Unkept[] {
	if (job !== undefined) return [{ part, addresses: job.addresses, why: 'backfill' }]
	if (audit.auditor !== null) return []
	const numbers = new Set(part.transactions.filter(hasBlankEnd).map(({ block }) => block.number))
	const isFiltered = part.source === 'trace_filter' && !isSecondLook
	const filtered: readonly Unkept[] = isFiltered ? [{ part, addresses: null, why: 'backfill' }] : []
	const ends = [...numbers].flatMap((number): readonly Unkept[] => {
		const last = part.blocks.get(number)
		if (last === undefined) return []
		const transactions = part.transactions.filter(({ block }) => block.number === number)
		const blocks = new Map([[number, last]])
		const span = { from: number, to: number }
		const own = { ...part, span, last, parentHash: last.parentHash, blocks, transactions }
		return [{ part: own, addresses: null, why: 'self-destruct' }]
	})
	return [...filtered, ...ends]
}

/**
 * What balances show of a part whose alerts are committed, and the blocks that they do not prove. `announced`: what was
 * committed, since the state forgets announcements of old blocks at once.
 */
export async function proved(
	unkept: readonly Unkept[],
	{ part, context, difference: { announcements: announced } }: Looked,
	state: NetworkState,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<Looked> {
	const own = announced.map((entry) => [entry.id, entry] as const)
	const announcements = own.length === 0 ? state.announcements : new Map([...state.announcements, ...own])
	const unproved: UnprovedBlock[] = []
	let difference = noDifference
	const limits = { signal: signalWithin(MOST_MS, signal), outer: signal }
	for (const one of unkept) {
		const weighed = await weigh(one, { context, difference }, { ...state, announcements }, ports, limits)
		difference = weighed.difference
		unproved.push(...weighed.unproved)
	}
	return { part, context, difference, unproved }
}

/** The watches whose coins may have moved; of many, the ones that a whole block names. Null: no source gives one. */
async function movable(
	{ span, last }: Part,
	{ watches }: Pick<PollConfig, 'watches'>,
	{ witnesses }: Pick<Accounts, 'witnesses'>,
	signal: AbortSignal,
): Promise<readonly Address[] | null> {
	if (watches.size <= MOST_ADDRESSES) return [...watches.keys()]
	for await (const { part, isWhole } of witnesses(span, watches, signal)) {
		if (!isWhole || part.last.hash !== last.hash || part.unread !== undefined || part.transactions.some(hasBlankEnd))
			continue
		const ends = part.transactions.flatMap(({ frames }) => frames.filter(({ type }) => type === 'suicide'))
		const named = new Set(ends.flatMap(({ from, to }) => [from, to].filter((one) => one !== null)))
		return [...named].filter((one) => watches.has(one))
	}
	return null
}

async function weigh(
	{ part, addresses: named, why }: Unkept,
	{ context, difference: before }: Pick<Looked, 'context' | 'difference'>,
	state: NetworkState,
	ports: PollPorts,
	{ signal, outer }: { readonly signal: AbortSignal; readonly outer: AbortSignal },
): Promise<Required<Pick<Looked, 'difference' | 'unproved'>>> {
	const { audit, chain } = ports
	const { span, last } = part
	const unproved = (from: bigint, to: bigint): UnprovedBlock => ({ number: from, to, why })
	const nothing = { difference: before, unproved: [unproved(span.from, span.to)] }
	if (audit.accounts.isPrivate || part.unread !== undefined) return nothing
	if (why === 'backfill' && audit.auditor === null) return nothing
	const { accounts } = audit
	try {
		const addresses = named ?? (await movable(part, context, accounts, signal))
		if (addresses === null || addresses.length > MOST_ADDRESSES) return nothing
		if (addresses.length === 0) return { difference: before, unproved: [] }
		const first = await refBefore(part, ports, signal)
		if (first === null) return nothing
		const known = closings.get(addresses)
		const [openings, balances] = await Promise.all([
			known?.hash === first.hash ? known.balances : accounts.balances(addresses, first, signal),
			accounts.balances(addresses, last, signal),
		])
		closings.set(addresses, { hash: last.hash, balances })
		const all = movementsOf(part.transactions, new Set(addresses), part.blocks.values())
		const blocks = [{ ref: { number: last.number, hash: last.hash }, balances, movements: summed(all) }]
		const found = { findings: [], witnessed: [], changes: [] }
		const closing = {
			asked: { blocks, openings, all },
			draft: draftOf(new Map()),
			found,
			gaps: state.gaps,
			first: () => span.from,
			isNew: () => false,
			limits: () => null,
			feesAreKnown: accounts.feesAreKnown,
			announced: announcedIn(context.network.chainId, state.announcements.values(), before.announcements),
			failedLooks: new Map(),
			isFinal: true,
		}
		const closed = await closeBooks(part, closing, { ...ports, accounts, runsOnce: false }, signal)
		outer.throwIfAborted()
		const judged = { ...sightOfFindings(found.findings, part, context), judges: () => false }
		let difference = await reconcileWith(state.announcements, judged, { part, before, chain }, outer)
		for (const proof of found.witnessed)
			difference = await withProof(proof, difference, { ...context, state }, chain, outer)
		const left = closed.unproved.map(({ fromBlock, toBlock }) => unproved(BigInt(fromBlock), BigInt(toBlock)))
		return { difference, unproved: left }
	} catch (error) {
		outer.throwIfAborted()
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		if (error instanceof RpcError && error.kind === 'unsettled') throw error
		return nothing
	}
}

/** The block that the part begins after. Genesis moves nothing. */
async function refBefore(
	{ span, parentHash }: Part,
	{ chain }: PollPorts,
	signal: AbortSignal,
): Promise<BlockRef | null> {
	if (span.from > 0n && parentHash !== undefined) return { number: span.from - 1n, hash: parentHash }
	return await chain.block(span.from > 0n ? span.from - 1n : 0n, signal)
}
