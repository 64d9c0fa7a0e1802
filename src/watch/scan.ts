import type { Difference } from '../core/compare.js'
import { isOpen } from '../core/gaps.js'
import { withUnprovedLogs } from '../core/unprovedLogs.js'
import { RpcError } from '../errors.js'
import type { BlockRef, Part, Span } from '../model/chain.js'
import type { NetworkState } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import { STATE_BLOCKS } from './bookkeeper.js'
import { withGap } from './gapBooks.js'
import { lookAtPart } from './headerWithdrawals.js'
import { booksPutBy, checkFindings, type Kept, keepBooks, signedInFirst } from './keepBooks.js'
import { addressesOf, type LookContext } from './look.js'
import { backfillSet, contextOf } from './lookContext.js'
import { passGap } from './passGap.js'
import { advance, movedOn, type PollPorts, type PollSession, refOf, type Step } from './pollSession.js'
import { asksForSigned } from './signedIn.js'
import { withSigned } from './signedOnly.js'

const noDifference: Difference = { news: [], retracted: [], announcements: [] }

/** What is written when the blocks up to and with `last` were looked at. */
export type StepOf = (last: BlockRef) => Step

/**
 * Reads a span, and looks at each part of it: what it announces is written with the step. A block that nobody can give
 * is passed over in time, as a gap. `job`: the backfill that the span belongs to.
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
	const walk = isSecondLook ? ports.chain.walkAgain : ports.chain.walk
	const keeper = ports.gaps?.keeper
	let { from } = span
	const atOnce = () => keeper?.atOnce(from) ?? null
	const holdBack = () => {
		const tooLong = keeper?.tooLongAt(from) ?? null
		if (tooLong !== null) throw tooLong
	}
	const take = async (part: Part): Promise<void> => {
		checkFollows(session, part)
		const context = contextOf(session, span, backfill, ports)
		const seen = await lookAtPart(part, session.state.announcements, context, ports.chain, signal)
		if (isSecondLook) noteDisagreement(session, part, seen, ports)
		await conclude(session, part, seen, context, stepOf(refOf(part.last)), ports, signal)
		from = part.span.to + 1n
		keeper?.cameWell(part.span)
		if (part.span.to < span.to) noteBudget(session, ports)
	}
	while (from <= span.to && !session.behind) {
		const left = new AbortController()
		const addresses = backfill?.addresses ?? addressesOf(session.config.watches, session.state.announcements)
		try {
			holdBack()
			const blocks = { from, to: span.to, ...(keeper && { atOnce: keeper.atOnce }) }
			for await (const part of walk(blocks, addresses, AbortSignal.any([signal, left.signal]))) {
				await take(part)
				if (session.behind) return
				if (from <= span.to && atOnce() !== null) holdBack()
			}
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind === 'unsettled' || ports.gaps === undefined) throw error
			if (error.kind === 'timeout' && from < span.to && atOnce() !== 1) {
				// It may be any of them.
				ports.gaps.keeper.goCarefully(from)
				continue
			}
			const doubt = { number: from, addresses, job, isSecondLook, error, leave: () => left.abort() }
			const passed = await passGap(session, doubt, stepOf, { ...ports, gaps: ports.gaps }, signal)
			if (passed === 'passed') from++
			else await take(passed)
			if (from <= span.to) noteBudget(session, ports)
		}
	}
}

/** After its time the poll ends at the next border. */
function noteBudget(session: PollSession, ports: PollPorts): void {
	const sinceMs = ports.clock() - session.startedAtMs
	// Below 0 the clock was set back.
	if (sinceMs < 0 || sinceMs > session.config.budgetMs) session.behind = true
}

