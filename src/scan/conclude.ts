/** The commit of one part that was looked at. */

import { isKeepingState } from '../audit/asked/askedState.js'
import { blocksToAsk } from '../audit/delegations/authorizations.js'
import { lackingGap, whyUnread } from '../core/gaps.js'
import type { Difference } from '../core/reconcile/reconcile.js'
import { refOf } from '../core/spans.js'
import type { AddressSet, BlockRef, Part, TouchedBlock, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Gap } from '../model/state.js'
import type { UnprovedBlock } from '../model/token.js'
import { ranIn } from './auditing/codeQueue.js'
import { handoverOf } from './auditing/handover.js'
import type { LookContext } from './look/look.js'
import { type PollPorts, type PollSession, type Step, write } from './pollSession.js'

export interface Looked {
	readonly part: Part
	readonly context: LookContext
	readonly difference: Difference
	/** Blocks of a backfill that balances do not prove. */
	readonly unproved?: readonly UnprovedBlock[]
}

/**
 * Commits what was seen in a part with the step, and hands the part to the auditor. Closes the gaps of blocks that were
 * read; one before the checkpoint stays, as read, until the auditor has taken it in. The caller holds the lock.
 */
export async function conclude(
	session: PollSession,
	{ part, context, difference, unproved = [] }: Looked,
	step: Step,
	ports: PollPorts,
): Promise<void> {
	session.committed.source = part.source ?? session.committed.source
	const isOrdinary = context.backfill === null
	const isFirst = isOrdinary && part.span.from > session.checkpoint.number
	const isWithin = ({ block: { number } }: Gap) => part.span.from <= number && number <= part.span.to
	// Without its logs the block is a gap: what was read is announced, and the rest once it can be read.
	if (part.unreadLogs !== undefined) {
		const why = part.unread === undefined ? `logs only: ${part.unreadLogs}` : `logs, and ${whyUnread(part.unread)}`
		const gap = logsGap(session, refOf(part.last), why, ports.clock())
		return write(session, { ...step, gaps: new Map([[gap.block.number, gap]]) }, difference, ports)
	}
	const gaps = [...session.state.gaps.values()].filter(isWithin)
	// When a backfill has read a block, its open gap remains for all other watches; only suspicions are removed.
	const nowMs = ports.clock()
	const lacking = lackingGaps(session, part, context, nowMs)
	const given = gaps.filter(({ block }) => !lacking.has(block.number))
	const closed = isOrdinary ? given : given.filter(({ openedAtMs }) => openedAtMs === null)
	const read = isFirst || !ports.audit.auditor ? [] : closed.filter(({ openedAtMs }) => openedAtMs !== null)
	const marks = new Map(read.map((gap) => [gap.block.number, { ...gap, readAtMs: gap.readAtMs ?? nowMs }]))
	const signs = isFirst
		? blocksToAsk(part, session.head.latest.number, context.watches, ports.audit.firstLook?.awaitsCode())
		: []
	const ran = ranIn(part, context, ports)
	const handover = handoverOf(part, context)
	const whole: Step = {
		...step,
		...(isFirst && ports.audit.contracts && { touched: touchedIn(part, session.head.latest.number) }),
		...{ gaps: new Map([...marks, ...lacking]), closed, signs, ran },
		unproved: [...(part.unprovedLogs ?? []), ...unproved],
		...(isFirst && { handed: handover }),
		...(marks.size > 0 && { handedGap: { ...handover, part: unreadOnly(handover.part, read) } }),
	}
	await write(session, whole, difference, ports)
}

/** The gaps of blocks that were read but for some transactions. */
function lackingGaps(
	{ state }: PollSession,
	{ unread = [] }: Part,
	{ backfill }: LookContext,
	nowMs: number,
): ReadonlyMap<bigint, Gap> {
	const blocks = new Map(unread.map(({ block }) => [block.number, block]))
	const addresses = backfill === null ? null : [...keysOf(backfill.addresses)]
	return new Map(
		[...blocks].map(([number, block]) => {
			const own = unread.filter(({ block: { hash } }) => hash === block.hash)
			return [number, lackingGap(state.gaps.get(number) ?? null, { block, addresses }, own, nowMs)]
		}),
	)
}

function* keysOf(addresses: AddressSet): Generator<Address> {
	const all = addresses.keys()
	for (let next = all.next(); next.done !== true; next = all.next()) yield next.value
}

/** Of a block that was read in part before, the movements of the other transactions are in the books. */
function unreadOnly(part: Part, gaps: readonly Gap[]): Part {
	const isLeft = ({ txHash, block }: TxTrace) => {
		const left = gaps.find((gap) => gap.block.number === block.number)?.transactions
		return left === undefined || (txHash !== null && left.includes(txHash))
	}
	return { ...part, transactions: part.transactions.filter(isLeft) }
}

function logsGap({ state }: PollSession, block: BlockRef, why: string, nowMs: number): Gap {
	const known = state.gaps.get(block.number)
	const [sinceMs, openedAtMs] = [known?.sinceMs ?? nowMs, known?.openedAtMs ?? nowMs]
	return { block, addresses: null, tries: 1, sinceMs, isAfterGood: true, openedAtMs, reason: why }
}

/** Counts and logs disagreements of two endpoints on settled blocks. The second look decides what is sent. */
export function noteDisagreement(
	session: PollSession,
	part: Part,
	{ news, retracted }: Difference,
	ports: PollPorts,
): void {
	const { endpoint, confirms, span } = part
	const count = news.length + retracted.length
	if (confirms === undefined || count === 0) return
	session.disagreements += count
	const facts = { first: confirms, second: endpoint, from: span.from, to: span.to, found: news.length }
	ports.log.warn(
		{ ...facts, missed: retracted.length },
		'two endpoints disagree on settled blocks: the second is believed',
	)
}

/** The blocks after which contracts are read; those of a part far from the head, of which no state is kept, as one. */
function touchedIn({ span, last, touched = [] }: Part, head: bigint): readonly TouchedBlock[] {
	const [first] = touched
	if (first === undefined || isKeepingState(span.to, head)) return touched
	const contracts = new Map(touched.flatMap((block) => [...block.contracts.keys()].map((one) => [one, []] as const)))
	return [{ number: last.number, hash: last.hash, from: first.number, contracts }]
}
