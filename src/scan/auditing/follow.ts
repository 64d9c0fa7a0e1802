/**
 * The room is where the auditor follows the scanner: it reads what was signed, takes what moved into the books, proves
 * it, and reports what it finds, in commits of its own. From the scanner it gets the committed blocks, in order.
 */

import { isKeepingState } from '../../audit/asked/askedState.js'
import { withGap } from '../../core/ledger/books.js'
import { noDifference } from '../../core/reconcile/reconcile.js'
import { RpcError } from '../../errors.js'
import type { Block, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Gap, NetworkState } from '../../model/state.js'
import { isIn, judgeAndCommit } from '../committed.js'
import { contextOf } from '../look/lookContext.js'
import { advance, auditSession, movedOn, type PollPorts, type PollSession, write } from '../pollSession.js'
import { judgeContested } from '../secondReading.js'
import { judgeCodes } from './codeQueue.js'
import { noteCreated, openContracts } from './contracts/openContracts.js'
import { rotateContracts } from './contracts/rotateContracts.js'
import { readTouched } from './contracts/touchedContracts.js'
import { type Handover, handoverOf, isFull, merged } from './handover.js'
import { judgedBy, keepBooks } from './keepBooks.js'
import { recheck } from './recheck.js'
import { readSigned } from './signedQueue.js'

/**
 * Begins an audit after a poll, which runs beside the next polls. Of what they commit meanwhile it takes in all;
 * whatever it has not committed when it is halted, the next audit does again.
 */
export function beginAudit(poll: PollSession, ports: PollPorts, signal: AbortSignal): void {
	const session = auditSession(poll)
	ports.audit.follower.begin({ counts: session, run: (halted) => audit(session, ports, halted) }, signal)
}

/** Follows the scanner up to its checkpoint. Throws RpcError if the chain changed; the next audit goes on. */
async function audit(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	await readSigned(session, ports, signal)
	const failure = await judgeContested(session, ports, signal)
	await takeHanded(session, ports, signal)
	await takeGaps(session, ports, signal)
	await openBooks(session, ports, signal)
	await readTouched(session, ports, signal)
	await rotateContracts(session, ports, signal)
	await openContracts(session, ports, signal)
	const { code } = ports.audit
	if (code !== null) await judgeCodes(session, { ...ports, audit: { ...ports.audit, code } }, signal)
	await recheck(session, ports, signal)
	if (failure !== null) throw failure
}

/** Takes in what is too far from the head for a proof, if it is much: a catch-up is thus read only once. */
export async function takeEarly(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { follower, queue } = ports.audit
	if (!isFull(queue.handed) || queue.handed.some((one) => isProvable(one, ports))) return
	await follower.halt()
	await takeHanded(session, ports, signal)
}

/** Access lists, which a private network is proved by, are given of old blocks, too: some with each part. */
function isProvable({ part, context }: Handover, { audit: { accounts } }: PollPorts): boolean {
	return accounts.isPrivate || isKeepingState(part.span.to, context.head.latest.number)
}

/**
 * Reads blocks again that were scanned before the program was stopped, or are no longer queued, and takes them in.
 * False: the endpoint lags behind the checkpoint and cannot give these blocks yet; a later audit reads them.
 */
async function readAgain(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<boolean> {
	const { config } = session
	const { auditor, queue } = ports.audit
	for (;;) {
		const { checkpoint, state } = session
		const taken = state.audit?.taken ?? null
		const first = auditor === null ? queue.leftOut : taken === null ? null : taken + 1n
		if (first === null) return true
		const to = (queue.handed[0]?.part.span.from ?? checkpoint.number + 1n) - 1n
		const [span] = aroundGaps({ from: first, to }, session)
		if (span === undefined) {
			queue.leftOut = null
			queue.failed = null
			return true
		}
		if (session.target < to) return false
		await forgetParts({ from: first, to }, session, ports)
		const usual = contextOf(session, ports, { backfill: null, isSecondLook: false })
		const context = { ...usual, lateReason: (block: Block) => usual.lateReason(block) ?? provedLate }
		const read: Handover[] = []
		let next = span.from
		let failure: RpcError | null = null
		try {
			// After a failure one at a time: it may be the fault of any block that was asked for.
			const blocks = { ...span, ...(queue.failed !== null && { atOnce: () => 1 }) }
			for await (const part of ports.chain.walk(blocks, config.watches, signal)) {
				if (part.span.to === checkpoint.number && part.last.hash !== checkpoint.hash)
					throw movedOn(config.network, `block ${checkpoint.number} was replaced`)
				read.push(handoverOf(part, context))
				next = part.span.to + 1n
				// A block at or behind the failed one was read: the endpoints give blocks again.
				if (queue.failed !== null && part.span.from > (queue.failed.leftOut ?? -1n)) queue.failed = null
				if (isFull(read)) break
			}
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind !== 'no-data') throw error
			failure = error
		}
		await takeAll(session, read, ports, signal)
		queue.leftOut = next
		if (failure !== null && !(await passUnread(next, failure, session, ports))) throw failure
	}
}

