import { type AlertContext, alertOf } from '../core/alert.js'
import { compare, type Difference, isAnnounced, isAsAnnounced, missing } from '../core/compare.js'
import { type BackfillSet, isCovered, isInBackfill } from '../core/coverage.js'
import { addressOfId, alertId, isOfLogs } from '../core/events.js'
import { createFloodGate } from '../core/flood.js'
import { happeningsIn } from '../core/happenings.js'
import type { Payees } from '../core/lookalike.js'
import { type IsCovered, type Match, match, sides } from '../core/match.js'
import { stepItems } from '../core/steps.js'
import { finalityOf } from '../core/target.js'
import type { Alert, ChainEvent, FrameEvent } from '../model/alert.js'
import type { AddressSet, Block, BlockRef, Head, Part } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { Announcement } from '../model/state.js'
import type { Coverage, Network, WatchIndex } from '../model/watch.js'
import { inSteps, yieldNow } from './inSteps.js'
import { createPayeeLedger } from './payees.js'

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
	/** Whom the watches have paid. */
	readonly payees: Payees
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
	const gate = createFloodGate<{ readonly match: Match; readonly said: Omit<AlertContext, 'creatorConfirmed'> }>(
		context.network.tokens,
	)
	const present = new Map<string, ChainEvent>()
	const happened: ChainEvent[] = []
	const announced = new Set([...announcements.keys()].map(addressOfId))
	for (const { blockNumber, events } of happeningsIn(part)) {
		for (const event of events) {
			for (const { address } of sides(event)) {
				if (!announced.has(address) && !context.watches.has(address)) continue
				present.set(alertId(context.network.chainId, event, address), event)
			}
			happened.push(event)
			if (happened.length % stepItems === 0) await yieldNow()
		}
		const block = part.blocks.get(blockNumber)
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
		for (let at = 0; at < events.length; at += stepItems) {
			const some = events.slice(at, at + stepItems)
			for (const one of match(some, context.watches, isWatched, context.network.tokens)) {
				gate.add({ match: one, said })
			}
			if (some.length === stepItems) await yieldNow()
		}
	}
	const found = gate.kept.map(({ one, more }) => ({ ...one, more }))
	const comparable = comparableWith(part, announcements, context.backfill)
	const isNew = ({ event, watch }: Match) => {
		const known = comparable.get(alertId(context.network.chainId, event, watch.address))
		return known === undefined || !isAnnounced(known) || !isAsAnnounced(known, event)
	}
	const creations: FrameEvent[] = []
	const strangers = new Set<Address>()
	for (const [at, { match: one }] of found.entries()) {
		if (at % stepItems === stepItems - 1) await yieldNow()
		const { event } = one
		const isAsked = event.kind === 'token' ? !context.network.tokens?.has(event.contract) : event.kind === 'deployment'
		if (!isAsked || !isNew(one)) continue
		if (event.kind === 'token') strangers.add(event.contract)
		else creations.push(event)
	}
	const gone = await inSteps(missing(comparable, { span: part.span, present }))
	const [located, confirmed, words] = await Promise.all([
		locateAll(gone, chain, signal),
		confirmAll(creations, chain, signal),
		chain.tokenWords(strangers, signal),
	])
	const alerts: Alert[] = []
	const tokenWords = (contract: Address) => words.get(contract) ?? null
	for (const { match: one, said, more } of found) {
		if (alerts.length % stepItems === stepItems - 1) await yieldNow()
		const creatorConfirmed = confirmed.get(placeOf(one.event)) ?? null
		alerts.push(alertOf(one, { ...said, more, creatorConfirmed, tokenWords }))
	}
	const ledger = createPayeeLedger({ ...context, chain }, signal)
	const marked: Alert[] = []
	for (const [at, event] of happened.entries()) {
		if (at % stepItems === stepItems - 1) await yieldNow()
		for (let one = found[marked.length]?.match; one?.event === event; one = found[marked.length]?.match) {
			const alert = alerts[marked.length]
			if (alert !== undefined) marked.push(isNew(one) ? await ledger.mark(alert) : alert)
		}
		ledger.note(event)
	}
	const payees = ledger.changes()
	const difference = await inSteps(compare(comparable, { span: part.span, alerts: marked, present }, located))
	return payees.size === 0 ? difference : { ...difference, payees }
}

