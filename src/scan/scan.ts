import { isKeepingState } from '../audit/asked/askedState.js'
import { blocksToAsk } from '../audit/delegations/authorizations.js'
import { linkedAbort } from '../base/waits/linkedAbort.js'
import { isOpen } from '../core/gaps.js'
import { withCalls } from '../core/matching/calledFunctions.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import { targetOf } from '../core/target.js'
import { RpcError, type RpcErrorKind } from '../errors.js'
import type { BlockRef, Part, Span, TouchedBlock } from '../model/chain.js'
import type { Gap, NetworkState } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import { ranIn, withCode } from './auditing/codeQueue.js'
import { takeEarly } from './auditing/follow.js'
import { handoverOf } from './auditing/handover.js'
import { isIn, judgeAndCommit } from './committed.js'
import { hasStayed, passGap } from './gaps/passGap.js'
import { addressesOf, type LookContext, look } from './look/look.js'
import { backfillSet, contextOf } from './look/lookContext.js'
import { movedOn, type PollPorts, type PollSession, refOf, type Step, write } from './pollSession.js'
import { asBalancesAllow } from './secondReading.js'

/** The step to commit after the blocks up to `last`, inclusive, were looked at. */
export type StepOf = (last: BlockRef) => Step

/**
 * Reads a span and looks at each part of it; its announcements are committed together with the step. A block that no
 * source gives becomes a gap after repeated tries. `job`: the backfill that the span belongs to.
 */
export async function scan(
	session: PollSession,
	span: Span,
	stepOf: StepOf,
	ports: PollPorts,
	signal: AbortSignal,
	job: Backfill | null = null,
): Promise<void> {
	const backfill = job && backfillSet(job)
	const isSecondLook = backfill === null && span.to <= session.checkpoint.number
	const isNew = backfill === null && !isSecondLook
	const walk = isSecondLook ? ports.chain.walkAgain : ports.chain.walk
	const keeper = ports.gaps?.keeper
	let { from, to } = span
	const atOnce = () => keeper?.atOnce(from) ?? null
	const holdBack = () => {
		const tooLong = keeper?.tooLongAt(from) ?? null
		if (tooLong !== null) throw tooLong
	}
	let isTaking = false
	const take = async (part: Part): Promise<void> => {
		await checkFollows(session, part, ports, signal)
		isTaking = true
		const judge = async (state: NetworkState): Promise<Looked> => {
			const context = contextOf(session, ports, { backfill, isSecondLook })
			const difference = await look(part, state.announcements, context, ports.chain, signal)
			if (!isSecondLook || !ports.audit?.auditor) return { part, context, difference }
			const judging = { ...ports, ...ports.audit }
			return { part, context, difference: await asBalancesAllow(part, difference, state, judging, signal) }
		}
		await judgeAndCommit(session.committed, isIn(part.span), judge, async (looked) => {
			if (isSecondLook) noteDisagreement(session, part, looked.difference, ports)
			await conclude(session, looked, stepOf(refOf(part.last)), ports)
		})
		if (isNew) await takeEarly(session, ports, signal)
		from = part.span.to + 1n
		keeper?.cameWell(part.span)
		if (part.span.to < to) noteBudget(session, ports)
		isTaking = false
	}
	while (from <= to && !session.behind) {
		const left = linkedAbort(signal)
		const { watches } = session.config
		const named = backfill === null ? addressesOf(watches, session.state) : withCalls(backfill.addresses, watches)
		const addresses = withCode(named, session, ports)
		try {
			holdBack()
			const blocks = { from, to, ...(keeper && { atOnce: keeper.atOnce }) }
			for await (const part of walk(blocks, addresses, left.signal)) {
				await take(part)
				if (session.behind) return
				if (from <= to && atOnce() !== null) holdBack()
			}
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			if (isNew && (await endsEarlier(session, error, ports, signal))) {
				to = session.target < to ? session.target : to
				continue
			}
			if (ports.gaps === undefined) throw error
			const isUnsettled = error.kind === 'unsettled'
			// The chain changed while a part was processed; the part itself was read without failure.
			if (isTaking && isUnsettled) throw error
			if ((isUnsettled || error.kind === 'timeout') && from < to && atOnce() !== 1) {
				// Any of the blocks may be the one that fails.
				ports.gaps.keeper.goCarefully(from)
				continue
			}
			const failed = { number: from, addresses, job, isSecondLook, error, leave: () => left.abort() }
			const own = { ...ports, gaps: ports.gaps }
			if (isUnsettled && !(await hasStayed(session, failed, own, signal))) throw error
			const passed = await passGap(session, failed, stepOf, own, signal)
			if (passed === 'passed') from++
			else await take(passed)
			if (from <= to) noteBudget(session, ports)
		} finally {
			left.release()
		}
	}
}

/** The errors with which endpoints answer requests for a block that does not exist. */
const asOfNoBlock: ReadonlySet<RpcErrorKind> = new Set(['no-data', 'unsettled', 'malformed', 'server', 'bad-params'])

