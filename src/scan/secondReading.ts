/**
 * Checks retractions by a second look against the balances. When two readings of a settled block disagree, neither is
 * trusted alone; a reading that does not explain the balance of a watch is wrong. The scanner asks for no balance: it
 * hands such a part to the auditor, which commits it, and the second look goes on after it.
 */

import { headerIn } from '../audit/blocks.js'
import { keyOf } from '../audit/closeBooks.js'
import { postingCandidates } from '../audit/postingCandidates.js'
import { signalWithin } from '../base/waits/deadline.js'
import { closes, movementBetween, movementsOf, withPostings } from '../core/ledger/books.js'
import { type Difference, isAnnounced, isSeenIn } from '../core/reconcile/reconcile.js'
import { RpcError } from '../errors.js'
import type { Accounts, BookSet } from '../model/books.js'
import type { Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Announcement, Commit, NetworkState } from '../model/state.js'
import { isIn, judgeAndCommit } from './committed.js'
import { conclude, type Looked, noteDisagreement } from './conclude.js'
import { look } from './look/look.js'
import { contextOf } from './look/lookContext.js'
import type { PollPorts, PollSession } from './pollSession.js'

interface SecondReadingPorts {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly log: Log
}

/** Most pairs of watch and block checked in one part; beyond them the second reading is accepted. */
const MOST_CHECKED = 20
/** Time limit for one part; what is not answered by then is accepted, too. */
const MOST_MS = 4_000

/** Whether the auditor has to judge the part. The caller holds the lock. */
export function handContested(
	{ part, difference }: Looked,
	step: Pick<Commit, 'settled'>,
	{ audit }: Pick<PollPorts, 'audit'>,
): boolean {
	if (audit.auditor === null || audit.accounts.isPrivate) return false
	if (!difference.retracted.some((entry) => isSeenIn(entry, 'frames'))) return false
	audit.queue.contested = { part, step }
	return true
}

/** Judges and commits the part that was handed over. Resolves to the failure; the scanner then reads the part again. */
export async function judgeContested(
	session: PollSession,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<RpcError | null> {
	const { queue } = ports.audit
	const { contested } = queue
	if (contested === null) return null
	const { part, step } = contested
	const judging = { ...ports, ...ports.audit }
	const judge = async (state: NetworkState): Promise<Looked> => {
		const context = contextOf(session, ports, { backfill: null, isSecondLook: true })
		const difference = await look(part, state.announcements, context, ports.chain, signal)
		return { part, context, difference: await asBalancesAllow(part, difference, state, judging, signal) }
	}
	try {
		await judgeAndCommit(session.committed, isIn(part.span), judge, async (looked) => {
			noteDisagreement(session, part, looked.difference, ports)
			await conclude(session, looked, step, ports)
			queue.contested = null
		})
		return null
	} catch (error) {
		if (!(error instanceof RpcError) || signal.aborted) throw error
		queue.contested = null
		return error
	}
}

/** Returns the difference without the retractions that balances contradict, and without the news under the same ids. */
async function asBalancesAllow(
	part: Part,
	difference: Difference,
	{ announcements, books }: { readonly announcements: ReadonlyMap<string, Announcement>; readonly books: BookSet },
	ports: SecondReadingPorts,
	outer: AbortSignal,
): Promise<Difference> {
	if (difference.retracted.length === 0 || ports.accounts.isPrivate) return difference
	const signal = signalWithin(MOST_MS, outer)
	const unexplained = new Set<string>()
	for (const entry of announcements.values())
		if (entry.alerts[0]?.data.kind === 'unexplained' && isAnnounced(entry))
			for (const address of partiesOf(entry)) unexplained.add(keyOf(address, entry.block.number))
	const verdicts = new Map<string, boolean>()
	const wrong = new Set<string>()
	for (const entry of difference.retracted) {
		const { id, block } = entry
		const address = isSeenIn(entry, 'frames') ? partiesOf(entry).find((party) => books.has(party)) : undefined
		if (address === undefined) continue
		const key = keyOf(address, block.number)
		// Where the first reading left a balance unexplained, it is no better than the second.
		if (unexplained.has(key) || (!verdicts.has(key) && (verdicts.size >= MOST_CHECKED || signal.aborted))) continue
		const isWrong = verdicts.get(key) ?? (await isContradicted(address, block, part, ports, signal))
		verdicts.set(key, isWrong)
		if (isWrong) wrong.add(id)
	}
	outer.throwIfAborted()
	if (wrong.size === 0) return difference
	const facts = { endpoint: part.endpoint, from: part.span.from, to: part.span.to, alerts: wrong.size }
	ports.log.warn(
		facts,
		'a second reading of settled blocks does not account for the balances: what was announced stands',
	)
	return {
		...difference,
		news: difference.news.filter(({ alerts }) => !alerts.some(({ data }) => wrong.has(data.id))),
		retracted: difference.retracted.filter(({ id }) => !wrong.has(id)),
		announcements: difference.announcements.filter(({ id }) => !wrong.has(id)),
	}
}

/** Whether the part holds this block but does not explain the balance of the address after it. */
async function isContradicted(
	address: Address,
	{ number, hash }: Announcement['block'],
	part: Part,
	{ accounts, chain }: SecondReadingPorts,
	signal: AbortSignal,
): Promise<boolean> {
	const only = new Set([address])
	try {
		const block = await headerIn(part, number, chain, signal)
		if (block === null || block.hash !== hash) return false
		const parent = { number: number - 1n, hash: block.parentHash }
		const before = (await accounts.balances([address], parent, signal)).get(address)
		const after = (await accounts.balances([address], block, signal)).get(address)
		if (before === undefined || after === undefined) return false
		const postings = await accounts.postings(block, only, signal)
		const moved = movementBetween(movementsOf(part.transactions, only), address, number, number)
		return !postingCandidates(postings, accounts.surePostings).some((one) =>
			closes(before, withPostings(moved, one, address), after),
		)
	} catch (error) {
		// The caller tells a stop from a missed deadline.
		if (signal.aborted) return false
		if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
		return false
	}
}

/** The addresses in the announcement, the watch first. */
function partiesOf({ alerts: [first] }: Announcement): readonly Address[] {
	const { watch, from, to } = first?.data ?? {}
	return [watch?.address, from, to].flatMap((one) => (one == null ? [] : [one.toLowerCase() as Address]))
}
