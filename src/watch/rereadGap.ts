import { isAcceptanceNews, isOpen } from '../core/gaps.js'
import type { Gap } from '../model/state.js'
import { lookAtPart } from './headerWithdrawals.js'
import { addressesOf } from './look.js'
import { addressSet, contextOf } from './lookContext.js'
import { advance, type PollPorts, type PollSession } from './pollSession.js'
import { conclude } from './scan.js'

/**
 * Asks for an open gap again where it is time; what comes of it may be taken up by a later poll. A gap that was read is
 * closed in the commit that announces what it held.
 */
export async function rereadGap(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	if (ports.gaps === undefined) return
	await tellAccepted(session, ports)
	const { gaps, announcements } = session.state
	// Those after the checkpoint are about to be scanned anew.
	const open = [...gaps.values()].filter((gap) => isOpen(gap) && gap.block.number <= session.checkpoint.number)
	const everybody = addressesOf(session.config.watches, announcements)
	const askFor = (number: bigint) => setOf(gaps.get(number)) ?? everybody
	const inOrder = open
		.map(({ block: { number }, wantedAtMs }) => ({ number, ...(wantedAtMs !== undefined && { wantedAtMs }) }))
		.sort((a, b) => (a.number < b.number ? -1 : 1))
	const part = await ports.gaps.keeper.reread(inOrder, askFor, signal)
	const gap = part === null ? undefined : gaps.get(part.span.from)
	// Another block stands there: the next poll sees how the chain has changed.
	if (part === null || gap === undefined || part.last.hash !== gap.block.hash) return
	const set = setOf(gap)
	const backfill = set === null ? null : { span: part.span, addresses: set }
	const context = contextOf(session, part.span, backfill, ports)
	const seen = await lookAtPart(part, announcements, context, ports.chain, signal)
	if (backfill === null) await conclude(session, part, seen, context, {}, ports, signal)
	else await advance(session, {}, seen, ports, [gap])
}

/** What a person has accepted is told once, to the same receivers as the gap itself. */
async function tellAccepted(session: PollSession, ports: PollPorts): Promise<void> {
	const news = [...session.state.gaps.values()].filter(isAcceptanceNews)
	if (news.length === 0) return
	const changes = news.map((gap): [bigint, Gap] => [gap.block.number, { ...gap, isAcceptanceAnnounced: true }])
	await advance(session, { gaps: new Map(changes) }, null, ports)
}

function setOf(gap: Gap | undefined) {
	return gap === undefined || gap.addresses === null ? null : addressSet(gap.addresses)
}
