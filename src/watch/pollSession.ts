import type { Difference } from '../core/compare.js'
import { deliveriesOf } from '../core/deliveries.js'
import { gapNotices } from '../core/gapNotices.js'
import { systemDeliveries } from '../core/system.js'
import { rememberedBlocks } from '../core/target.js'
import { RpcError, StateError } from '../errors.js'
import type { Accounts, BooksSummary } from '../model/books.js'
import type { BlockRef, Head } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Chain, Log, Store } from '../model/ports.js'
import type { Commit, Gap, NetworkState } from '../model/state.js'
import type { UnprovedLogs } from '../model/token.js'
import type { Kind, Network, WatchIndex } from '../model/watch.js'
import type { Bookkeeper } from './bookkeeper.js'
import { enrolmentOf } from './enrolment.js'
import type { GapKeeper } from './gapKeeper.js'
import { inSteps } from './inSteps.js'
import { logNews } from './logNews.js'
import type { SignedPorts } from './signedOnly.js'

/** What one network is polled with; the same until the watchlists are read again. */
export interface PollConfig {
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
	/** Where blocks that nobody can give are passed over; absent: the poll stands at them. */
	readonly gaps?: {
		readonly keeper: GapKeeper
		/** Who is told of what concerns the network as a whole. */
		readonly receivers: () => readonly string[]
	}
	/** Keeps the books; absent where none are kept. */
	readonly books?: { readonly bookkeeper: Bookkeeper; readonly accounts: Accounts }
	/** Finds delegations by what was signed, where none are kept or nobody is asked for code; absent: nothing is. */
	readonly signed?: Pick<SignedPorts, 'accounts' | 'isPrivate' | 'vain'>
}

/** Where a poll stands; it moves as parts are committed. */
export interface PollSession {
	readonly config: PollConfig
	readonly head: Head
	/** Last block to announce from now. */
	readonly target: bigint
	readonly startedAtMs: number
	/** When the checkpoint had last moved before this poll. */
	readonly scannedAtMs: number
	state: NetworkState
	checkpoint: BlockRef
	settled: BlockRef
	/** Last block announced from before a reorganisation was found; blocks up to it are sent late. */
	reorganisedUpTo: bigint
	/** Of the last part read. */
	source: string | undefined
	/** How far the books are, as last seen; absent where none are kept. */
	books: BooksSummary | undefined
	/** Blocks whose logs nothing proves; absent: none. */
	logs: UnprovedLogs | undefined
	behind: boolean
	readonly alerts: Record<Kind, number>
	retracted: number
	disagreements: number
	blocks: bigint
}

/** What a part moves, besides what it announces. */
export type Step = Pick<Commit, 'checkpoint' | 'settled' | 'backfill' | 'books' | 'gaps'>

/**
 * At first sight of a network its checkpoint is the target: nothing before is announced, but for `from_block`. Throws
 * StateError when the state is of another chain.
 */
export async function openState(
	{ network, watches }: Pick<PollConfig, 'network' | 'watches'>,
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
	const block = target === head.latest.number ? head.latest : await ports.chain.block(target, signal)
	if (block === null) throw movedOn(network, `block ${target} is at or below the head, but the node has no such block`)
	const checkpoint = refOf(block)
	const books = await ports.books?.bookkeeper.summary(watches, { books: new Map() })
	const state = await ports.store.commit({
		network: network.name,
		chainId: network.chainId,
		checkpoint,
		settled: checkpoint,
		seen: {
			head: Number(head.latest.number),
			...(books && { books }),
		},
	})
	ports.log.info({ checkpoint: block.number }, 'first sight of this network: watching starts after the checkpoint')
	return state
}

/** Coverage that already says what the watches say: with many of them the comparison is not free. */
const enrolled = new WeakMap<NetworkState['covered'], WatchIndex>()

