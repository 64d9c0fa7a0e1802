/**
 * Detects a checkpoint above every endpoint's head, and puts it back. An endpoint made up blocks; blocks up to such a
 * checkpoint would never be scanned. It is put back without the operator, if no alert can be lost or sent twice.
 */

import { inSteps } from '../base/waits/slices.js'
import { contractsBack } from '../core/control/setBackContract.js'
import { reopened } from '../core/ledger/books.js'
import { movedBackSteps } from '../core/matching/coverage.js'
import { newestOf } from '../core/newest.js'
import { systemDeliveries } from '../core/outbox/system.js'
import { RpcError } from '../errors.js'
import type { BlockRef } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import { auditAfter, keepCommitted, type PollPorts, type PollSession } from './pollSession.js'

/** A checkpoint is suspect when it has not moved for this long. */
const REPROBE_MS = 60_000
/** After this time, an endpoint that does not answer no longer blocks the decision. */
const PATIENCE_MS = 600_000
/** Shortest time between two corrections of one network; limits what an endpoint with false heads can cost. */
const BETWEEN_MS = 600_000
/** Furthest correction when no known block identifies the chain; a claimed head of 0 must not start a long scan. */
const MOST_BLOCKS = 10_000n

/** When the head was first seen below this checkpoint, and when the checkpoint was last put back. */
interface Noticed {
	readonly checkpoint: bigint
	readonly head: bigint
	readonly atMs: number
	readonly putBackAtMs: number | null
}
const noticed = new WeakMap<Chain, Noticed>()

/** Puts the checkpoint back if every endpoint's head is below it, and announces that. Throws RpcError. */
export async function putBackFalseCheckpoint(
	session: PollSession,
	ports: PollPorts,
	signal: AbortSignal,
): Promise<void> {
	const { checkpoint, head } = session
	const { number } = head.latest
	const before = noticed.get(ports.chain)
	if (number >= checkpoint.number) {
		if (before?.putBackAtMs === null) noticed.delete(ports.chain)
		return
	}
	const nowMs = ports.clock()
	const isKnown = before?.checkpoint === checkpoint.number
	const since = isKnown ? before : { checkpoint: checkpoint.number, head: number, atMs: nowMs }
	const memory = { ...since, putBackAtMs: before?.putBackAtMs ?? null }
	noticed.set(ports.chain, memory)
	if (nowMs - session.state.updatedAtMs < REPROBE_MS) return
	if (await isAnywhere(checkpoint, nowMs - session.state.updatedAtMs, ports.chain, signal)) return
	if (memory.putBackAtMs !== null && nowMs - memory.putBackAtMs < BETWEEN_MS) return
	if (!isFalse(session, memory, nowMs)) return
	const back = await placeOf(session, memory, ports.chain, signal)
	if (back === null) return
	await putBack(session, back, ports)
	noticed.set(ports.chain, { ...memory, putBackAtMs: nowMs })
}

/**
 * Whether the head proves that the checkpoint is not in its chain: its timestamp is later than the checkpoint's commit,
 * but its number is lower. The head of a lagging node is older. Where timestamps do not tell, the head must have grown
 * for 60 s and nothing may be announced, so that no alert is sent twice.
 */
function isFalse({ head, state }: PollSession, since: Noticed, nowMs: number): boolean {
	const { latest } = head
	if (Number(latest.timestampS) * 1_000 > state.updatedAtMs) return true
	return state.announcements.size === 0 && latest.number > since.head && nowMs - since.atMs >= REPROBE_MS
}

/** Whether any endpoint has a block of this number. An endpoint that does not answer counts as yes for 10 minutes. */
async function isAnywhere({ number }: BlockRef, doubtMs: number, chain: Chain, signal: AbortSignal): Promise<boolean> {
	try {
		return (await chain.block(number, signal, { hearEach: true })) !== null
	} catch (error) {
		if (!(error instanceof RpcError) || signal.aborted) throw error
		return doubtMs < PATIENCE_MS
	}
}

/** The newest block certainly scanned; null: maybe another chain. Without announcements: by the commit's time. */
async function placeOf(
	{ settled, checkpoint, head, state }: PollSession,
	since: Noticed,
	chain: Chain,
	signal: AbortSignal,
): Promise<BlockRef | null> {
	const { number } = head.latest
	const announced = [...state.announcements.values()].map(({ block }) => block)
	const known = [settled, ...announced.filter((block) => block.number < settled.number)].filter(
		(ref) => ref.number <= number,
	)
	for (const ref of known.toSorted((a, b) => (a.number > b.number ? -1 : 1)).slice(0, 8))
		if ((await chain.block(ref.number, signal))?.hash === ref.hash) return { number: ref.number, hash: ref.hash }
	if (known.length > 0 || announced.length > 0) return null
	const least = checkpoint.number > MOST_BLOCKS ? checkpoint.number - MOST_BLOCKS : 0n
	const most = since.head < number ? since.head : number
	if (most < least) return null
	const isBefore = async (each: bigint) => {
		const block = await chain.block(each, signal)
		return block !== null && !block.hasNoTime && Number(block.timestampS) * 1_000 <= state.updatedAtMs
	}
	const block = await chain.block(await newestOf({ from: least, to: most + 1n }, isBefore), signal)
	return block && { number: block.number, hash: block.hash }
}

/** Writes the coverage first: after a kill between the two writes, the checkpoint is put back at the next attempt. */
async function putBack(session: PollSession, back: BlockRef, ports: PollPorts): Promise<void> {
	await ports.audit.follower.halt()
	const { checkpoint, head, config, state } = session
	const { network, recipientsOf } = config
	const first = back.number + 1n
	const covered = await inSteps(movedBackSteps(state.covered, back.number))
	// A watch added meanwhile begins after the head of that time, which was at most the current head.
	for (const [address, one] of state.covered) {
		if (one.since <= head.latest.number + 1n) continue
		covered.set(address, { ...(covered.get(address) ?? one), since: first, from: one.from < first ? one.from : first })
	}
	const backfills = state.backfills
		.filter(({ span }) => span.from <= back.number)
		.map((job) => (job.span.to > back.number ? { ...job, span: { ...job.span, to: back.number } } : job))
	await ports.store.enrol(network.name, { covered, backfills })
	const reason =
		`the checkpoint of ${network.name} stood at block ${checkpoint.number}, which no endpoint has: ` +
		`one claimed blocks that do not exist. It was put back to block ${back.number}; what happened since is sent late`
	const facts = { network: network.name, chainId: network.chainId, head: head.latest.number, reason }
	const notice = { type: 'system.recovered', ...facts, checkpoint: back.number, sinceMs: state.updatedAtMs } as const
	const posting = { recipientsOf, nowMs: ports.clock(), digest: ports.digest }
	const audit = auditAfter(session, { checkpoint: back }, ports)
	const put = await ports.store.commit({
		network: network.name,
		chainId: network.chainId,
		checkpoint: back,
		settled: back,
		...(audit && { audit }),
		books: reopened(state.books, back),
		contracts: contractsBack(state.contracts, back.number),
		deliveries: systemDeliveries(notice, ports.gaps?.receivers() ?? [], posting),
	})
	keepCommitted(session, put, {}, ports)
	session.committed.reorganised = { from: back.number + 1n, to: head.latest.number }
	ports.log.error({ checkpoint: checkpoint.number, back_to: back.number, head: head.latest.number }, reason)
}
