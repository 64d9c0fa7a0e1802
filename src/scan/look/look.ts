/**
 * The room looks at one part of a span: it derives events, matches them to watches, and compares with announcements.
 */

import { inSteps, nextSlice } from '../../base/waits/slices.js'
import { type AlertContext, alertOf } from '../../core/alerts/alert.js'
import { addressOfId, alertId, type Repeats } from '../../core/alerts/alertId.js'
import { withoutWitnessed } from '../../core/control/oneChange.js'
import { withKnown } from '../../core/control/ruledEvents.js'
import { eventsByTransaction } from '../../core/events/eventsByTransaction.js'
import { withCalls } from '../../core/matching/calledFunctions.js'
import { withLogs } from '../../core/matching/contractLogs.js'
import { type BackfillSet, isCovered, isInBackfill } from '../../core/matching/coverage.js'
import { createFloodGate } from '../../core/matching/flood.js'
import type { Payees } from '../../core/matching/lookalike.js'
import { type IsCovered, type Match, match, sides } from '../../core/matching/match.js'
import {
	type Difference,
	isAnnounced,
	isAsAnnounced,
	isSeenIn,
	noDifference,
	reconcile,
} from '../../core/reconcile/reconcile.js'
import { stepItems } from '../../core/steps.js'
import { finalityOf } from '../../core/target.js'
import type { SeenEvent } from '../../kinds/list.js'
import type { Alert, FrameEvent } from '../../model/alert.js'
import type { AddressSet, Block, Head, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import type { Chain } from '../../model/ports.js'
import type { Announcement, NetworkState } from '../../model/state.js'
import type { Coverage, Network, WatchIndex } from '../../model/watch.js'
import { answersTo } from './answers.js'
import { createPayeeLedger } from './payees.js'
import { repeatsOf, seenIn } from './repeats.js'

export interface LookContext {
	readonly network: Network
	readonly watches: WatchIndex
	readonly covered: ReadonlyMap<Address, Coverage>
	/** Watches that have code. */
	readonly contracts: NetworkState['contracts']
	/** Unfinished backfills. Other looks leave out the blocks and addresses of a backfill. */
	readonly backfills: readonly BackfillSet[]
	/** The backfill that this look serves; null for an ordinary look. */
	readonly backfill: BackfillSet | null
	readonly head: Head
	readonly nowMs: number
	/** Why an event of this block is late; null when it is not late. */
	readonly lateReason: (block: Block) => string | null
	readonly checksum: (address: Address) => string
	/** The addresses that each watch has paid. */
	readonly payees: Payees
	/** For findings and replays; other looks determine their own. */
	readonly repeats?: Repeats
	/** Every block counts for every watch, whatever was covered. */
	readonly isReplay?: true
}

/** Derives events, matches them to watches, and returns which alerts are new or retracted. */
export async function look(
	read: Part,
	announcements: ReadonlyMap<string, Announcement>,
	context: LookContext,
	chain: Chain,
	signal: AbortSignal,
): Promise<Difference> {
	const repeats = context.repeats ?? (await repeatsOf(seenIn(read), announcements, read, chain, signal))
	const { part, confirmed: witnessed } = asWitnessed(read, announcements, { ...context, repeats })
	const isWatched = coverageTestOf(context)
	const gate = createFloodGate<{
		readonly match: Match<SeenEvent>
		readonly said: Omit<AlertContext, 'creatorConfirmed'>
	}>(context.network.tokens, context.payees, context.watches)
	const present = new Map<string, SeenEvent>()
	const happened: SeenEvent[] = []
	const announced = new Set([...announcements.keys()].map(addressOfId))
	for (const { blockNumber, events } of eventsByTransaction(part)) {
		for (const event of events) {
			for (const { address } of sides(event)) {
				if (!announced.has(address) && !context.watches.has(address)) continue
				present.set(alertId(context.network.chainId, event, address, repeats), event)
			}
			happened.push(event)
			gate.note(event)
			if (happened.length % stepItems === 0) await nextSlice()
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
			repeats,
		}
		for (let at = 0; at < events.length; at += stepItems) {
			const some = events.slice(at, at + stepItems)
			for (const one of match(some, context.watches, isWatched, context.network.tokens)) {
				gate.add({ match: one, said })
			}
			if (some.length === stepItems) await nextSlice()
		}
	}
	const found = gate.kept().map(({ one, rest }) => ({ ...one, rest }))
	const isNew = ({ event, watch }: Match<SeenEvent>) => {
		const known = announcements.get(alertId(context.network.chainId, event, watch.address, repeats))
		return known === undefined || !isAnnounced(known) || !isAsAnnounced(known, event)
	}
	const creations: FrameEvent[] = []
	const strangers = new Set<Address>()
	for (const [at, { match: one }] of found.entries()) {
		if (at % stepItems === stepItems - 1) await nextSlice()
		const { event } = one
		if (event.kind === 'token') {
			if (!context.network.tokens?.has(event.contract) && isNew(one)) strangers.add(event.contract)
		} else if (event.kind === 'deployment' && isNew(one)) creations.push(event)
	}
	const seen = { span: part.span, present, judges: judgesOf(part, context) }
	const [answers, confirmed, words] = await Promise.all([
		answersTo(announcements, seen, part, { chain }, signal),
		confirmAll(creations, chain, signal),
		chain.tokenWords(strangers, signal),
	])
	const alerts: Alert[] = []
	const tokenWords = (contract: Address) => words.get(contract) ?? null
	for (const { match: one, said, rest } of found) {
		if (alerts.length % stepItems === stepItems - 1) await nextSlice()
		const creatorConfirmed = one.event.kind === 'deployment' ? (confirmed.get(placeOf(one.event)) ?? null) : null
		alerts.push(alertOf(one, { ...said, rest, creatorConfirmed, tokenWords }))
	}
	const ledger = createPayeeLedger({ ...context, chain }, signal)
	const marked: Alert[] = []
	for (const [at, event] of happened.entries()) {
		if (at % stepItems === stepItems - 1) await nextSlice()
		for (let one = found[marked.length]?.match; one?.event === event; one = found[marked.length]?.match) {
			const alert = alerts[marked.length]
			if (alert !== undefined) marked.push(isNew(one) ? await ledger.mark(alert) : alert)
		}
		ledger.note(event)
	}
	const payees = ledger.changes()
	const before = { ...noDifference, announcements: witnessed }
	const difference = await inSteps(reconcile(announcements, { ...seen, alerts: marked }, answers, before))
	return payees.size === 0 ? difference : { ...difference, payees }
}

/** The part with the changes of control to report, and announcements of storage that events of the part confirm. */
function asWitnessed(
	read: Part,
	announcements: ReadonlyMap<string, Announcement>,
	{ contracts, network, backfill, repeats, isReplay }: LookContext,
): { readonly part: Part; readonly confirmed: readonly Announcement[] } {
	const part = withKnown(read, contracts, announcements, backfill !== null || isReplay === true)
	if (part.control === undefined || part.control.length === 0) return { part, confirmed: [] }
	const isTold = (event: ControlChanged) => {
		const known = announcements.get(alertId(network.chainId, event, event.watch, repeats))
		return known !== undefined && isAnnounced(known)
	}
	const { news, confirmed } = withoutWitnessed(
		part.control.filter((event) => !isTold(event)),
		announcements,
	)
	const left = new Set(news)
	return { part: { ...part, control: part.control.filter((event) => isTold(event) || left.has(event)) }, confirmed }
}

/** Most creations confirmed in one part. A factory may create hundreds, and confirmation is optional. */
const MOST_CONFIRMED = 20

/**
 * Whether the node's own index names the same creator for each creation that is announced now. All questions are asked
 * at once, and the chain answers within 250 ms or not at all, so the part waits no longer than that. Confirming later
 * would need a second message about the same event.
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
		// An address can be deployed to again; the index may then describe another deployment.
		if (known !== null && known.txHash === event.txHash) confirmed.set(place, known.creator === event.from)
	}
	await Promise.all([...creations].slice(0, MOST_CONFIRMED).map(ask))
	return confirmed
}

function placeOf({ txHash, trace, to }: FrameEvent): string {
	return `${txHash}:${trace}:${to}`
}

/** Addresses whose frames are needed: the watched ones, and those of announcements that may be retracted. */
export function addressesOf(
	watches: WatchIndex,
	{ announcements, contracts }: Pick<NetworkState, 'announcements' | 'contracts'>,
): AddressSet {
	return withLogs(announcedOrWatched(watches, announcements), watches, contracts)
}

function announcedOrWatched(watches: WatchIndex, announcements: ReadonlyMap<string, Announcement>): AddressSet {
	const extra = [...new Set([...announcements.keys()].map(addressOfId))].filter((address) => !watches.has(address))
	if (extra.length === 0) return withCalls(watches, watches)
	// Return the same object while its contents are equal, so that what was read ahead for it can be used.
	const key = extra.toSorted().join()
	const before = widened.get(watches)
	if (before?.key === key) return withCalls(before.addresses, watches)
	const addresses = unionOf(watches, new Set(extra))
	widened.set(watches, { key, addresses })
	return withCalls(addresses, watches)
}

const widened = new WeakMap<WatchIndex, { readonly key: string; readonly addresses: AddressSet }>()

/** The union of two disjoint sets, without copying: the first may hold a million addresses. */
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

/** Returns a test of whether this look announces a block's events to a watch. */
export function coverageTestOf({ covered, backfill, backfills, isReplay }: LookContext): IsCovered {
	if (isReplay === true) return () => true
	return (watch, blockNumber) => {
		if (!isCovered(watch, covered.get(watch.address), blockNumber)) return false
		if (backfill !== null) return backfill.addresses.has(watch.address)
		return !isInBackfill(watch.address, blockNumber, backfills)
	}
}

/**
 * A look judges only announcements whose events appear in frames, logs or headers. A backfill reads only a few
 * addresses, and logs are read only if a watch asks for them: absence from such a reading proves nothing.
 */
function judgesOf({ tokens, control, unread = [] }: Part, { backfill }: LookContext): (entry: Announcement) => boolean {
	const isRead = ({ alerts: [first] }: Announcement) =>
		(first?.data.kind === 'control' ? control : tokens) !== undefined
	return (entry) =>
		isSeenIn(entry, 'frames', 'calls', 'logs', 'header') &&
		(backfill === null || backfill.addresses.has(addressOfId(entry.id))) &&
		(!isSeenIn(entry, 'logs') || isRead(entry)) &&
		!unread.some(({ txHash }) => entry.id.includes(txHash))
}
