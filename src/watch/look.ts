import { alertOf } from '../core/alert.js'
import { compare, type Difference, missing } from '../core/compare.js'
import { type BackfillSet, isCovered, isInBackfill } from '../core/coverage.js'
import { addressOfId, alertId, eventsOf } from '../core/events.js'
import { type IsCovered, match, sides } from '../core/match.js'
import { finalityOf } from '../core/target.js'
import type { Alert, ChainEvent } from '../model/alert.js'
import type { AddressSet, Block, BlockRef, Head, Part } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { Announcement } from '../model/state.js'
import type { Coverage, Network, WatchIndex } from '../model/watch.js'

/** What a look must know besides the part it looks at. */
export interface LookContext {
	readonly network: Network
	readonly watches: WatchIndex
	readonly covered: ReadonlyMap<Address, Coverage>
	/** Backfills under way; their blocks are left to them. */
	readonly backfills: readonly BackfillSet[]
	/** The backfill this look serves; null for the looks that serve all. */
	readonly backfill: BackfillSet | null
	readonly head: Head
	readonly nowMs: number
	/** Why an event of this block comes late; null when it does not. */
	readonly lateReason: (block: Block) => string | null
	readonly checksum: (address: Address) => string
}

/** Looks at one part: what really happened, who is to be notified, and what of that is new or gone. */
export async function look(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	context: LookContext,
	chain: Chain,
	signal: AbortSignal,
): Promise<Difference> {
	const isWatched = coverageTestOf(context)
	const alerts: Alert[] = []
	const present = new Map<string, BlockRef>()
	for (const tx of part.transactions) {
		const events = eventsOf(tx)
		if (events.length === 0) continue
		for (const event of events) {
			for (const { address } of sides(event)) {
				present.set(alertId(context.network.chainId, event, address), event.block)
			}
		}
		const block = part.blocks.get(tx.block.number)
		if (block === undefined) continue
		const said = {
			network: context.network,
			block,
			finality: finalityOf(block.number, context.head),
			detectedAtMs: context.nowMs,
			lateReason: context.lateReason(block),
			watches: context.watches,
			checksum: context.checksum,
		}
		for (const found of match(events, context.watches, isWatched)) {
			const creatorConfirmed = await confirmed(found.event, chain, signal)
			alerts.push(alertOf(found, { ...said, creatorConfirmed }))
		}
	}
	const sight = { span: part.span, alerts, present }
	// A backfill reads for a few addresses only: what was announced to others is not in its answer, and that proves nothing.
	const comparable =
		context.backfill === null ? announcements : withinBackfill(announcements, context.backfill.addresses)
	const located = new Map<Hash, BlockRef | null>()
	for (const { txHash } of missing(comparable, sight)) {
		if (!located.has(txHash)) located.set(txHash, await chain.locate(txHash, signal))
	}
	return compare(comparable, sight, located)
}

/** Whether the node's own index names the same creator; null where it says nothing of this deployment. */
async function confirmed(event: ChainEvent, chain: Chain, signal: AbortSignal): Promise<boolean | null> {
	if (event.kind !== 'deployment') return null
	const known = await chain.creator(event.to, signal)
	// An address can be deployed to again: then the index speaks of another time.
	return known === null || known.txHash !== event.txHash ? null : known.creator === event.from
}

/** Every address whose frames must be asked for: the watched ones, and those of alerts that may have to be retracted. */
export function addressesOf(watches: WatchIndex, announcements: ReadonlyMap<string, Announcement>): AddressSet {
	const extra = [...announcements.keys()].map(addressOfId).filter((address) => !watches.has(address))
	return extra.length === 0 ? watches : new Set([...watches.keys(), ...extra])
}

function coverageTestOf({ covered, backfill, backfills }: LookContext): IsCovered {
	return (watch, blockNumber) => {
		if (!isCovered(watch, covered.get(watch.address), blockNumber)) return false
		if (backfill !== null) return backfill.addresses.has(watch.address)
		return !isInBackfill(watch.address, blockNumber, backfills)
	}
}

function withinBackfill(
	announcements: ReadonlyMap<string, Announcement>,
	addresses: AddressSet,
): ReadonlyMap<string, Announcement> {
	return new Map([...announcements].filter(([id]) => addresses.has(addressOfId(id))))
}
