import { doubtOf, isOpen, mayOpen, mostGaps, openAt, suspected, unaccepted, widened } from '../core/gaps.js'
import type { RpcError } from '../errors.js'
import type { AddressSet, BlockRef, Part } from '../model/chain.js'
import type { Gap } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import { advance, type PollPorts, type PollSession, type Step } from './pollSession.js'

/** A walk has failed at this block. */
export interface Failed {
	readonly number: bigint
	readonly addresses: AddressSet
	/** The backfill that it belongs to; null: none. */
	readonly job: Backfill | null
	/** It was read before. */
	readonly isSecondLook: boolean
	readonly error: RpcError
	/** What the walk has asked for is waited for no more: all of it is asked anew. */
	readonly leave: () => void
}

type Ports = PollPorts & { readonly gaps: NonNullable<PollPorts['gaps']> }

/**
 * Tries every other way to read a block at which a walk has failed. Resolves to the block, or to `passed` when it was
 * tried often enough: it is kept as a gap, and told, in the commit that passes it. Throws the walk's error when it is
 * to be tried again.
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
	if (known !== null && isOpen(known) && (await ports.gaps.keeper.hashOf(number, signal)) === known.block.hash) {
		await advance(
			session,
			{ ...stepOf(known.block), gaps: new Map([[number, widened(known, addresses)]]) },
			null,
			ports,
		)
		return 'passed'
	}
	const isAfterGood = known?.isAfterGood ?? false
	const open = openAt(gaps)
	const doubt = doubtOf(number, { head: session.head.latest.number, open, isAfterGood })
	const beganMs = ports.clock()
	// Of a block that a stranger has filled one answer is all that fits the memory.
	if (ports.gaps.keeper.isDue()) failed.leave()
	const came = await ports.gaps.keeper.tryAll(doubt, failed.addresses, signal)
	if (came === null) throw error
	if ('span' in came) return came
	if (error.kind === 'timeout') ports.gaps.keeper.noteTooLong(number, error)
	const hash = await ports.gaps.keeper.hashOf(number, signal)
	if (hash === null) throw error
	const block = { number, hash }
	const gap = suspected(known, { block, addresses }, came, { beganMs })
	if (gap === null) throw error
	if (!mayOpen(gap, came, open, ports.clock()) || unaccepted(gaps) >= mostGaps) {
		if (gap.tries === 1) ports.log.warn({ block: number, why: gap.reason }, 'a block fails while others are read')
		await advance(session, { gaps: new Map([[number, gap]]) }, null, ports)
		throw error
	}
	if (failed.isSecondLook) {
		ports.log.warn({ block: number, why: gap.reason }, 'a block could be read once and not a second time')
		await advance(session, { ...stepOf(block), gaps: new Map([[number, null]]) }, null, ports)
		return 'passed'
	}
	await openGap(session, gap, stepOf(block), ports)
	return 'passed'
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