/** Takes in watches that are new, gone or changed, and stands at the checkpoint. */
export async function startSession(
	config: PollConfig,
	known: NetworkState,
	{ head, target }: { readonly head: Head; readonly target: bigint },
	ports: PollPorts,
): Promise<PollSession> {
	const { network, watches } = config
	const { store } = ports
	let state = known
	const { checkpoint } = state
	const seed = Math.floor(Math.random() * 2 ** 32)
	const basis = { ...state, checkpoint: checkpoint.number, head: head.latest.number, seed }
	const change = enrolled.get(state.covered) === watches ? null : await enrolmentOf(basis, watches)
	if (change === null) enrolled.set(state.covered, watches)
	else {
		state = await store.enrol(network.name, change)
		const backfills = state.backfills.length
		ports.log.info({ addresses: change.covered.size, watched: watches.size, backfills }, 'coverage changed')
	}
	return {
		config,
		head,
		target,
		startedAtMs: ports.clock(),
		scannedAtMs: state.updatedAtMs,
		state,
		checkpoint,
		settled: state.settled,
		reorganisedUpTo: -1n,
		source: undefined,
		books: await ports.books?.bookkeeper.summary(watches, state),
		logs: state.logsSeen,
		behind: false,
		alerts: {
			transfer: 0,
			deployment: 0,
			token: 0,
			withdrawal: 0,
			delegation: 0,
			income: 0,
			balance: 0,
			unexplained: 0,
		},
		retracted: 0,
		disagreements: 0,
		blocks: 0n,
	}
}

/** Writes one step and what it announces in one commit, then moves the session. `closed`: gaps that were read. */
export async function advance(
	session: PollSession,
	step: Step,
	difference: Difference | null,
	ports: PollPorts,
	closed: readonly Gap[] = [],
): Promise<void> {
	const { network, recipientsOf } = session.config
	const { source, books, logs } = session
	const proved = { ...(books && { books }), ...(logs && { logs }) }
	const { clock, digest, log, store } = ports
	const posting = { recipientsOf, nowMs: clock(), digest }
	const notices = gapNotices({
		network,
		gaps: session.state.gaps,
		changes: [...(step.gaps?.values() ?? [])].filter((gap) => gap !== null),
		closes: closed,
		checkpoint: session.checkpoint.number,
		head: session.head.latest.number,
		nowMs: clock(),
	})
	const deliveries = [
		...(difference === null ? [] : await inSteps(deliveriesOf(difference, posting))),
		...notices.flatMap((notice) => systemDeliveries(notice, ports.gaps?.receivers() ?? [], posting)),
	]
	const gaps = closed.length === 0 ? step.gaps : new Map(closed.map(({ block }) => [block.number, null]))
	const announcements = difference?.announcements ?? []
	const settled = step.settled?.number ?? session.settled.number
	const forgetTo = settled - rememberedBlocks
	session.state = await store.commit({
		network: network.name,
		chainId: network.chainId,
		...step,
		...(gaps && { gaps }),
		...(forgetTo < 0n ? {} : { forgetTo }),
		seen: { head: Number(session.head.latest.number), ...(source && { source }), ...proved },
		announcements,
		deliveries,
		...(difference?.payees && { payees: difference.payees }),
	})
	session.checkpoint = session.state.checkpoint
	session.settled = session.state.settled
	for (const { type, reason, acceptedAt } of notices) {
		if (type === 'system.recovered') log.info({}, `a gap is closed: ${reason}`)
		else if (acceptedAt !== undefined) log.warn({ accepted_at: acceptedAt }, `a gap is accepted: ${reason}`)
	}
	await logNews(difference?.news ?? [], { counts: session.alerts, log })
	for (const { id, block } of difference?.retracted ?? []) {
		session.retracted++
		log.warn({ alert: id, block: block.number }, 'alert retracted: its event has left the chain')
	}
}

/** A block without its header. */
export function refOf({ number, hash }: BlockRef): BlockRef {
	return { number, hash }
}

/** The chain changed while it was read. */
export function movedOn(network: Network, fact: string): RpcError {
	return new RpcError(`${network.name}: ${fact}; asking again at the next poll`, {
		kind: 'unsettled',
		endpoint: network.name,
	})
}

function otherChain({ name, chainId }: Network, known: NetworkState): StateError {
	return new StateError(
		'mismatch',
		`the state of network '${name}' is of chain ${known.chainId}, but it now says chain ${chainId}: ` +
			'give the other chain a network name of its own, or a state folder of its own',
	)
}
