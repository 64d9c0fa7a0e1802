/**
 * A backfill reads blocks of which no book is kept. What it tells is compared with the balances before and after each
 * part; what that leaves open is reported as not proved.
 */

import { draftOf } from '../audit/booksDraft.js'
import { closeBooks } from '../audit/closeBooks.js'
import { signalWithin } from '../base/waits/deadline.js'
import { movementsOf, summed } from '../core/ledger/books.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import { announcedIn } from '../core/reconcile/refuted.js'
import { RpcError } from '../errors.js'
import type { Balances } from '../model/books.js'
import type { BlockRef, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { NetworkState } from '../model/state.js'
import type { UnprovedBlock } from '../model/token.js'
import type { Backfill } from '../model/watch.js'
import { withProof } from './auditing/keepBooks.js'
import { reconcileWith } from './look/answers.js'
import { sightOfFindings } from './look/findingAlerts.js'
import type { LookContext } from './look/look.js'
import type { PollPorts } from './pollSession.js'

interface ReadBackfill {
	readonly part: Part
	readonly job: Backfill
	readonly context: LookContext
	readonly state: NetworkState
	/** What the look at the part leads to. */
	readonly before: Difference
}

/** Most addresses whose balances are compared: one request. */
const MOST_ADDRESSES = 2_000
/** Time limit for one part, since new blocks wait for the end of the poll. */
const MOST_MS = 4_000

/** The balances after the last part of a backfill; its addresses are the same list until it ends. */
const closings = new WeakMap<readonly Address[], { readonly hash: string; readonly balances: Balances }>()

/** The difference with what the balances show, and the blocks that they do not prove. */
export async function proveBackfill(
	{ part, job, context, state, before }: ReadBackfill,
	ports: PollPorts,
	outer: AbortSignal,
): Promise<{ readonly difference: Difference; readonly unproved: readonly UnprovedBlock[] }> {
	const { audit, chain } = ports
	const { span, last } = part
	const unproved = (from: bigint, to: bigint): UnprovedBlock => ({ number: from, to, why: 'backfill' })
	const nothing = { difference: before, unproved: [unproved(span.from, span.to)] }
	if (audit?.auditor == null || audit.accounts.isPrivate || job.addresses.length > MOST_ADDRESSES) return nothing
	const { accounts } = audit
	const signal = signalWithin(MOST_MS, outer)
	try {
		const first = await refBefore(part, ports, signal)
		if (first === null) return nothing
		const known = closings.get(job.addresses)
		const openings = known?.hash === first.hash ? known.balances : await accounts.balances(job.addresses, first, signal)
		const balances = await accounts.balances(job.addresses, last, signal)
		closings.set(job.addresses, { hash: last.hash, balances })
		const all = movementsOf(part.transactions, new Set(job.addresses), part.blocks.values())
		const blocks = [{ ref: { number: last.number, hash: last.hash }, balances, movements: summed(all) }]
		const found = { findings: [], witnessed: [], changes: [] }
		const closing = {
			asked: { blocks, openings, all },
			draft: draftOf(new Map()),
			found,
			gaps: state.gaps,
			first: () => span.from,
			isNew: () => false,
			limited: new Set<Address>(),
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
