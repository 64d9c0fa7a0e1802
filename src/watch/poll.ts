/**
 * The room is the story of a poll: this file says it from top to bottom, `look.ts` is one look at a part of it, and
 * `pollSession.ts` where it stands.
 */

import { rememberedBlocks, settleTargetOf, targetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { BlockRef, Span } from '../model/chain.js'
import type { Kind, Network } from '../model/watch.js'
import { reopened } from './keepBooks.js'
import { addressesOf } from './look.js'
import { openBooks } from './openBooks.js'
import {
	advance,
	movedOn,
	openState,
	type PollConfig,
	type PollPorts,
	type PollSession,
	refOf,
	startSession,
} from './pollSession.js'
import { rereadGap } from './rereadGap.js'
import { scan } from './scan.js'

export interface PollReport {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** Blocks were left for the next poll: the budget was spent. */
	readonly behind: boolean
	readonly alerts: Readonly<Partial<Record<Kind, number>>>
	readonly retracted: number
	/** Events of settled blocks that two endpoints gave differently. */
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

	const state = await openState(config, head, target, ports, signal)
	const session = await startSession(config, state, { head, target }, ports)

	if (target >= session.checkpoint.number) {
		expectNewBlocks(session, target, ports, signal)
		await checkReorganisation(session, ports, signal)
		await lookAtNewBlocks(session, target, ports, signal)
		await lookAgain(session, ports, signal)
		await openBooks(session, ports, signal)
	}
	await rereadGap(session, ports, signal)
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
		if (block === null) throw movedOn(network, `block ${number} has gone`)
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
	const keeper = session.state.gaps.has(ref.number) ? ports.gaps?.keeper : undefined
	const asked = keeper?.hashOf(ref.number, signal) ?? ports.chain.block(ref.number, signal).then((block) => block?.hash)
	const hash = (await asked) ?? null
	if (hash === null)
		throw movedOn(session.config.network, `block ${ref.number} is below the head, but the node has no such block`)
	return hash === ref.hash
}

async function lookAtNewBlocks(
	session: PollSession,
	target: bigint,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	const old = settledUnseen(session, target)
	if (old !== null) {
		await scan(session, old, (last) => ({ checkpoint: last, settled: last }), ports, signal)
	}
	const fresh = { from: session.checkpoint.number + 1n, to: target }
	await scan(session, fresh, (last) => ({ checkpoint: last }), ports, signal)
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
	const from = checkpoint.number + 1n
	const { to } = settledUnseen(session, target) ?? { to: target }
	// As the walk will be: what is asked for otherwise is asked for in vain.
	const span = { from, to, ...(ports.gaps && { atOnce: ports.gaps.keeper.atOnce }) }
	ports.chain.expect(span, addressesOf(config.watches, state.announcements), signal)
}

async function lookAgain(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const settleTarget = settleTargetOf(session.head, session.config.network)
	const to = settleTarget < session.checkpoint.number ? settleTarget : session.checkpoint.number
	const span = { from: session.settled.number + 1n, to }
	await scan(session, span, (last) => ({ settled: last }), ports, signal)
}

async function lookBack(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	let failure: RpcError | null = null
	for (const job of session.state.backfills) {
		const { id } = job
		try {
			await scan(session, job.span, ({ number }) => ({ backfill: { id, scannedTo: number } }), ports, signal, job)
		} catch (error) {
			// Blocks that no endpoint has any more must not keep the other backfills waiting.
			if (!(error instanceof RpcError)) throw error
			failure ??= error
		}
	}
	if (failure !== null) throw failure
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