/** A block that no endpoint gives again is left out after this many tries over at least this time. */
const GIVE_UP_AFTER = { tries: 5, ms: 60_000 }

/** Leaves out a block that no endpoint gives any more: the audit of later blocks goes on. False: it is too early. */
async function passUnread(
	number: bigint,
	{ message }: RpcError,
	session: PollSession,
	ports: PollPorts,
): Promise<boolean> {
	const { queue, runsOnce } = ports.audit
	// An endpoint that lags, or has not made the traces of a new block yet, says the same.
	if (isKeepingState(number, session.head.latest.number)) return false
	const nowMs = ports.clock()
	const { sinceMs, ...before } = queue.failed ?? { tries: 0, sinceMs: nowMs, leftOut: null }
	queue.failed = { ...before, tries: before.tries + 1, sinceMs }
	if (before.tries === 0) return runsOnce
	if (!runsOnce && (before.tries + 1 < GIVE_UP_AFTER.tries || nowMs - sinceMs < GIVE_UP_AFTER.ms)) return false
	if (before.leftOut !== number - 1n)
		ports.log.warn({ block: number, error: message }, 'a block cannot be read again: the audit goes on without it')
	await advance(session, { taken: number, unproved: [{ number, why: 'audit' }] }, null, ports)
	queue.failed = { ...queue.failed, leftOut: number }
	queue.leftOut = number + 1n
	return true
}

const provedLate = 'the block was scanned before, and is proved only now'

/** Empties `read`. */
async function takeAll(session: PollSession, read: Handover[], ports: PollPorts, signal: AbortSignal): Promise<void> {
	for (let count = adjoining(read, ports); count > 0; count = adjoining(read, ports)) {
		const [first, ...others] = read.splice(0, count)
		if (first !== undefined) await take(session, merged([first, ...others]), ports, signal)
	}
}

/** Of gaps that were read in part, the movements are not in the books yet: all of them come when the gap is read. */
async function forgetParts({ from, to }: Span, session: PollSession, ports: PollPorts): Promise<void> {
	const gaps = new Map<bigint, Gap>()
	for (const [number, { transactions, ...gap }] of session.state.gaps) {
		if (transactions !== undefined && from <= number && number <= to) gaps.set(number, gap)
	}
	if (gaps.size > 0) await advance(session, { gaps }, null, ports)
}

/** The blocks of a span without those that are gaps, or were read as gaps; these are taken in by themselves. */
function* aroundGaps({ from, to }: Span, { state }: PollSession): Iterable<Span> {
	const gaps = [...state.gaps.values()].filter(({ openedAtMs }) => openedAtMs !== null)
	const numbers = gaps.map(({ block }) => block.number).filter((number) => from <= number && number <= to)
	let next = from
	for (const number of numbers.sort((a, b) => (a < b ? -1 : 1))) {
		if (next < number) yield { from: next, to: number - 1n }
		next = number + 1n
	}
	if (next <= to) yield { from: next, to }
}

/** Takes in what is queued, in order, until nothing is. */
async function takeHanded(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { queue } = ports.audit
	while (await readAgain(session, ports, signal)) {
		const together = queue.handed.slice(0, adjoining(queue.handed, ports))
		const [first, ...others] = together
		if (first === undefined) return
		await take(session, merged([first, ...others]), ports, signal)
		queue.handed = queue.handed.filter((one) => !together.includes(one))
	}
}

