import { isAcceptanceNews, lackingGap } from '../../core/gaps.js'
import { withCalls } from '../../core/matching/calledFunctions.js'
import type { BlockRef } from '../../model/chain.js'
import type { Gap } from '../../model/state.js'
import { withCode } from '../auditing/codeQueue.js'
import { conclude } from '../conclude.js'
import { addressesOf, look } from '../look/look.js'
import { addressSet, contextOf } from '../look/lookContext.js'
import { advance, type PollPorts, type PollSession, write } from '../pollSession.js'

/** Rereads an open gap if one is due; a later poll may take the result. The commit of its contents closes it. */
export async function rereadGap(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	if (ports.gaps === undefined) return
	await notifyAccepted(session, ports)
	const { gaps } = session.state
	const queued = new Set(ports.audit.queue.gaps.map(({ part }) => part.span.from))
	// Gaps after the checkpoint will be scanned anyway.
	// One that is marked as read and not queued was not taken in before the program was stopped.
	const open = [...gaps.values()].filter(
		({ openedAtMs, block: { number } }) =>
			openedAtMs !== null && number <= session.checkpoint.number && !queued.has(number),
	)
	const everybody = addressesOf(session.config.watches, session.state)
	const { watches } = session.config
	const askFor = (number: bigint) => {
		const set = setOf(gaps.get(number))
		return withCode(set === null ? everybody : withCalls(set, watches), session, ports)
	}
	const inOrder = open
		.map(({ block: { number }, wantedAtMs, addresses }) => {
			return { number, ...(wantedAtMs !== undefined && { wantedAtMs }), addresses, watches }
		})
		.sort((a, b) => (a.number < b.number ? -1 : 1))
	const part = await ports.gaps.keeper.reread(inOrder, askFor, signal)
	if (part === null) return
	await ports.audit.follower.halt()
	// A reorganisation may have put the checkpoint back since the reread began.
	if (part.span.from > session.checkpoint.number) return
	const gap = session.state.gaps.get(part.span.from)
	if (gap === undefined || !(await isSame(part.last, gap, ports, signal))) return
	const set = setOf(gap)
	const backfill = set === null ? null : { span: part.span, addresses: set }
	const context = contextOf(session, ports, { backfill, isSecondLook: true })
	const difference = await look(part, session.state.announcements, context, ports.chain, signal)
	if (part.unread !== undefined) {
		const lacking = lackingGap(gap, gap, part.unread, ports.clock())
		const isNews = lacking.reason !== gap.reason || difference.news.length > 0
		if (isNews) await advance(session, { gaps: new Map([[gap.block.number, lacking]]) }, difference, ports)
		return
	}
	await session.committed.locked(async () => {
		if (backfill === null) {
			await conclude(session, { part, context, difference }, {}, ports)
			session.blocks++
		} else await write(session, { closed: [gap] }, difference, ports)
	})
}

/**
 * Whether the block is the one that became the gap. If not, it was replaced: the next poll handles the reorganisation.
 * The header of the gap may have said a wrong hash; the header of the next block then decides.
 */
async function isSame({ number, hash }: BlockRef, { block }: Gap, { chain }: PollPorts, signal: AbortSignal) {
	return hash === block.hash || (await chain.block(number + 1n, signal))?.parentHash === hash
}

/** Announces each gap that the operator accepted, once, to the same receivers as the gap itself. */
async function notifyAccepted(session: PollSession, ports: PollPorts): Promise<void> {
	const news = [...session.state.gaps.values()].filter(isAcceptanceNews)
	if (news.length === 0) return
	const changes = news.map((gap): [bigint, Gap] => [gap.block.number, { ...gap, isAcceptanceAnnounced: true }])
	await advance(session, { gaps: new Map(changes) }, null, ports)
}

function setOf(gap: Gap | undefined) {
	return gap === undefined || gap.addresses === null ? null : addressSet(gap.addresses)
}
