import type { Difference } from '../core/compare.js'
import { enrolment } from '../core/coverage.js'
import { deliveriesOf } from '../core/deliveries.js'
import { rememberedBlocks } from '../core/target.js'
import { RpcError, StateError } from '../errors.js'
import type { BlockRef, Head } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log, Store } from '../model/ports.js'
import type { Commit, NetworkState } from '../model/state.js'
import type { Kind, Network, WatchIndex } from '../model/watch.js'

/** What one network is polled with; the same until the watchlists are read again. */
export interface Beat {
	readonly network: Network
	readonly watches: WatchIndex
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** An event is late when its block is older than this and nothing was scanned for as long. */
	readonly lateAfterMs: number
	/** After this time the poll ends at its next border and says that it is behind. */
	readonly budgetMs: number
}

export interface PollPorts {
	readonly chain: Chain
	readonly store: Store
	readonly clock: Clock
	readonly log: Log
	readonly checksum: (address: Address) => string
	readonly digest: (text: string) => string
}

/** Where a poll stands; it moves as parts are committed. */
export interface Visit {
	readonly beat: Beat
	readonly head: Head
	/** Last block to be told of now. */
	readonly target: bigint
	readonly startedAtMs: number
	/** When the checkpoint had last moved before this poll. */
	readonly scannedAtMs: number
	state: NetworkState
	checkpoint: BlockRef
	settled: BlockRef
	/** Last block told of before a reorganisation was found; blocks up to it are told late. */
	reorganisedUpTo: bigint
	/** Of the last part read. */
	source: string | undefined
	behind: boolean
	readonly alerts: Record<Kind, number>
	withdrawn: number
	blocks: bigint
}

/** What a part moves, besides what it tells. */
export type Step = Pick<Commit, 'checkpoint' | 'settled' | 'backfill'>

/**
 * At first sight of a network its checkpoint is the target: nothing before is told, but for `from_block`. Throws StateError
 * when the state is of another chain.
 */
export async function openState(
	network: Network,
	head: Head,
	target: bigint,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<NetworkState> {
	const known = await ports.store.network(network.name)
	if (known !== null) {
		if (known.chainId !== network.chainId) throw otherChain(network, known)
		return known
	}
	const block = await ports.chain.block(target, signal)
	if (block === null)
		throw unsettled(network, `block ${target} is at or below the head, but the node has no such block`)
	const checkpoint = refOf(block)
	await ports.store.commit({
		network: network.name,
		chainId: network.chainId,
		checkpoint,
		settled: checkpoint,
		seen: { head: Number(head.latest.number) },
	})
	ports.log.info({ checkpoint: block.number }, 'first sight of this network: watching starts after the checkpoint')
	return mustState(network, ports.store)
}

/** Covers that already say what the watches say: with many of them the comparison is not free. */
const enrolled = new WeakMap<NetworkState['covers'], WatchIndex>()

/** Takes in watches that are new, gone or changed, and stands at the checkpoint. */
export async function startVisit(
	beat: Beat,
	known: NetworkState,
	{ head, target }: { readonly head: Head; readonly target: bigint },
	ports: PollPorts,
): Promise<Visit> {
	const { network, watches } = beat
	const { store } = ports
	let state = known
	const { checkpoint } = state
	const roll = { ...state, checkpoint: checkpoint.number, head: head.latest.number }
	const change = enrolled.get(state.covers) === watches ? null : enrolment(roll, watches)
	if (change === null) enrolled.set(state.covers, watches)
	else {
		await store.enrol(network.name, change)
		state = await mustState(network, store)
		const backfills = state.backfills.length
		ports.log.info({ addresses: change.covers.size, watched: watches.size, backfills }, 'coverage changed')
	}
	const scannedAtMs = (await store.summary()).networks.get(network.name)?.updatedAtMs ?? ports.clock()
	return {
		beat,
		head,
		target,
		startedAtMs: ports.clock(),
		scannedAtMs,
		state,
		checkpoint,
		settled: state.settled,
		reorganisedUpTo: -1n,
		source: undefined,
		behind: false,
		alerts: { transfer: 0, deployment: 0 },
		withdrawn: 0,
		blocks: 0n,
	}
}

/** Writes one step and what it tells in one commit, then moves the visit. */
export async function advance(
	visit: Visit,
	step: Step,
	difference: Difference | null,
	ports: PollPorts,
): Promise<void> {
	const { network, recipientsOf } = visit.beat
	const { clock, digest, log, store } = ports
	const deliveries = difference === null ? [] : deliveriesOf(difference, { recipientsOf, nowMs: clock(), digest })
	const told = difference?.told ?? []
	const settled = step.settled?.number ?? visit.settled.number
	const forgetTo = settled - rememberedBlocks
	await store.commit({
		network: network.name,
		chainId: network.chainId,
		...step,
		...(forgetTo < 0n ? {} : { forgetTo }),
		seen: { head: Number(visit.head.latest.number), ...(visit.source === undefined ? {} : { source: visit.source }) },
		told,
		deliveries,
	})
	visit.state = await mustState(network, store)
	visit.checkpoint = visit.state.checkpoint
	visit.settled = visit.state.settled
	for (const { alerts, turn } of difference?.news ?? []) {
		for (const { data, receivers } of alerts) {
			visit.alerts[data.kind]++
			const { id, kind, direction, value, asset, blockNumber, late } = data
			log.info({ alert: id, kind, direction, value, asset, block: blockNumber, late, turn, receivers }, 'alert')
		}
	}
	for (const { id, block } of difference?.withdrawn ?? []) {
		visit.withdrawn++
		log.warn({ alert: id, block: block.number }, 'alert withdrawn: its event has left the chain')
	}
}

/** A block without its header. */
export function refOf({ number, hash }: BlockRef): BlockRef {
	return { number, hash }
}

/** The chain changed while it was read. */
export function unsettled(network: Network, fact: string): RpcError {
	return new RpcError(`${network.name}: ${fact}; asking again at the next poll`, {
		kind: 'unsettled',
		endpoint: network.name,
	})
}

async function mustState(network: Network, store: Store): Promise<NetworkState> {
	const state = await store.network(network.name)
	if (state === null) throw new Error(`the state has lost network ${network.name} while it was polled`)
	return state
}

function otherChain({ name, chainId }: Network, known: NetworkState): StateError {
	return new StateError(
		'mismatch',
		`the state of network '${name}' is of chain ${known.chainId}, but it now says chain ${chainId}: ` +
			'give the other chain a network name of its own, or a state folder of its own',
	)
}