/**
 * Whether a walk over new blocks failed because no endpoint has a block at the claimed head. The newest block that an
 * endpoint shows then becomes the head of this poll, and the poll continues.
 */
async function endsEarlier(
	session: PollSession,
	{ kind }: RpcError,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<boolean> {
	if (!asOfNoBlock.has(kind)) return false
	try {
		const head = await ports.chain.shownHead(session.head, session.checkpoint.number, signal)
		if (head.latest.number >= session.head.latest.number) return false
		session.head = head
		const target = targetOf(head, session.config.network.confirmations)
		if (target !== null && target < session.target) session.target = target
		return true
	} catch (error) {
		if (error instanceof RpcError && !signal.aborted) return false
		throw error
	}
}

/** Ends the poll after the current part once its time budget is spent. */
function noteBudget(session: PollSession, ports: PollPorts): void {
	const sinceMs = ports.clock() - session.startedAtMs
	// Negative if the clock was set back.
	if (sinceMs < 0 || sinceMs > session.config.budgetMs) session.behind = true
}

/**
 * Counts and logs events on which two endpoints disagree about settled blocks. The second look decides what is sent.
 */
function noteDisagreement(session: PollSession, part: Part, { news, retracted }: Difference, ports: PollPorts): void {
	const { endpoint, confirms, span } = part
	const count = news.length + retracted.length
	if (confirms === undefined || count === 0) return
	session.disagreements += count
	const facts = { first: confirms, second: endpoint, from: span.from, to: span.to, found: news.length }
	ports.log.warn(
		{ ...facts, missed: retracted.length },
		'two endpoints disagree on settled blocks: the second is believed',
	)
}

export interface Looked {
	readonly part: Part
	readonly context: LookContext
	readonly difference: Difference
}

/**
 * Commits what was seen in a part with the step, and hands the part to the auditor. Closes the gaps of blocks that were
 * read; one before the checkpoint stays, as read, until the auditor has taken it in. The caller holds the lock.
 */
export async function conclude(
	session: PollSession,
	{ part, context, difference }: Looked,
	step: Step,
	ports: PollPorts,
): Promise<void> {
	session.committed.source = part.source ?? session.committed.source
	const isOrdinary = context.backfill === null
	const isFirst = isOrdinary && part.span.from > session.checkpoint.number
	const isWithin = ({ block: { number } }: Gap) => part.span.from <= number && number <= part.span.to
	const gaps = [...session.state.gaps.values()].filter(isWithin)
	// When a backfill has read a block, its open gap remains for all other watches; only suspicions are removed.
	const closed = isOrdinary ? gaps : gaps.filter(({ openedAtMs }) => openedAtMs === null)
	const read = isFirst || !ports.audit?.auditor ? [] : closed.filter(({ openedAtMs }) => openedAtMs !== null)
	const nowMs = ports.clock()
	const marks = new Map(read.map((gap) => [gap.block.number, { ...gap, readAtMs: gap.readAtMs ?? nowMs }]))
	const signs = isFirst && ports.audit ? blocksToAsk(part, session.head.latest.number, context.watches) : []
	const ran = ranIn(part, context, ports)
	const handover = handoverOf(part, context)
	const whole: Step = {
		...step,
		...(isFirst && ports.audit?.contracts && { touched: touchedIn(part, session.head.latest.number) }),
		...{ gaps: marks, closed, signs, ran, unproved: part.unprovedLogs ?? [] },
		...(isFirst && { handed: handover }),
		...(marks.size > 0 && { handedGap: handover }),
	}
	await write(session, whole, difference, ports)
	session.blocks += part.span.to - part.span.from + 1n
}

/**
 * Checks that a part right after the checkpoint also follows it by hash. If not, the chain changed during the poll, or
 * the header is wrong. After a gap, it is the gap's header that may be wrong.
 */
async function checkFollows(
	{ config, checkpoint, state }: PollSession,
	{ span, parentHash }: Part,
	{ gaps }: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	if (span.from !== checkpoint.number + 1n || parentHash === undefined || parentHash === checkpoint.hash) return
	const gap = state.gaps.get(checkpoint.number)
	const isGap = gap !== undefined && isOpen(gap)
	if (isGap && (await gaps?.keeper.hashOf(checkpoint.number, signal)) === checkpoint.hash) return
	throw movedOn(config.network, `block ${span.from} does not follow the block that was scanned before it`)
}

/** The blocks after which contracts are read; those of a part far from the head, of which no state is kept, as one. */
function touchedIn({ span, last, touched = [] }: Part, head: bigint): readonly TouchedBlock[] {
	const [first] = touched
	if (first === undefined || isKeepingState(span.to, head)) return touched
	const contracts = new Map(touched.flatMap((block) => [...block.contracts.keys()].map((one) => [one, []] as const)))
	return [{ number: last.number, hash: last.hash, from: first.number, contracts }]
}
