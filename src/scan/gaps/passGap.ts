import {
	isOpen,
	leastLacking,
	mayOpen,
	mostGaps,
	openAt,
	suspectBlockOf,
	suspected,
	unaccepted,
	whyUnread,
	widened,
} from '../../core/gaps.js'
import { settleTargetOf } from '../../core/target.js'
import type { RpcError } from '../../errors.js'
import type { AddressSet, BlockRef, Part } from '../../model/chain.js'
import type { Gap } from '../../model/state.js'
import type { Backfill } from '../../model/watch.js'
import { advance, type PollPorts, type PollSession, type Step } from '../pollSession.js'

export interface Failed {
	readonly number: bigint
	readonly addresses: AddressSet
	/** The backfill that the walk belongs to; null: none. */
	readonly job: Backfill | null
	/** Whether the block was read before. */
	readonly isSecondLook: boolean
	readonly error: RpcError
	/** Abandons the requests of the walk; everything is asked for anew. */
	readonly leave: () => void
}

type Ports = PollPorts & { readonly gaps: NonNullable<PollPorts['gaps']> }

/** A node may need some seconds for the traces of its newest block, and a reorganisation may replace that block. */
const stayedMs = 10_000

/**
 * Tries every other source for a block at which a walk failed. Resolves to the block, perhaps without transactions that
 * no source gives, or to `passed` once it was tried
 * often enough: the commit that moves past the block also opens the gap and announces it. Throws the walk's error when
 * the block is to be tried again later.
 */
export async function passGap(
	session: PollSession,
	failed: Failed,
	stepOf: (last: BlockRef) => Step,
	ports: Ports,
	signal: AbortSignal,
): Promise<Part | 'passed'> {
	const { number, job, error } = failed
	const { gaps } = session.state
	const known = gaps.get(number) ?? null
	const addresses = job === null ? null : job.addresses
	// The auditor is about to remove a gap that was read.
	if (known?.readAtMs !== undefined) await ports.audit.follower.halt()
	// Of a block that was read in part, a backfill tells what is known.
	const isPassed = known !== null && isOpen(known) && (job === null || known.transactions === undefined)
	if (isPassed && (await ports.gaps.keeper.hashOf(number, signal)) === known.block.hash) {
		await advance(
			session,
			{ ...stepOf(known.block), gaps: new Map([[number, widened(known, addresses)]]) },
			null,
			ports,
		)
		return 'passed'
	}
	const open = openAt(gaps)
	const beganMs = ports.clock()
	const around = suspectBlockOf(number, { head: session.head.latest.number, open, known, nowMs: beganMs })
	const isNext = isAfterCheckpoint(session, failed) && !open.has(session.checkpoint.number)
	const suspect = { ...around, ...(isNext && { parentHash: session.checkpoint.hash }) }
	// A block filled by an attacker may be so large that memory holds only one answer about it.
	if (ports.gaps.keeper.isDue()) failed.leave()
	const came = await ports.gaps.keeper.tryAll(suspect, failed.addresses, signal)
	if (came === null) throw error
	if ('span' in came) return came
	const part = failed.isSecondLook || unaccepted(gaps) >= mostGaps ? null : leastLacking(came)
	// Without its logs only a new block is taken.
	if (part?.unread !== undefined && (part.unreadLogs === undefined || job === null)) {
		const why = whyUnread(part.unread)
		ports.log.error({ block: number, why }, 'transactions cannot be read: they are kept as a gap and asked for again')
		ports.gaps.keeper.opened(number)
		return part
	}
	if (error.kind === 'timeout') ports.gaps.keeper.noteTooLong(number, error)
	const hash = await ports.gaps.keeper.hashOf(number, signal)
	if (hash === null) throw error
	const block = { number, hash }
	const gap = suspected(known, { block, addresses }, came, { beganMs, why: error.message })
	if (gap.tries === 0 && !isOfBlock(error) && error.kind !== 'timeout') throw error
	if (!mayOpen(gap, came, open, ports.clock()) || unaccepted(gaps) >= mostGaps) {
		if (gap.tries === 1) ports.log.warn({ block: number, why: gap.reason }, 'a block fails while others are read')
		if (gap !== known) await advance(session, { gaps: new Map([[number, gap]]) }, null, ports)
		throw error
	}
	if (failed.isSecondLook) {
		ports.log.warn({ block: number, why: gap.reason }, 'a block could be read once and not a second time')
		const unproved = [{ number, why: 'second look' }] as const
		await advance(session, { ...stepOf(block), gaps: new Map([[number, null]]), unproved }, null, ports)
		return 'passed'
	}
	await openGap(session, gap, stepOf(block), ports)
	return 'passed'
}

function isAfterCheckpoint({ checkpoint }: PollSession, { number, job, isSecondLook }: Failed): boolean {
	return job === null && !isSecondLook && number === checkpoint.number + 1n
}

/**
 * Whether the block is still in the chain although an answer suggests a reorganisation; the answer is then wrong. Near
 * the head, the block must have kept its hash for 10 s. The start of these 10 s is stored in the state. Before a new
 * block, the checkpoint must still be in the chain too.
 */
export async function hasStayed(
	session: PollSession,
	failed: Failed,
	ports: Ports,
	signal: AbortSignal,
): Promise<boolean> {
	const { number, job, error } = failed
	const { state, head, config, checkpoint } = session
	if (isAfterCheckpoint(session, failed)) {
		if ((await ports.gaps.keeper.hashOf(checkpoint.number, signal)) !== checkpoint.hash) return false
	}
	const known = state.gaps.get(number) ?? null
	if ((known !== null && isOpen(known)) || number <= settleTargetOf(head, config.network)) return true
	const hash = await ports.gaps.keeper.hashOf(number, signal)
	if (hash === null) return false
	const beganMs = ports.clock()
	const addresses = job === null ? null : job.addresses
	const gap = suspected(known, { block: { number, hash }, addresses }, [], { beganMs, why: error.message })
	if (gap !== known) await advance(session, { gaps: new Map([[number, gap]]) }, null, ports)
	return beganMs - gap.sinceMs >= stayedMs
}

async function openGap(session: PollSession, gap: Gap, step: Step, ports: Ports): Promise<void> {
	const { block, openedAtMs, tries, reason } = gap
	const now = { ...gap, openedAtMs: openedAtMs ?? ports.clock() }
	ports.log.error(
		{ block: block.number, tries, why: reason },
		'no source of any endpoint gives this block: it is kept as a gap and asked for again, and the rest goes on',
	)
	await advance(session, { ...step, gaps: new Map([[block.number, now]]) }, null, ports)
	ports.gaps.keeper.opened(block.number)
	ports.gaps.keeper.goCarefully(block.number + 1n)
}

/** Whether the error is about the block, not about the endpoint, where the next request would fail likewise. */
export function isOfBlock({ kind }: RpcError): boolean {
	return kind === 'no-data' || kind === 'malformed' || kind === 'unsettled' || kind === 'too-large' || kind === 'server'
}
