import { inSteps, isSliceOver, nextSlice } from '../base/waits/slices.js'
import { withUnprovedLogs } from '../core/ledger/unprovedLogs.js'
import { enrolmentSteps } from '../core/matching/coverage.js'
import { foldOverflow } from '../core/outbox/fold.js'
import { gapNotices } from '../core/outbox/gapNotices.js'
import { deliveriesOf } from '../core/outbox/posting.js'
import { systemDeliveries } from '../core/outbox/system.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import { refOf } from '../core/spans.js'
import { rememberedBlocks, targetOf } from '../core/target.js'
import { RpcError, StateError } from '../errors.js'
import { perKind } from '../kinds/all.js'
import type { BooksSummary } from '../model/books.js'
import type { BlockRef, Head, TouchedBlock } from '../model/chain.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Kind } from '../model/kind.js'
import type { Chain, Log, Store } from '../model/ports.js'
import type { AuditState, Commit, Gap, NetworkState, RanInTransaction, SignedInBlock } from '../model/state.js'
import type { UnprovedBlock } from '../model/token.js'
import type { Network, WatchIndex } from '../model/watch.js'
import type { AuditPorts } from './auditing/auditPorts.js'
import { checkQueue, cutBack, push } from './auditing/auditQueue.js'
import type { Handover } from './auditing/handover.js'
import type { Committed } from './committed.js'
import type { GapKeeper } from './gaps/gapKeeper.js'
import { likelyHead, readHead } from './honestHead.js'
import { logNews } from './logNews.js'

/** The settings of one network's polls; unchanged until the watchlists are reloaded. */
export interface PollConfig {
	readonly network: Network
	readonly watches: WatchIndex
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** An event is late when its block is older than this and nothing was scanned for as long. */
	readonly lateAfterMs: number
	/** After this time the poll ends at the next part and reports `behind`. */
	readonly budgetMs: number
}

export interface PollPorts {
	readonly chain: Chain
	readonly store: Store
	readonly clock: Clock
	readonly log: Log
	readonly checksum: (address: Address) => string
	readonly digest: (text: string) => string
	/** Passes over blocks that no endpoint can give. Absent: the poll stops at such a block. */
	readonly gaps?: {
		readonly keeper: GapKeeper
		/** Receivers of messages about the network itself. */
		readonly receivers: () => readonly string[]
	}
	/** How many more deliveries each receiver's queue holds before further ones are folded. Absent: nothing is folded. */
	readonly room?: () => Promise<(receiver: string) => number>
	/** Called when the checkpoint moved, with the poll's head; the poll continues and may still fail. */
	readonly onScanned?: (checkpoint: bigint, head: bigint) => void
	/** Follows the scanner. */
	readonly audit: AuditPorts
}

/** The state of one poll, or of an audit after it; it advances as parts are committed. */
export interface PollSession {
	readonly config: PollConfig
	readonly committed: Committed
	/** As in `committed`. */
	head: Head
	/** As in `committed`. */
	target: bigint
	readonly startedAtMs: number
	/** When the checkpoint last moved before this poll. */
	readonly scannedAtMs: number
	/** As of the last commit, of the scanner or the auditor. */
	readonly state: NetworkState
	readonly checkpoint: BlockRef
	readonly settled: BlockRef
	/** Progress of the books where the state has none yet; absent where none are kept. */
	readonly books: BooksSummary | undefined
	behind: boolean
	readonly alerts: Record<Kind, number>
	retracted: number
	disagreements: number
	blocks: bigint
}

/** What a part advances in the state, besides its announcements. */
export interface Step extends Pick<Commit, 'checkpoint' | 'settled' | 'backfill' | 'books' | 'gaps' | 'contracts'> {
	/** The auditor has taken in the blocks up to this one. */
	readonly taken?: bigint
	/** Blocks whose authorisations are to be read. */
	readonly signs?: readonly SignedInBlock[]
	/** Transactions whose foreign code is to be judged. */
	readonly ran?: readonly RanInTransaction[]
	/** Blocks after which contracts are to be read. */
	readonly touched?: readonly TouchedBlock[]
	/** Progress of the books with this step. */
	readonly summary?: BooksSummary
	/** Blocks whose logs are unproved, or whose delegations are not covered. */
	readonly unproved?: readonly UnprovedBlock[]
	/** Gaps that were read, and are closed. */
	readonly closed?: readonly Gap[]
	/** Queued for the auditor with the commit: blocks after the checkpoint, or blocks that were gaps. */
	readonly handed?: Handover | undefined
	readonly handedGap?: Handover | undefined
}

