/**
 * Foreign code that watches ran. The scanner queues the transactions with its commit, and the auditor judges them after
 * it: alerts of other kinds do not wait for the codes that must be read.
 */

import { signalWithin } from '../../base/waits/deadline.js'
import { createSlots } from '../../base/waits/slots.js'
import { isLent, levelsIn } from '../../core/events/calls.js'
import { traceText } from '../../core/events/events.js'
import { addTo, groupedBy } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import { isKindWanted } from '../../kinds/all.js'
import type { AddressSet, Frame, Part, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { RanInTransaction } from '../../model/state.js'
import { coverageTestOf, type LookContext } from '../look/look.js'
import { advance, type PollPorts, type PollSession, write } from '../pollSession.js'
import type { CodeAudit } from './codeAudit.js'
import { judgeOne, judgingOf, readOne } from './codeFindings.js'

/** A transaction is left out, and reported as not covered, after this many polls failed at it. */
const MOST_TRIES = 5
/** Transactions that are read at once. */
const MOST_AT_ONCE = 20
/** Time limit for one poll. */
const MOST_MS = 8_000

/** The addresses of a walk that also shows the foreign code that they run. */
export function withCode(addresses: AddressSet, { config, state, head }: PollSession, ports: PollPorts): AddressSet {
	const gate = ports.audit.code?.gate
	if (gate === undefined || !isKindWanted(config.watches, 'code')) return addresses
	const isCodeFixed = head.latest.takesAuthorisations === true
	gate.follow({ watches: config.watches, contracts: state.contracts, isCodeFixed })
	return gate.on(addresses)
}

/** The transactions of a part in which covered watches ran code that is not known as ordinary. */
export function ranIn(part: Part, context: LookContext, { audit }: PollPorts): readonly RanInTransaction[] {
	const { code } = audit
	if (code === null) return []
	const isCovered = coverageTestOf(context)
	const found: RanInTransaction[] = []
	for (const tx of part.transactions) {
		const { txHash, block } = tx
		if (txHash === null || tx.succeeded === false) continue
		const places = new Map<Address, string[]>()
		for (const { traceAddress, from } of lentFrames(tx, code)) {
			const watches = from === null ? [] : (context.watches.get(from) ?? [])
			if (from === null || !watches.some((watch) => isCovered(watch, block.number))) continue
			addTo(places, from, traceText(traceAddress))
		}
		for (const [contract, own] of places) {
			const one = { number: block.number, hash: block.hash, txHash, contract }
			if (!code.wasJudged(one, own)) found.push(one)
		}
	}
	return found
}

function* lentFrames(tx: TxTrace, { gate }: CodeAudit): Generator<Frame> {
	for (const { frame, level } of levelsIn(tx)) {
		if (level.error === null && !level.isStatic && isLent(frame, gate)) yield frame
	}
}

type Ports = PollPorts & { readonly audit: { readonly code: CodeAudit } }

/** What one watch ran, in order. */
interface WatchQueue {
	readonly queue: readonly RanInTransaction[]
	/** One of them cannot be judged now. */
	isStopped: boolean
}

/**
 * Watches take turns, each in order, and do not wait for each other: a stranger can make one run code all day. Where
 * the program ends after this poll, what fails comes last in the next run, and nothing waits for it.
 */
export async function judgeCodes(session: PollSession, ports: Ports, outer: AbortSignal): Promise<void> {
	const { code, runsOnce } = ports.audit
	const queue = (session.state.audit?.ran ?? []).filter((one) => !code.isDone(one))
	// An endpoint that lags behind the checkpoint cannot give these blocks yet.
	if (queue.length === 0 || session.target < session.checkpoint.number) return
	const signal = signalWithin(MOST_MS, outer)
	// Only a poll that read a block has set the gate; later polls may know newer watches than this audit.
	const { watches } = session.config
	const addresses = code.gate.isFollowing() ? code.gate.on(watches) : withCode(watches, session, ports)
	const judging = judgingOf(session, addresses, ports, signal)
	const slots = createSlots(MOST_AT_ONCE)
	const queues = queuesOf(runsOnce ? queue.toSorted((a, b) => code.tries(a) - code.tries(b)) : queue)
	const begun = new Set<RanInTransaction>()
	const read = async (own: WatchQueue, one: RanInTransaction) => {
		const free = await slots.take()
		try {
			signal.throwIfAborted()
			if (own.isStopped) return null
			if (begun.size < MOST_AT_ONCE) begun.add(one)
			return await readOne(one, judging, code.tries(one) >= MOST_TRIES - 1)
		} finally {
			free()
		}
	}
	const readings = new Map(inTurn(queues).map(([own, one]) => [one, read(own, one)]))
	for (const reading of readings.values()) reading.catch(() => undefined)
	/** The chain changed: the next audit goes on. */
	let unsettled: RpcError | null = null
	const judgeQueue = async (own: WatchQueue) => {
		for (const one of own.queue) {
			try {
				await judgeOne(one, (await readings.get(one)) ?? null, judging)
			} catch (error) {
				own.isStopped = !runsOnce || signal.aborted
				outer.throwIfAborted()
				if (!(error instanceof RpcError) && !signal.aborted) throw error
				// Others took the time.
				if (signal.aborted && !begun.has(one)) return
				const later = await failed(one, error, session, ports)
				unsettled ??= later
				if (own.isStopped) return
			}
		}
	}
	const results = await Promise.allSettled(queues.map(judgeQueue))
	for (const result of results) if (result.status === 'rejected') throw result.reason
	// The queue is written with the next commit at the latest: until then a kill only judges the transactions again.
	const isNews = (one: RanInTransaction) => code.isDone(one) || (runsOnce && code.tries(one) > (one.tries ?? 0))
	if ((session.state.audit?.ran ?? []).some(isNews)) await advance(session, {}, null, ports)
	if (unsettled !== null) throw unsettled
}

/** Counts a failed try. Resolves to the error that ends the audit (the chain changed); null: it goes on. */
async function failed(
	one: RanInTransaction,
	error: unknown,
	session: PollSession,
	ports: Ports,
): Promise<RpcError | null> {
	const { code } = ports.audit
	const facts = { block: one.number, transaction: one.txHash, err: error }
	ports.log.debug(facts, 'the code that watches ran in a transaction is judged with the next poll')
	if (code.failed(one) < MOST_TRIES) return error instanceof RpcError && error.kind === 'unsettled' ? error : null
	await session.committed.locked(async () => {
		code.done(one, [])
		try {
			await write(session, { unproved: [{ number: one.number, why: 'code' }] }, null, ports)
		} catch (error) {
			code.undo(one)
			throw error
		}
	})
	ports.log.warn(facts, 'the code that watches ran in a transaction could not be judged: it is not reported')
	return null
}

function queuesOf(queue: readonly RanInTransaction[]): readonly WatchQueue[] {
	const queues = groupedBy(queue, ({ contract, txHash }) => contract ?? txHash)
	return [...queues.values()].map((own) => ({ queue: own, isStopped: false }))
}

function inTurn(queues: readonly WatchQueue[]): readonly (readonly [WatchQueue, RanInTransaction])[] {
	const most = Math.max(...queues.map(({ queue }) => queue.length))
	return Array.from({ length: most }, (_, turn) => turn).flatMap((turn) =>
		queues.flatMap((own) => own.queue.slice(turn, turn + 1).map((one) => [own, one] as const)),
	)
}
