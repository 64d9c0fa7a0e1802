/**
 * Foreign code that watches ran. The scanner queues the transactions with its commit, and the auditor judges them after
 * it: alerts of other kinds do not wait for the codes that must be read.
 */

import { signalWithin } from '../../base/waits/deadline.js'
import { isLent, levelsIn } from '../../core/events/calls.js'
import { traceText } from '../../core/events/events.js'
import { RpcError } from '../../errors.js'
import { isKindWanted } from '../../kinds/all.js'
import type { AddressSet, Frame, Part, TxTrace } from '../../model/chain.js'
import type { RanInTransaction } from '../../model/state.js'
import { coverageTestOf, type LookContext } from '../look/look.js'
import { advance, type PollPorts, type PollSession, write } from '../pollSession.js'
import type { CodeAudit } from './codeAudit.js'
import { judgeOne } from './codeFindings.js'

/** A transaction is left out, and reported as not covered, after this many polls failed at it. */
const MOST_TRIES = 5
/** Time limit for one poll. */
const MOST_MS = 8_000

/** The addresses of a walk that also shows the foreign code that they run. */
export function withCode(addresses: AddressSet, { config, state, head }: PollSession, ports: PollPorts): AddressSet {
	const gate = ports.audit?.code?.gate
	if (gate === undefined || !isKindWanted(config.watches, 'code')) return addresses
	const isCodeFixed = head.latest.takesAuthorisations === true
	gate.follow({ watches: config.watches, contracts: state.contracts, isCodeFixed })
	return gate.on(addresses)
}

/** The transactions of a part in which covered watches ran code that is not known as ordinary. */
export function ranIn(part: Part, context: LookContext, { audit }: PollPorts): readonly RanInTransaction[] {
	const code = audit?.code
	if (code == null) return []
	const isCovered = coverageTestOf(context)
	const found: RanInTransaction[] = []
	for (const tx of part.transactions) {
		const { txHash, block } = tx
		if (txHash === null || tx.succeeded === false) continue
		const places: string[] = []
		for (const { traceAddress, from } of lentFrames(tx, code)) {
			const watches = from === null ? [] : (context.watches.get(from) ?? [])
			if (watches.some((watch) => isCovered(watch, block.number))) places.push(traceText(traceAddress))
		}
		const one = { number: block.number, hash: block.hash, txHash }
		if (places.length > 0 && !code.wasJudged(one, places)) found.push(one)
	}
	return found
}

function* lentFrames(tx: TxTrace, { gate }: CodeAudit): Generator<Frame> {
	for (const { frame, level } of levelsIn(tx)) {
		if (level.error === null && !level.isStatic && isLent(frame, gate)) yield frame
	}
}

type Ports = PollPorts & { readonly audit: { readonly code: CodeAudit } & NonNullable<PollPorts['audit']> }

/** Judges the queued transactions in order. Ends at one that cannot be judged now. */
export async function judgeCodes(session: PollSession, ports: Ports, outer: AbortSignal): Promise<void> {
	const { code } = ports.audit
	const queue = (session.state.audit?.ran ?? []).filter((one) => !code.isDone(one))
	// An endpoint that lags behind the checkpoint cannot give these blocks yet.
	if (queue.length === 0 || session.target < session.checkpoint.number) return
	const signal = signalWithin(MOST_MS, outer)
	for (const one of queue) {
		try {
			await judgeOne(one, session, ports, signal)
		} catch (error) {
			outer.throwIfAborted()
			if (!(error instanceof RpcError) && !signal.aborted) throw error
			// Those before it took the time.
			if (signal.aborted && one !== queue[0]) break
			const facts = { block: one.number, transaction: one.txHash, err: error }
			ports.log.debug(facts, 'the code that watches ran in a transaction is judged with the next poll')
			if (code.failed(one) < MOST_TRIES) {
				if (error instanceof RpcError && error.kind === 'unsettled') throw error
				break
			}
			await session.committed.locked(async () => {
				code.done(one, [])
				await write(session, { unproved: [{ number: one.number, why: 'code' }] }, null, ports)
			})
			ports.log.warn(facts, 'the code that watches ran in a transaction could not be judged: it is not reported')
		}
	}
	// The queue is written with the next commit at the latest: until then a kill only judges the transactions again.
	if ((session.state.audit?.ran ?? []).some((one) => code.isDone(one))) await advance(session, {}, null, ports)
}