async function locateAll(
	gone: readonly Announcement[],
	chain: Chain,
	signal: AbortSignal,
): Promise<ReadonlyMap<Hash, BlockRef | null>> {
	const located = new Map<Hash, BlockRef | null>()
	for (const { txHash } of gone) if (!located.has(txHash)) located.set(txHash, await chain.locate(txHash, signal))
	return located
}

/** In one part; a factory's hundredth child is no more in need of a witness than the first. */
const MOST_CONFIRMED = 20

/**
 * Whether the node's own index names the same creators: each creation that is announced now is asked for once, all of
 * them at once, and the chain answers within a quarter of a second or not at all. So a part waits no longer than that
 * for what is an addition to its alerts. Confirming afterwards would be a second message about the same event.
 */
async function confirmAll(
	events: readonly FrameEvent[],
	chain: Chain,
	signal: AbortSignal,
): Promise<ReadonlyMap<string, boolean>> {
	const creations = new Map(events.map((event) => [placeOf(event), event]))
	const confirmed = new Map<string, boolean>()
	const ask = async ([place, event]: [string, FrameEvent]) => {
		const known = await chain.creator(event.to, signal)
		// An address can be deployed to again: then the index speaks of another time.
		if (known !== null && known.txHash === event.txHash) confirmed.set(place, known.creator === event.from)
	}
	await Promise.all([...creations].slice(0, MOST_CONFIRMED).map(ask))
	return confirmed
}

function placeOf({ txHash, trace, to }: ChainEvent): string {
	return `${txHash}:${trace}:${to}`
}

/**
 * Every address whose frames must be asked for: the watched ones, and those of alerts that may have to be retracted.
 */
export function addressesOf(watches: WatchIndex, announcements: ReadonlyMap<string, Announcement>): AddressSet {
	const extra = [...new Set([...announcements.keys()].map(addressOfId))].filter((address) => !watches.has(address))
	if (extra.length === 0) return watches
	// The same set as long as it holds the same: what was read ahead for it can be used.
	const key = extra.toSorted().join()
	const before = widened.get(watches)
	if (before?.key === key) return before.addresses
	const addresses = unionOf(watches, new Set(extra))
	widened.set(watches, { key, addresses })
	return addresses
}

const widened = new WeakMap<WatchIndex, { readonly key: string; readonly addresses: AddressSet }>()

/** Of sets that have nothing in common; a million addresses are not copied for one more. */
function unionOf(one: AddressSet, other: AddressSet): AddressSet {
	return {
		size: one.size + other.size,
		has: (address) => one.has(address) || other.has(address),
		*keys() {
			for (const set of [one, other]) {
				const keys = set.keys()
				for (let next = keys.next(); next.done !== true; next = keys.next()) yield next.value
			}
		},
	}
}

/** Whether a watch is to be notified of a block by this look. */
export function coverageTestOf({ covered, backfill, backfills }: LookContext): IsCovered {
	return (watch, blockNumber) => {
		if (!isCovered(watch, covered.get(watch.address), blockNumber)) return false
		if (backfill !== null) return backfill.addresses.has(watch.address)
		return !isInBackfill(watch.address, blockNumber, backfills)
	}
}

/**
 * Those that the part can say something of. A backfill reads for a few addresses only, and logs are read only where
 * somebody is told of tokens: what is not in such an answer proves nothing.
 */
function comparableWith(
	{ tokens }: Part,
	announcements: ReadonlyMap<string, Announcement>,
	backfill: BackfillSet | null,
): ReadonlyMap<string, Announcement> {
	if (backfill === null && tokens !== undefined) return announcements
	return new Map(
		[...announcements].filter(
			([id]) =>
				(backfill === null || backfill.addresses.has(addressOfId(id))) && (tokens !== undefined || !isOfLogs(id)),
		),
	)
}