/** The stored state; null when the network is new. Throws StateError when the state is of another chain. */
async function knownState(network: Network, ports: PollPorts): Promise<NetworkState | null> {
	const known = await ports.store.network(network.name)
	if (known !== null && known.chainId !== network.chainId) throw otherChain(network, known)
	return known
}

/** The state of a new network, at the target: only `from_block` announces earlier ones. `head`'s traces were read. */
async function beginState(
	{ network, watches }: PollConfig,
	head: Head,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<NetworkState> {
	const target = mustKnow(network, targetOf(head, network.confirmations))
	const block = target === head.latest.number ? head.latest : await ports.chain.block(target, signal)
	if (block === null) throw movedOn(network, `block ${target} is at or below the head, but the node has no such block`)
	const checkpoint = refOf(block)
	const books = await ports.audit.auditor?.summary(watches, { books: new Map() })
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
	ports.log.info({ checkpoint: block.number }, 'this network is new: watching starts after the checkpoint')
	return state
}

/** Caches which coverage agrees with which watches: comparing them is slow with many watches. */
const enrolled = new WeakMap<NetworkState['covered'], WatchIndex>()

/** Reads the state, or begins it; enrols watches. New ones begin after a head whose traces were read. */
export async function startSession(
	config: PollConfig,
	claimed: Head,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<PollSession> {
	const { network, watches } = config
	const { audit } = ports
	const committed = audit.committed
	const stored = await committed.locked(async () => {
		const now = await knownState(network, ports)
		if (now === null) return null
		checkQueue(audit.queue, now)
		committed.state = now
		return now
	})
	let head = stored === null ? await readHead(claimed, 0n, { watches, chain: ports.chain }, signal) : claimed
	const known = stored ?? (await beginState(config, head, ports, signal))
	if (stored === null) committed.state = known
	const { checkpoint } = known
	const changeAt = ({ latest }: Head) =>
		inSteps(enrolmentSteps({ ...committed.state, checkpoint: checkpoint.number, head: latest.number }, watches))
	let change = enrolled.get(known.covered) === watches ? null : await changeAt(head)
	if (change === null) {
		enrolled.set(known.covered, watches)
		head = await likelyHead(head, { network, known }, ports.chain, signal)
	} else {
		const { number } = head.latest
		head = await readHead(head, checkpoint.number, { watches, chain: ports.chain }, signal)
		if (head.latest.number !== number) change = (await changeAt(head)) ?? change
		await audit.follower.halt()
		committed.state = await ports.store.enrol(network.name, change)
		const backfills = committed.state.backfills.length
		ports.log.info({ addresses: change.covered.size, watched: watches.size, backfills }, 'coverage changed')
		await warnOfLater(change.covered, head.latest.number, ports.log)
	}
	committed.target = mustKnow(network, targetOf(head, network.confirmations))
	committed.head = head
	const { state } = committed
	return sessionOf(committed, {
		config,
		startedAtMs: ports.clock(),
		scannedAtMs: state.updatedAtMs,
		books: state.booksSeen ?? (await audit.auditor?.summary(watches, state)),
		blocks: 0n,
	})
}

/** Warns of watches whose `from_block` is beyond the head, probably by mistake. */
async function warnOfLater(covered: NetworkState['covered'], head: bigint, log: Log): Promise<void> {
	let count = 0
	let first: Address | null = null
	for (const [address, { from }] of covered) {
		if (isSliceOver()) await nextSlice()
		if (from <= head + 1n) continue
		count++
		first ??= address
	}
	if (count === 0) return
	log.warn(
		{ addresses: count, address: first, head },
		'watches begin after the head: nothing is reported of them until then',
	)
}

export function auditSession(poll: PollSession): PollSession {
	return sessionOf(poll.committed, poll)
}

type Own = Pick<PollSession, 'config' | 'startedAtMs' | 'scannedAtMs' | 'books' | 'blocks'>

function sessionOf(committed: Committed, { config, startedAtMs, scannedAtMs, books, blocks }: Own): PollSession {
	return {
		...{ config, committed, startedAtMs, scannedAtMs, books, blocks },
		...{ behind: false, alerts: perKind(() => 0), retracted: 0, disagreements: 0 },
		get state() {
			return committed.state
		},
		get checkpoint() {
			return committed.state.checkpoint
		},
		get settled() {
			return committed.state.settled
		},
		get head() {
			return committed.head
		},
		set head(head) {
			committed.head = head
		},
		get target() {
			return committed.target
		},
		set target(target) {
			committed.target = target
		},
	}
}

/** Writes one step and its announcements in one commit, then updates the session. */
export function advance(
	session: PollSession,
	step: Step,
	difference: Difference | null,
	ports: PollPorts,
): Promise<void> {
	return session.committed.locked(() => write(session, step, difference, ports))
}

/** As `advance`, by a caller that holds the lock. */
export async function write(
	session: PollSession,
	whole: Step,
	difference: Difference | null,
	ports: PollPorts,
): Promise<void> {
	const { taken: _, signs: __, ran: ___, touched: ____, summary, unproved = [], closed = [], ...own } = whole
	const { handed, handedGap, ...step } = own
	const { committed } = session
	const { network, recipientsOf } = session.config
	const { source } = committed
	const books = ports.audit.auditor ? (summary ?? session.state.booksSeen ?? session.books) : undefined
	const logs = withUnprovedLogs(session.state.logsSeen, unproved)
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
	const all = [
		...(difference === null ? [] : await inSteps(deliveriesOf(difference, posting))),
		...notices.flatMap((notice) => systemDeliveries(notice, ports.gaps?.receivers() ?? [], posting)),
	]
	const roomOf = all.length > 1 ? await ports.room?.() : undefined
	const { decimals } = network
	const { deliveries, folded } = roomOf
		? await inSteps(foldOverflow(all, { roomOf, decimals }))
		: { deliveries: all, folded: [] }
	if (folded.length > 0)
		log.info({ alerts: folded.length }, 'many deliveries wait: further alerts of a watch are folded into its first one')
	const gaps = new Map([...closed.map(({ block }) => [block.number, null] as const), ...(step.gaps ?? [])])
	const announcements = difference?.announcements ?? []
	const settled = step.settled?.number ?? session.settled.number
	const forgetTo = forgottenAt(settled, ports)
	const audit = auditAfter(session, whole, ports)
	keepCommitted(
		session,
		await store.commit({
			network: network.name,
			chainId: network.chainId,
			...step,
			...(gaps.size > 0 && { gaps }),
			...(audit && { audit }),
			...(forgetTo < 0n ? {} : { forgetTo }),
			seen: { head: Number(session.head.latest.number), ...(source && { source }), ...proved },
			announcements,
			deliveries,
			...(folded.length > 0 && { folded }),
			...(difference?.payees && { payees: difference.payees }),
		}),
		{ handed, handedGap },
		ports,
	)
	if (step.checkpoint !== undefined) ports.onScanned?.(session.checkpoint.number, session.head.latest.number)
	for (const { type, reason, acceptedAt } of notices) {
		if (type === 'system.recovered') log.info({}, `a gap is closed: ${reason}`)
		else if (acceptedAt !== undefined) log.warn({ accepted_at: acceptedAt }, `a gap is accepted: ${reason}`)
	}
	await logNews(difference?.news ?? [], { counts: session.alerts, log })
	for (const { id, block, proved } of difference?.retracted ?? []) {
		session.retracted++
		const why =
			proved === true
				? 'alert retracted: balances prove that its block moved something else'
				: 'alert retracted: its event has left the chain, or is explained by now'
		log.warn({ alert: id, block: block.number }, why)
	}
}

/**
 * Takes over the state of a commit, and in the same turn what the auditor is handed with it: the auditor never sees a
 * checkpoint whose blocks are not queued. When the checkpoint moves back, what was queued has left the chain.
 */
export function keepCommitted(
	{ committed }: Pick<PollSession, 'committed'>,
	state: NetworkState,
	{ handed, handedGap }: Pick<Step, 'handed' | 'handedGap'>,
	{ audit }: Pick<PollPorts, 'audit'>,
): void {
	const before = committed.state.checkpoint.number
	committed.state = state
	const { queue, signedDone, touchedDone } = audit
	for (const number of signedDone)
		if (!state.audit?.signed.some((one) => one.number === number)) signedDone.delete(number)
	audit.code?.committed(state.audit?.ran ?? [])
	for (const hash of touchedDone) if (!state.audit?.touched?.some((one) => one.hash === hash)) touchedDone.delete(hash)
	if (state.checkpoint.number < before) cutBack(queue, state.checkpoint.number)
	if (handed !== undefined) push(queue, handed)
	if (handedGap !== undefined) queue.gaps = [...queue.gaps, handedGap]
	queue.upTo = state.checkpoint
}

/** An unexplained balance is remembered until it was checked once more. */
function forgottenAt(settled: bigint, { audit }: PollPorts): bigint {
	const forgetTo = settled - rememberedBlocks
	const oldest = audit.rechecks.oldest()
	return oldest !== null && oldest <= forgetTo ? oldest - 1n : forgetTo
}

/** The auditor's position after a step; undefined: unchanged. It never stands after the checkpoint. */
export function auditAfter(
	{ state, checkpoint: before }: Pick<PollSession, 'state' | 'checkpoint'>,
	{
		taken: to,
		signs = [],
		ran: more = [],
		touched = [],
		checkpoint = before,
	}: Pick<Step, 'taken' | 'signs' | 'ran' | 'touched' | 'checkpoint'>,
	{ audit: ports }: Pick<PollPorts, 'audit'>,
): AuditState | undefined {
	const { taken: known = null, signed: queue = [], ran: waiting = [], touched: entered = [] } = state.audit ?? {}
	const at = ports.auditor === null ? null : (to ?? known ?? before.number)
	const taken = at !== null && at > checkpoint.number ? checkpoint.number : at
	const left = queue.filter(({ number }) => number <= checkpoint.number && !ports.signedDone.has(number))
	const isLeft = (one: RanInTransaction) => one.number <= checkpoint.number && ports.code?.isDone(one) !== true
	const withTries = (one: RanInTransaction) => {
		const tries = ports.code?.tries(one) ?? 0
		return tries === (one.tries ?? 0) ? one : { ...one, tries }
	}
	const ran = [...waiting, ...more].filter(isLeft).map(withTries)
	const unread = entered.filter(({ number, hash }) => number <= checkpoint.number && !ports.touchedDone.has(hash))
	const isSame = taken === known && signs.length + more.length + touched.length === 0
	const isRanSame = ran.length === waiting.length && ran.every((one, at) => one === waiting[at])
	const areSame = left.length === queue.length && isRanSame && unread.length === entered.length
	if (isSame && areSame) return undefined
	const toRead = [...unread, ...touched]
	const queues = { ...(ran.length > 0 && { ran }), ...(toRead.length > 0 && { touched: toRead }) }
	return { taken, signed: [...left, ...signs], ...queues }
}

/** The error of a chain that changed while it was read; the next poll tries again. */
export function movedOn(network: Network, fact: string): RpcError {
	return new RpcError(`${network.name}: ${fact}; asking again at the next poll`, {
		kind: 'unsettled',
		endpoint: network.name,
	})
}

function mustKnow(network: Network, target: bigint | null): bigint {
	if (target !== null) return target
	const message =
		`${network.name}: the node does not know the block tag \`${network.confirmations}\`; ` +
		'set `confirmations` to a number of blocks'
	throw new RpcError(message, { kind: 'unsupported', endpoint: network.name })
}

function otherChain({ name, chainId }: Network, known: NetworkState): StateError {
	return new StateError(
		'mismatch',
		`the state of network '${name}' is of chain ${known.chainId}, but it now says chain ${chainId}: ` +
			'give the other chain a network name of its own, or a state folder of its own',
	)
}
