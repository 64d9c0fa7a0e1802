import { linkedAbort } from '../base/waits/linkedAbort.js'
import { isOpen, mostGaps, unaccepted } from '../core/gaps.js'
import { withCalls } from '../core/matching/calledFunctions.js'
import { noDifference } from '../core/reconcile/reconcile.js'
import { lengthOf, refOf } from '../core/spans.js'
import { targetOf } from '../core/target.js'
import { RpcError, type RpcErrorKind } from '../errors.js'
import type { BlockRef, Part, Span } from '../model/chain.js'
import type { NetworkState } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import { withCode } from './auditing/codeQueue.js'
import { takeEarly } from './auditing/follow.js'
import { withOldLogs } from './backfillLogs.js'
import { isIn, judgeAndCommit } from './committed.js'
import { conclude, type Looked, noteDisagreement } from './conclude.js'
import { hasStayed, passGap } from './gaps/passGap.js'
import { addressesOf, look } from './look/look.js'
import { backfillSet, contextOf } from './look/lookContext.js'
import { movedOn, type PollPorts, type PollSession, type Step, write } from './pollSession.js'
import { proved, toProve } from './proveBackfill.js'
import { handContested } from './secondReading.js'

/** The step to commit after the blocks up to `last`, inclusive, were looked at. */
export type StepOf = (last: BlockRef) => Step

export interface Scan {
	readonly span: Span
	readonly stepOf: StepOf
	readonly job?: Backfill
}

/** Commits each part's announcements with its step. A block that no source gives becomes a gap after retries. */
export async function scan(
	session: PollSession,
	{ span, stepOf, job }: Scan,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	const backfill = job === undefined ? null : backfillSet(job)
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
	/** The second look goes on after the auditor has judged a part. */
	let isHanded = false
	const take = async (part: Part): Promise<void> => {
		checkLogs(part, isNew && unaccepted(session.state.gaps) < mostGaps)
		await checkFollows(session, part, ports, signal)
		isTaking = true
		isHanded = await takePart(session, part, { stepOf, job, isSecondLook }, ports, signal)
		if (isHanded) return
		session.blocks += lengthOf(part.span)
		if (isNew) await takeEarly(session, ports, signal)
		from = part.span.to + 1n
		keeper?.cameWell(part.span)
		if (part.span.to < to) noteBudget(session, ports)
		isTaking = false
	}
	const { watches } = session.config
	const old =
		backfill && job && (await withOldLogs(withCalls(backfill.addresses, watches), { job, session }, ports, signal))
	while (from <= to && !session.behind) {
		const left = linkedAbort(signal)
		const named = old ?? addressesOf(watches, session.state)
		const addresses = withCode(named, session, ports)
		try {
			holdBack()
			const blocks = { from, to, ...(keeper && { atOnce: keeper.atOnce }) }
			for await (const part of walk(blocks, addresses, left.signal)) {
				await take(part)
				if (session.behind || isHanded) return
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
			const failed = { number: from, addresses, job: job ?? null, isSecondLook, error, leave: () => left.abort() }
			const own = { ...ports, gaps: ports.gaps }
			if (isUnsettled && !(await hasStayed(session, failed, own, signal))) throw error
			const passed = await passGap(session, failed, stepOf, own, signal)
			if (passed === 'passed') from++
			else await take(passed)
			if (isHanded) return
			if (from <= to) noteBudget(session, ports)
		} finally {
			left.release()
		}
	}
}

/**
 * Commits what a part shows, with its step. Alerts do not wait for balances: they are committed alone, and the step
 * follows with the proof; after a kill between the two the part is read again. Resolves to whether the auditor has to
 * judge the part instead.
 */
async function takePart(
	session: PollSession,
	part: Part,
	{ stepOf, job, isSecondLook }: Pick<Scan, 'stepOf'> & { job: Backfill | undefined; isSecondLook: boolean },
	ports: PollPorts,
	signal: AbortSignal,
): Promise<boolean> {
	const step = stepOf(refOf(part.last))
	const backfill = job === undefined ? null : backfillSet(job)
	const unkept = toProve(part, { job, isSecondLook }, ports)
	let isHanded = false
	const judge = async ({ announcements }: NetworkState): Promise<Looked> => {
		const context = contextOf(session, ports, { backfill, isSecondLook })
		return { part, context, difference: await look(part, announcements, context, ports.chain, signal) }
	}
	const shown = await judgeAndCommit(session.committed, isIn(part.span), judge, async (looked) => {
		isHanded = isSecondLook && handContested(looked, step, ports)
		if (isHanded) return
		if (isSecondLook) noteDisagreement(session, part, looked.difference, ports)
		if (unkept.length === 0) await conclude(session, looked, step, ports)
		else if (looked.difference !== noDifference) await write(session, {}, looked.difference, ports)
	})
	if (isHanded || unkept.length === 0) return isHanded
	const prove = (state: NetworkState) => proved(unkept, shown, state, ports, signal)
	await judgeAndCommit(session.committed, isIn(part.span), prove, (looked) => conclude(session, looked, step, ports))
	return false
}

/** The errors with which endpoints answer requests for a block that does not exist. */
const asOfNoBlock: ReadonlySet<RpcErrorKind> = new Set(['no-data', 'unsettled', 'malformed', 'server', 'bad-params'])

/** Whether no endpoint has a block at the claimed head; the newest shown block then becomes the poll's head. */
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

/** Without its logs, only a new block is taken, as a gap. Else it fails as a whole. */
function checkLogs({ unreadLogs, endpoint = '' }: Part, mayLack: boolean): void {
	if (unreadLogs !== undefined && !mayLack) throw new RpcError(unreadLogs, { kind: 'no-data', endpoint })
}

/** Checks that a part after the checkpoint follows it by hash. After a gap, the gap's header may be the wrong one. */
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