/** With more handovers queued than this, the auditor lags behind, and takes in several at once. */
const FEW_QUEUED = 16

/** How many handovers are taken in together: those too far from the head for a proof; if many wait, others too. */
function adjoining(handed: readonly Handover[], ports: PollPorts): number {
	const [first] = handed
	if (first === undefined) return 0
	const isLagging = handed.length > FEW_QUEUED && !ports.audit.accounts.isPrivate
	const isFar = (one: Handover) => !isProvable(one, ports)
	const isAlike = isFar(first) ? isFar : isLagging ? () => true : () => false
	const end = handed.findIndex((one, at) => at > 0 && !(isAlike(one) && one.context.watches === first.context.watches))
	const most = isFar(first) ? handed.length : FEW_QUEUED
	return Math.min(end === -1 ? handed.length : end, most)
}

/** What is found long after the block was scanned is late. */
function ofNow(handover: Handover, { config }: PollSession, { clock }: PollPorts): Handover {
	const { part, context } = handover
	const nowMs = clock()
	if (nowMs - context.nowMs <= config.lateAfterMs) return handover
	const lateReason = (block: Block) => context.lateReason(block) ?? provedLate
	return { part, context: { ...context, nowMs, lateReason } }
}

async function take(session: PollSession, handed: Handover, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { auditor } = ports.audit
	const handover = ofNow(handed, session, ports)
	const { part } = handover
	noteCreated(part, ports.audit)
	if (auditor === null) {
		const judge = async ({ announcements }: NetworkState) => ({
			difference: await judgedBy(part, announcements, ports, signal),
		})
		await judgeAndCommit(session.committed, isIn(part.span), judge, async ({ difference }) => {
			if (difference !== noDifference) await write(session, {}, difference, ports)
		})
		return
	}
	const own = { ...ports, audit: { ...ports.audit, auditor } }
	await judgeAndCommit(
		session.committed,
		isIn(part.span),
		(state) => keepBooks(handover, state, own, signal),
		({ difference, books, summary }) => write(session, { books, summary, taken: part.span.to }, difference, ports),
	)
}

/**
 * Takes in blocks that were gaps. Their movements are added to books closed before them. A gap at the checkpoint may be
 * the next block to take in; one further on waits, since it would be read again after a restart and be counted twice.
 */
async function takeGaps(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { queue } = ports.audit
	for (const handover of queue.gaps) {
		const { part } = handover
		const taken = session.state.audit?.taken ?? null
		const isNext = taken !== null && taken === part.span.from - 1n
		if (taken !== null && taken < part.span.to && !isNext) continue
		const isWithin = (number: bigint) => part.span.from <= number && number <= part.span.to
		const judge = async (state: NetworkState) => {
			const difference = await judgedBy(part, state.announcements, ports, signal)
			return { difference, books: withGap(state, part) }
		}
		await judgeAndCommit(session.committed, isIn(part.span), judge, async ({ difference, books }) => {
			const read = [...session.state.gaps].filter(
				([number, { readAtMs }]) => isWithin(number) && readAtMs !== undefined,
			)
			const gaps = new Map(read.map(([number]) => [number, null]))
			await write(session, { books, gaps, ...(isNext && { taken: part.span.to }) }, difference, ports)
		})
		queue.gaps = queue.gaps.filter((one) => one !== handover)
	}
}

/** Opens the books of new watches at the checkpoint; else a movement before the next closing goes unnoticed. */
async function openBooks(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { state, config, head, checkpoint } = session
	const { auditor, queue } = ports.audit
	if (auditor === null || session.blocks > 0n || session.target < checkpoint.number) return
	// A book opened after queued blocks would count their movements twice.
	if (queue.handed.length > 0) return
	const since = (address: Address) => state.covered.get(address)?.since ?? 0n
	const before = state.booksSeen && { before: state.booksSeen }
	const facts = { watches: config.watches, books: state.books, head: head.latest.number, since, ...before }
	const opening = await auditor.open(checkpoint, facts, signal)
	if (opening === null) return
	await advance(session, opening, null, ports)
	ports.log.info({ books: opening.books.size, block: checkpoint.number }, 'books of new watches opened')
}
