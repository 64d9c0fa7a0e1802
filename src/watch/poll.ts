/**
 * The room is the story of a poll: this file says it from top to bottom, `look.ts` is one look at a part of it, and
 * `pollSession.ts` where it stands.
 */

import type { Difference } from '../core/compare.js'
import { rememberedBlocks, settleTargetOf, targetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { BlockRef, Part, Span } from '../model/chain.js'
import type { Backfill, Kind, Network } from '../model/watch.js'
import { checkFindings, type Kept, keepBooks, reopened } from './keepBooks.js'
import { addressesOf, type LookContext, look } from './look.js'
import { backfillSet, contextOf } from './lookContext.js'
import {
	advance,
	openState,
	type PollConfig,
	type PollPorts,
	type PollSession,
	refOf,
	type Step,
	startSession,
	unsettled,
} from './pollSession.js'

export interface PollReport {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** Blocks were left for the next poll: the budget was spent. */
	readonly behind: boolean
	readonly alerts: Readonly<Partial<Record<Kind, number>>>
	readonly retracted: number
	/** Events of settled blocks that two endpoints told differently. */
	readonly disagreements: number
	/** Blocks scanned, second looks and backfills included. */
	readonly blocks: bigint
}

/**
 * One poll of one network: find the target, take in new watches, look at the blocks not yet seen, look a second time at
 * those that have settled, then a slice of the backfills. Each part is written with its checkpoint before the next is
 * read, so that a kill at any moment repeats a little and loses nothing. Throws RpcError or StateError; the checkpoint
 * then stands where the last whole part ended.
 */
export async function poll(config: PollConfig, ports: PollPorts, signal: AbortSignal): Promise<PollReport> {
	const { network } = config
	const head = await ports.chain.head(signal)
	const target = targetOf(head, network.confirmations)
	if (target === null) throw unknownTag(network)

	const state = await openState(network, head, target, ports, signal)
	const session = await startSession(config, state, { head, target }, ports)

	if (target >= session.checkpoint.number) {
		expectNewBlocks(session, target, ports, signal)
		await checkReorganisation(session, ports, signal)
		await lookAtNewBlocks(session, target, ports, signal)
		await lookAgain(session, ports, signal)
	}
	await lookBack(session, ports, signal)

	const { checkpoint, behind, alerts, retracted, disagreements, blocks } = session
	const reached = { head: head.latest.number, target, checkpoint: checkpoint.number }
	return { ...reached, behind, alerts, retracted, disagreements, blocks }
}

/**
 * A changed hash at the checkpoint sends the poll back to the last settled block; the announced alerts stay, to be
 * compared.
 */
async function checkReorganisation(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { network } = session.config
	const { checkpoint, settled } = session
	if (await stands(session, checkpoint, ports, signal)) return
	ports.log.warn({ checkpoint: checkpoint.number, back_to: settled.number }, 'the chain was reorganised: looking again')
	let back = settled
	if (!(await stands(session, settled, ports, signal))) {
		const number = atLeast(settled.number - rememberedBlocks, 0n)
		const block = await ports.chain.block(number, signal)
		if (block === null) throw unsettled(network, `block ${number} has gone`)
		back = refOf(block)
		ports.log.error(
			{ settled: settled.number, back_to: number },
			'the reorganisation is deeper than the settled block; set a larger `settle`. ' +
				'Alerts of blocks before the remembered ones cannot be retracted',
		)
	}
	session.reorganisedUpTo = checkpoint.number
	const books = reopened(session.state.books, back)
	await advance(session, { checkpoint: back, settled: back, books }, null, ports)
}

async function stands(session: PollSession, ref: BlockRef, ports: PollPorts, signal: AbortSignal): Promise<boolean> {
	const { latest } = session.head
	if (latest.number === ref.number) return latest.hash === ref.hash
	if (latest.number === ref.number + 1n) return latest.parentHash === ref.hash
	const block = await ports.chain.block(ref.number, signal)
	if (block === null)
		throw unsettled(session.config.network, `block ${ref.number} is below the head, but the node has no such block`)
	return block.hash === ref.hash
}

async function lookAtNewBlocks(
	session: PollSession,
	target: bigint,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	const old = settledUnseen(session, target)
	if (old !== null) {
		await scan(session, old, (part) => ({ checkpoint: refOf(part.last), settled: refOf(part.last) }), ports, signal)
	}
	const fresh = { from: session.checkpoint.number + 1n, to: target }
	await scan(session, fresh, (part) => ({ checkpoint: refOf(part.last) }), ports, signal)
}

/**
 * Blocks that had settled before they were first seen need no second look, as long as none before them waits for one.
 */
function settledUnseen({ head, config, settled, checkpoint }: PollSession, target: bigint): Span | null {
	const settleTarget = settleTargetOf(head, config.network)
	if (settled.number !== checkpoint.number || settleTarget <= checkpoint.number) return null
	return { from: checkpoint.number + 1n, to: settleTarget < target ? settleTarget : target }
}

/**
 * Whether the checkpoint still stands is mostly known from the head; where it must be asked, the new blocks are read
 * meanwhile.
 */
function expectNewBlocks(session: PollSession, target: bigint, ports: PollPorts, signal: AbortSignal): void {
	const { checkpoint, head, config, state } = session
	if (head.latest.number <= checkpoint.number + 1n) return
	const span = settledUnseen(session, target) ?? { from: checkpoint.number + 1n, to: target }
	ports.chain.expect(span, addressesOf(config.watches, state.announcements), signal)
}

async function lookAgain(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const settleTarget = settleTargetOf(session.head, session.config.network)
	const to = settleTarget < session.checkpoint.number ? settleTarget : session.checkpoint.number
	const span = { from: session.settled.number + 1n, to }
	await scan(session, span, (part) => ({ settled: refOf(part.last) }), ports, signal)
}

async function lookBack(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	let failure: RpcError | null = null
	for (const job of session.state.backfills) {
		const step = (part: Part): Step => ({ backfill: { id: job.id, scannedTo: part.span.to } })
		try {
			await scan(session, job.span, step, ports, signal, job)
		} catch (error) {
			// Blocks that no endpoint has any more must not keep the other backfills waiting.
			if (!(error instanceof RpcError)) throw error
			failure ??= error
		}
	}
	if (failure !== null) throw failure
}

async function scan(
	session: PollSession,
	span: Span,
	stepOf: (part: Part) => Step,
	ports: PollPorts,
	signal: AbortSignal,
	job: Backfill | null = null,
): Promise<void> {
	if (span.from > span.to || session.behind) return
	const backfill = job && backfillSet(job)
	const addresses = backfill?.addresses ?? addressesOf(session.config.watches, session.state.announcements)
	const isSecondLook = backfill === null && span.to <= session.checkpoint.number
	const walk = isSecondLook ? ports.chain.walkAgain : ports.chain.walk
	for await (const part of walk(span, addresses, signal)) {
		checkFollows(session, part)
		session.source = part.source ?? session.source
		const context = contextOf(session, span, backfill, ports)
		const seen = await look(part, session.state.announcements, context, ports.chain, signal)
		if (isSecondLook) noteDisagreement(session, part, seen, ports)
		const { difference, books } = await heldAgainstBooks(session, part, seen, context, ports, signal)
		await advance(session, { ...stepOf(part), ...(books && { books }) }, difference, ports)
		session.blocks += part.span.to - part.span.from + 1n
		if (ports.clock() - session.startedAtMs > session.config.budgetMs && part.span.to < span.to) {
			session.behind = true
			return
		}
	}
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

/**
 * What moved is held against the balances once, when a block is scanned first; what no frame shows is checked each
 * time.
 */
async function heldAgainstBooks(
	session: PollSession,
	part: Part,
	seen: Difference,
	context: LookContext,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<{ readonly difference: Difference; readonly books?: Kept['books'] }> {
	if (ports.books === undefined || context.backfill !== null) return { difference: seen }
	const { state, checkpoint } = session
	const own = { ...ports.books, chain: ports.chain }
	const checked = await checkFindings(part, state.announcements, seen, own, signal)
	if (part.span.from <= checkpoint.number) return { difference: checked }
	const { difference, books, summary } = await keepBooks(part, state, checked, context, own, signal)
	session.books = summary
	return { difference, books }
}

/**
 * A part that begins right after the checkpoint must follow it by hash too, or the chain has changed since the poll
 * began.
 */
function checkFollows({ config, checkpoint }: PollSession, { span, parentHash }: Part): void {
	if (span.from !== checkpoint.number + 1n || parentHash === undefined || parentHash === checkpoint.hash) return
	throw unsettled(config.network, `block ${span.from} does not follow the block that was scanned before it`)
}

function atLeast(number: bigint, least: bigint): bigint {
	return number < least ? least : number
}

function unknownTag(network: Network): RpcError {
	const message =
		`${network.name}: the node does not know the block tag \`${network.confirmations}\`; ` +
		'set `confirmations` to a number of blocks'
	return new RpcError(message, { kind: 'unsupported', endpoint: network.name })
}
