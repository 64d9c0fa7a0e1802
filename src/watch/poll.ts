import type { BackfillSet } from '../core/coverage.js'
import { overdueMs, rememberedBlocks, settleTargetOf, targetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Block, BlockRef, Part, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Backfill, Kind, Network } from '../model/watch.js'
import { addressesOf, type LookContext, look } from './look.js'
import {
	advance,
	type Beat,
	openState,
	type PollPorts,
	refOf,
	type Step,
	startVisit,
	unsettled,
	type Visit,
} from './pollSession.js'

export interface PollReport {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** Blocks were left for the next poll: the budget was spent. */
	readonly behind: boolean
	readonly alerts: Readonly<Record<Kind, number>>
	readonly withdrawn: number
	/** Blocks scanned, second looks and backfills included. */
	readonly blocks: bigint
}

/**
 * One poll of one network: find the target, take in new watches, look at the blocks not yet seen, look a second time at
 * those that have settled, then a slice of the backfills. Each part is written with its checkpoint before the next is
 * read, so that a kill at any moment repeats a little and loses nothing. Throws RpcError or StateError; the checkpoint
 * then stands where the last whole part ended.
 */
export async function poll(beat: Beat, ports: PollPorts, signal: AbortSignal): Promise<PollReport> {
	const { network } = beat
	const head = await ports.chain.head(signal)
	const target = targetOf(head, network.confirmations)
	if (target === null) throw unknownTag(network)

	const state = await openState(network, head, target, ports, signal)
	const visit = await startVisit(beat, state, { head, target }, ports)

	if (target >= visit.checkpoint.number) {
		await checkReorganisation(visit, ports, signal)
		await lookAtNewBlocks(visit, target, ports, signal)
		await lookAgain(visit, ports, signal)
	}
	await lookBack(visit, ports, signal)

	const { checkpoint, behind, alerts, withdrawn, blocks } = visit
	return { head: head.latest.number, target, checkpoint: checkpoint.number, behind, alerts, withdrawn, blocks }
}

/** A changed hash at the checkpoint sends the poll back to the last settled block; the told alerts stay, to be compared. */
async function checkReorganisation(visit: Visit, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { network } = visit.beat
	const { checkpoint, settled } = visit
	if (await stands(visit, checkpoint, ports, signal)) return
	ports.log.warn({ checkpoint: checkpoint.number, back_to: settled.number }, 'the chain was reorganised: looking again')
	let back = settled
	if (!(await stands(visit, settled, ports, signal))) {
		const number = atLeast(settled.number - rememberedBlocks, 0n)
		const block = await ports.chain.block(number, signal)
		if (block === null) throw unsettled(network, `block ${number} has gone`)
		back = refOf(block)
		ports.log.error(
			{ settled: settled.number, back_to: number },
			'the reorganisation is deeper than the settled block; set a larger `settle`. Alerts of blocks before the remembered ones cannot be withdrawn',
		)
	}
	visit.reorganisedUpTo = checkpoint.number
	await advance(visit, { checkpoint: back, settled: back }, null, ports)
}

async function stands(visit: Visit, ref: BlockRef, ports: PollPorts, signal: AbortSignal): Promise<boolean> {
	const { latest } = visit.head
	if (latest.number === ref.number) return latest.hash === ref.hash
	if (latest.number === ref.number + 1n) return latest.parentHash === ref.hash
	const block = await ports.chain.block(ref.number, signal)
	if (block === null)
		throw unsettled(visit.beat.network, `block ${ref.number} is below the head, but the node has no such block`)
	return block.hash === ref.hash
}

async function lookAtNewBlocks(visit: Visit, target: bigint, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const settleTarget = settleTargetOf(visit.head, visit.beat.network)
	// Blocks that had settled before they were first seen need no second look, as long as none before them waits for one.
	if (visit.settled.number === visit.checkpoint.number && settleTarget > visit.checkpoint.number) {
		const old = { from: visit.checkpoint.number + 1n, to: settleTarget < target ? settleTarget : target }
		await scan(visit, old, (part) => ({ checkpoint: refOf(part.last), settled: refOf(part.last) }), ports, signal)
	}
	const fresh = { from: visit.checkpoint.number + 1n, to: target }
	await scan(visit, fresh, (part) => ({ checkpoint: refOf(part.last) }), ports, signal)
}

