import { findingAlerts } from '../core/bookAlerts.js'
import { type Difference, isAnnounced } from '../core/compare.js'
import { addressOfId } from '../core/events.js'
import { withdrawalFindings } from '../core/findings.js'
import { finalityOf } from '../core/target.js'
import { withFindings } from '../core/withFindings.js'
import type { Block, Part, Withdrawal } from '../model/chain.js'
import type { Chain } from '../model/ports.js'
import type { Announcement } from '../model/state.js'
import { coverageTestOf, type LookContext, look } from './look.js'

/** Frames, and what the headers pay: all that can be told of a part without books. */
export async function lookAtPart(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	context: LookContext,
	chain: Chain,
	signal: AbortSignal,
): Promise<Difference> {
	const frames = await look(part, announcements, context, chain, signal)
	return withWithdrawals(part, frames, announcements, context, chain, signal)
}

/**
 * Adds to a look what the headers of the part pay to watches: what of it is new, what is gone, and what stands in
 * another block than when it was announced. In the order of the chain.
 */
async function withWithdrawals(
	part: Part,
	difference: Difference,
	announcements: ReadonlyMap<string, Announcement>,
	context: LookContext,
	chain: Chain,
	signal: AbortSignal,
): Promise<Difference> {
	const found = withdrawalFindings(part).map((finding) => ({
		alerts: findingAlerts(finding, {
			network: context.network,
			watches: context.watches,
			isCovered: coverageTestOf(context),
			finalityOf: (number) => finalityOf(number, context.head),
			detectedAtMs: context.nowMs,
			lateReason: context.lateReason,
			checksum: context.checksum,
		}),
	}))
	const gone: Announcement[] = []
	const moved: Announcement[] = []
	for (const entry of announcedIn(part, announcements, context)) {
		const block = await blockOf(entry, part, chain, signal)
		if (block === null) gone.push(entry)
		else if (block.hash !== entry.block.hash)
			moved.push({ ...entry, block: { number: block.number, hash: block.hash } })
	}
	const whole = withFindings(difference, found, gone, announcements)
	if (found.length === 0 && moved.length === 0) return whole
	const news = whole.news.toSorted((a, b) => placeOf(a.alerts) - placeOf(b.alerts))
	return { ...whole, news, announcements: [...whole.announcements, ...moved] }
}

function announcedIn(
	{ span }: Part,
	announcements: ReadonlyMap<string, Announcement>,
	{ backfill }: LookContext,
): readonly Announcement[] {
	return [...announcements.values()].filter((entry) => {
		const { number } = entry.block
		if (!isAnnounced(entry) || entry.alerts[0]?.data.kind !== 'withdrawal') return false
		if (number < span.from || number > span.to) return false
		return backfill === null || backfill.addresses.has(addressOfId(entry.id))
	})
}

/**
 * Where a withdrawal stands now; null where it is gone. Its block is known by its hash; one that took the other's place
 * may pay it too.
 */
async function blockOf(
	{ id, block: { number, hash }, alerts }: Announcement,
	{ blocks, last }: Part,
	chain: Chain,
	signal: AbortSignal,
): Promise<Pick<Block, 'number' | 'hash'> | null> {
	const said = alerts[0]?.data
	const address = addressOfId(id)
	// A block in the place of another may give the same index to somebody else, or another amount to the same.
	const isSame = (one: Withdrawal) =>
		String(one.index) === said?.index && one.address === address && String(one.wei) === said.valueWei
	const pays = ({ withdrawals = [] }: { readonly withdrawals?: readonly Withdrawal[] }) => withdrawals.some(isSame)
	for (const block of blocks.values()) if (pays(block)) return block
	const now = number === last.number ? last : (blocks.get(number) ?? (await chain.block(number, signal)))
	// A node that has no such block now says nothing of it.
	if (now === null || now.hash === hash) return { number, hash }
	return pays(now) ? now : null
}

function placeOf([first]: Difference['news'][number]['alerts']): number {
	return first?.data.blockNumber ?? 0
}