/**
 * Two endpoints tell different things of the same settled blocks; what is sent of it follows the rules of the second
 * look.
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

/** Holds what was seen against the books, and writes it with the step. A block that was read is no gap any more. */
export async function conclude(
	session: PollSession,
	part: Part,
	seen: Difference,
	context: LookContext,
	step: Step,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	session.source = part.source ?? session.source
	session.logs = withUnprovedLogs(session.logs, part.unprovedLogs ?? [])
	const isFirst = context.backfill === null && part.span.from > session.checkpoint.number
	const areFirst = isFirst && areAlertsFirst(session, part, seen)
	let rest = seen
	if (areFirst && ports.signed !== undefined && asksForSigned(part, session.head.latest.number, context.watches)) {
		// The checkpoint stays: after a kill the part is looked at again, for what was signed in it.
		await advance(session, {}, seen, ports)
		rest = noDifference
	}
	const { difference, books, later } = await heldAgainstBooks(
		session,
		part,
		rest,
		{ ...context, areFirst },
		ports,
		signal,
	)
	const closes = context.backfill === null ? session.state.gaps.values() : suspectedIn(session)
	const closed = [...closes].filter(({ block: { number } }) => part.span.from <= number && number <= part.span.to)
	await advance(session, { ...step, ...(books && { books }) }, difference, ports, closed)
	session.blocks += part.span.to - part.span.from + 1n
	if (later === undefined) return
	const kept = await later()
	await advance(session, { books: kept.books }, kept.difference, ports)
}

/** An open gap stays one for all others when a backfill has read its block. */
function suspectedIn({ state }: PollSession) {
	return [...state.gaps.values()].filter((gap) => !isOpen(gap))
}

interface Held {
	readonly difference: Difference
	readonly books?: Kept['books']
	/** The alerts are written first, with what the part moved put by; then the books are closed over it by this. */
	readonly later?: () => Promise<Kept>
}

/**
 * What moved is checked against the balances once, when a block is scanned first; what no frame shows is checked each
 * time.
 */
async function heldAgainstBooks(
	session: PollSession,
	part: Part,
	seen: Difference,
	context: LookContext & { readonly areFirst: boolean },
	ports: PollPorts,
	signal: AbortSignal,
): Promise<Held> {
	if (context.backfill !== null) return { difference: seen }
	const { state, checkpoint } = session
	let difference = seen
	if (ports.signed !== undefined && part.span.from > checkpoint.number) {
		const own = { ...ports.signed, chain: ports.chain, log: ports.log }
		difference = await withSigned(part, state.announcements, seen, context, own, signal)
	}
	if (ports.books === undefined) return { difference }
	const own = { ...ports.books, chain: ports.chain, log: ports.log }
	const checked = await checkFindings(part, state.announcements, difference, own, signal)
	if (part.span.from <= checkpoint.number) return { difference: checked, books: withGap(state, part) }
	const signed = await signedInFirst(part, context, own, signal)
	const close = async (before: Difference, { announcements }: NetworkState) => {
		const kept = await keepBooks(part, { ...state, announcements }, before, { ...context, signed }, own, signal)
		session.books = kept.summary
		return kept
	}
	const areFirst = context.areFirst || areAlertsFirst(session, part, checked)
	if (signed.length > 0 || !areFirst) return await close(checked, state)
	return { difference: checked, books: booksPutBy(part, state.books), later: () => close(noDifference, session.state) }
}

/** Anybody is to be told of anything now, and the books take their time: balances or lists are asked for. */
function areAlertsFirst(
	{ head, reorganisedUpTo }: PollSession,
	{ span }: Part,
	{ news, retracted }: Difference,
): boolean {
	if (news.length + retracted.length === 0) return false
	// What was found in blocks that were replaced is compared with these, in one commit with them.
	return span.from > reorganisedUpTo && head.latest.number - span.to <= STATE_BLOCKS
}

/**
 * A part that begins right after the checkpoint must follow it by hash too, or the chain has changed since the poll
 * began.
 */
function checkFollows({ config, checkpoint }: PollSession, { span, parentHash }: Part): void {
	if (span.from !== checkpoint.number + 1n || parentHash === undefined || parentHash === checkpoint.hash) return
	throw movedOn(config.network, `block ${span.from} does not follow the block that was scanned before it`)
}