async function lookAgain(visit: Visit, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const settleTarget = settleTargetOf(visit.head, visit.beat.network)
	const to = settleTarget < visit.checkpoint.number ? settleTarget : visit.checkpoint.number
	const span = { from: visit.settled.number + 1n, to }
	await scan(visit, span, (part) => ({ settled: refOf(part.last) }), ports, signal)
}

async function lookBack(visit: Visit, ports: PollPorts, signal: AbortSignal): Promise<void> {
	let failure: RpcError | null = null
	for (const job of visit.state.backfills) {
		const step = (part: Part): Step => ({ backfill: { id: job.id, scannedTo: part.span.to } })
		try {
			await scan(visit, job.span, step, ports, signal, job)
		} catch (error) {
			// Blocks that no endpoint has any more must not keep the other backfills waiting.
			if (!(error instanceof RpcError)) throw error
			failure ??= error
		}
	}
	if (failure !== null) throw failure
}

async function scan(
	visit: Visit,
	span: Span,
	stepOf: (part: Part) => Step,
	ports: PollPorts,
	signal: AbortSignal,
	job: Backfill | null = null,
): Promise<void> {
	if (span.from > span.to || visit.behind) return
	const backfill = job && backfillSet(job)
	const addresses = backfill?.addresses ?? addressesOf(visit.beat.watches, visit.state.told)
	for await (const part of ports.chain.walk(span, addresses, signal)) {
		checkFollows(visit, part)
		visit.source = part.source ?? visit.source
		const context = contextOf(visit, span, backfill, ports)
		const difference = await look(part, visit.state.told, context, ports.chain, signal)
		await advance(visit, stepOf(part), difference, ports)
		visit.blocks += part.span.to - part.span.from + 1n
		if (ports.clock() - visit.startedAtMs > visit.beat.budgetMs && part.span.to < span.to) {
			visit.behind = true
			return
		}
	}
}

/** A part that begins right after the checkpoint must follow it by hash too, or the chain has changed since the poll began. */
function checkFollows({ beat, checkpoint }: Visit, { span, parentHash }: Part): void {
	if (span.from !== checkpoint.number + 1n || parentHash === undefined || parentHash === checkpoint.hash) return
	throw unsettled(beat.network, `block ${span.from} does not follow the block that was scanned before it`)
}

function contextOf(visit: Visit, span: Span, backfill: BackfillSet | null, ports: PollPorts): LookContext {
	const { beat, head, state } = visit
	const nowMs = ports.clock()
	const isSecondLook = backfill === null && span.to <= visit.checkpoint.number
	const isLateRound = nowMs - visit.scannedAtMs > beat.lateAfterMs
	return {
		network: beat.network,
		watches: beat.watches,
		covers: state.covers,
		backfills: state.backfills.map(backfillSet),
		backfill,
		head,
		nowMs,
		checksum: ports.checksum,
		lateReason: (block: Block) => {
			if (backfill !== null) return 'scanned afterwards, because the watch covers earlier blocks'
			if (block.number <= visit.reorganisedUpTo) return 'entered the chain in a reorganisation'
			if (isSecondLook) return 'found at the second look'
			if (overdueMs(block, visit.target, head.latest) > beat.lateAfterMs) return 'told while catching up'
			const isOld = nowMs - Number(block.timestampS) * 1000 > beat.lateAfterMs
			return isLateRound && isOld ? `nothing was scanned since ${new Date(visit.scannedAtMs).toISOString()}` : null
		},
	}
}

function atLeast(number: bigint, least: bigint): bigint {
	return number < least ? least : number
}

function unknownTag(network: Network): RpcError {
	const message = `${network.name}: the node does not know the block tag \`${network.confirmations}\`; set \`confirmations\` to a number of blocks`
	return new RpcError(message, { kind: 'unsupported', endpoint: network.name })
}

/** Sets of long lists are made once: the store hands out the same list as long as it does not change. */
const addressSets = new WeakMap<readonly Address[], AddressSet>()

function backfillSet({ span, addresses }: Backfill): BackfillSet {
	let set = addressSets.get(addresses)
	if (set === undefined) {
		set = new Set(addresses)
		addressSets.set(addresses, set)
	}
	return { span, addresses: set }
}
