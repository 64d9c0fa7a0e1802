/**
 * The room is the scanner: it polls. This file shows a poll from beginning to end, `scan.ts` scans one span, and
 * `pollSession.ts` holds the state of a poll.
 */

import { inSteps } from '../base/waits/slices.js'
import { contractsBack } from '../core/control/setBackContract.js'
import { reopened } from '../core/ledger/books.js'
import { movedBackSteps } from '../core/matching/coverage.js'
import { higher, lower, refOf } from '../core/spans.js'
import { rememberedBlocks, settleTargetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { BlockRef, Span } from '../model/chain.js'
import type { UnreadContract } from '../model/contract.js'
import type { Kind } from '../model/kind.js'
import { withCode } from './auditing/codeQueue.js'
import { beginAudit } from './auditing/follow.js'
import { isOfBlock } from './gaps/passGap.js'
import { rereadGap } from './gaps/rereadGap.js'
import { addressesOf } from './look/look.js'
import { prepareBackfillSets } from './look/lookContext.js'
import { advance, movedOn, type PollConfig, type PollPorts, type PollSession, startSession } from './pollSession.js'
import { putBackFalseCheckpoint } from './putBack.js'
import { scan } from './scan.js'

export interface PollReport {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** Whether blocks were left for the next poll because the time budget was spent. */
	readonly behind: boolean
	readonly alerts: Readonly<Partial<Record<Kind, number>>>
	readonly retracted: number
	/** Events of settled blocks on which two endpoints disagree. */
	readonly disagreements: number
	/** Blocks scanned, second looks and backfills included. */
	readonly blocks: bigint
	/** What failed besides the new blocks: a second look, the first of the backfills. */
	readonly unread: readonly Unread[]
	/** Watched contracts that have not been read for a minute, or not whole; absent: none. */
	readonly unreadContracts?: readonly UnreadContract[]
}

export interface Unread {
	readonly look: 'second' | 'backfill'
	/** From the block that failed. */
	readonly span: Span
	readonly error: RpcError
}

/**
 * Polls one network once: finds the target, enrols new watches, looks at new blocks, looks a second time at settled
 * blocks, then scans a slice of each backfill. The auditor follows beside that and beside the next polls. Each part is
 * committed with its checkpoint before the next is read, so that a kill at any moment repeats a little and loses
 * nothing. An error at one block does not stop the other looks. Throws RpcError after all of them, or StateError; the
 * checkpoint is then at the end of the last complete part. The report contains errors that affect only a second look or
 * a backfill, and no figures of the audit.
 */
export async function poll(config: PollConfig, ports: PollPorts, signal: AbortSignal): Promise<PollReport> {
	const session = await startSession(config, await ports.chain.head(signal), ports, signal)
	await prepareBackfillSets(session.state.backfills)

	// A head that went back may be of another chain.
	if (session.target < session.checkpoint.number) ports.chain.recheckChainId()
	await putBackFalseCheckpoint(session, ports, signal)
	let failure: RpcError | null = null
	let again: Unread | null = null
	// Also of a poll that fails: where an endpoint is slow, many end so, and each has committed some blocks.
	const failed = (error: unknown) => {
		if (error instanceof RpcError && !signal.aborted) beginAudit(session, ports, signal)
		return failure ?? error
	}
	const each = async (part: Promise<void>, mayGoOn = isOfBlock) => {
		try {
			await part
		} catch (error) {
			if (!(error instanceof RpcError) || signal.aborted || !mayGoOn(error)) throw failed(error)
			failure ??= error
		}
	}
	if (session.target >= session.checkpoint.number) {
		expectNewBlocks(session, ports, signal)
		await checkReorganisation(session, ports, signal)
		await each(lookAtNewBlocks(session, ports, signal))
		again = await lookAgain(session, ports, signal)
	}
	await each(rereadGap(session, ports, signal))
	beginAudit(session, ports, signal)
	const back = await lookBack(session, ports, signal)
	if (failure !== null) throw failure

	const { head: seen, target, checkpoint, behind, alerts, retracted, disagreements, blocks } = session
	const reached = { head: seen.latest.number, target, checkpoint: checkpoint.number }
	const unread = [again, back].filter((each) => each !== null)
	const long = ports.audit.reads.unread().filter(({ forMs }) => forMs > LONG_UNREAD_MS)
	const contracts = long.length > 0 && { unreadContracts: long }
	return { ...reached, behind, alerts, retracted, disagreements, blocks, unread, ...contracts }
}

/** One failed reading of a contract is no trouble yet. */
const LONG_UNREAD_MS = 60_000

/** If the hash at the checkpoint changed, continues from the settled block. Announcements stay, to be compared. */
async function checkReorganisation(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { network } = session.config
	const { checkpoint, settled } = session
	if (await stands(session, checkpoint, ports, signal)) return
	ports.log.warn({ checkpoint: checkpoint.number, back_to: settled.number }, 'the chain was reorganised: looking again')
	let back = settled
	if (!(await stands(session, settled, ports, signal))) {
		const number = higher(settled.number - rememberedBlocks, 0n)
		const block = await ports.chain.block(number, signal)
		if (block === null) throw movedOn(network, `block ${number} has gone`)
		back = refOf(block)
		ports.log.error(
			{ settled: settled.number, back_to: number },
			'the reorganisation is deeper than the settled block; set a larger `settle`. ' +
				'Alerts of blocks before the remembered ones cannot be retracted',
		)
	}
	const { committed, head } = session
	// Blocks above the head are mined only now, and come in time.
	const to = lower(checkpoint.number, head.latest.number)
	const replaced = { from: back.number + 1n, to }
	const before = committed.reorganised
	// One that was not read to its end yet goes on.
	committed.reorganised =
		before === null || before.to <= checkpoint.number
			? replaced
			: { from: lower(before.from, replaced.from), to: higher(before.to, to) }
	// The audit rests on the blocks that are gone.
	await ports.audit.follower.halt()
	// Before the checkpoint: a kill between the two only makes some blocks be read once more.
	const left = await inSteps(movedBackSteps(session.state.covered, back.number))
	if (left.size > 0) committed.state = await ports.store.enrol(network.name, { covered: left, backfills: null })
	const books = reopened(session.state.books, back)
	const contracts = contractsBack(session.state.contracts, back.number)
	await advance(session, { checkpoint: back, settled: back, books, contracts }, null, ports)
}

async function stands(session: PollSession, ref: BlockRef, ports: PollPorts, signal: AbortSignal): Promise<boolean> {
	const { latest } = session.head
	// A head is a claim: verify a mismatch with a request before scanning anything again.
	if (latest.number === ref.number && latest.hash === ref.hash) return true
	if (latest.number === ref.number + 1n && latest.parentHash === ref.hash) return true
	const keeper = session.state.gaps.has(ref.number) ? ports.gaps?.keeper : undefined
	const ask = () =>
		keeper?.hashOf(ref.number, signal) ?? ports.chain.block(ref.number, signal).then((block) => block?.hash)
	const hash = (await ask()) ?? null
	if (hash === null)
		throw movedOn(session.config.network, `block ${ref.number} is below the head, but the node has no such block`)
	if (hash === ref.hash) return true
	// A URL that leads to another chain by now is no reorganisation: nothing is retracted, and nothing reported from it.
	ports.chain.recheckChainId()
	return (await ask()) === ref.hash
}

async function lookAtNewBlocks(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const old = settledUnseen(session)
	if (old !== null) {
		await scan(session, { span: old, stepOf: (last) => ({ checkpoint: last, settled: last }) }, ports, signal)
	}
	const fresh = { from: session.checkpoint.number + 1n, to: session.target }
	await scan(session, { span: fresh, stepOf: (last) => ({ checkpoint: last }) }, ports, signal)
}

/** Blocks settled before their first look need no second one, unless an earlier block waits for its own. */
function settledUnseen({ head, config, settled, checkpoint, target }: PollSession): Span | null {
	const settleTarget = settleTargetOf(head, config.network)
	if (settled.number !== checkpoint.number || settleTarget <= checkpoint.number) return null
	return { from: checkpoint.number + 1n, to: settleTarget < target ? settleTarget : target }
}

/** Starts reading the new blocks ahead while the checkpoint is verified, if the head alone does not verify it. */
function expectNewBlocks(session: PollSession, ports: PollPorts, signal: AbortSignal): void {
	const { checkpoint, head, config, state, target } = session
	if (head.latest.number <= checkpoint.number + 1n) return
	const from = checkpoint.number + 1n
	const { to } = settledUnseen(session) ?? { to: target }
	// The span must be read in the same steps as by the walk; otherwise the requests are wasted.
	const span = { from, to, ...(ports.gaps && { atOnce: ports.gaps.keeper.atOnce }) }
	ports.chain.expect(span, withCode(addressesOf(config.watches, state), session, ports), signal)
}

/** Resolves to the failure. Waits for a part that the auditor must judge; delays no new blocks or backfills. */
async function lookAgain(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<Unread | null> {
	const settleTarget = settleTargetOf(session.head, session.config.network)
	const to = settleTarget < session.checkpoint.number ? settleTarget : session.checkpoint.number
	const from = () => session.settled.number + 1n
	if (ports.audit.queue.contested !== null) return null
	try {
		await scan(session, { span: { from: from(), to }, stepOf: (last) => ({ settled: last }) }, ports, signal)
		return null
	} catch (error) {
		if (!(error instanceof RpcError) || signal.aborted) throw error
		return { look: 'second', span: { from: from(), to }, error }
	}
}

/** Resolves to the first failure. A failing backfill delays neither new blocks nor other backfills. */
async function lookBack(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<Unread | null> {
	let failure: Unread | null = null
	for (const job of session.state.backfills) {
		const { id } = job
		try {
			const stepOf = ({ number }: BlockRef) => ({ backfill: { id, scannedTo: number } })
			await scan(session, { span: job.span, stepOf, job }, ports, signal)
		} catch (error) {
			if (!(error instanceof RpcError)) throw error
			const { span } = session.state.backfills.find((one) => one.id === id) ?? job
			failure ??= { look: 'backfill', span, error }
		}
	}
	return failure
}
