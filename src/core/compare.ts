import type { Alert, ChainEvent } from '../model/alert.js'
import type { BlockRef, Span } from '../model/chain.js'
import type { Hash } from '../model/glossary.js'
import type { Announcement, NetworkState } from '../model/state.js'
import { contentOf, contentSaid } from './content.js'
import { isOfLogs, isOfTransaction } from './events.js'
import { type Steps, stepItems } from './steps.js'

/** One look at a span: what the rules say should be announced, and what is there whatever the rules. */
export interface Sight {
	readonly span: Span
	/** In the order of the chain; watches of one address in two watchlists give two with one id. */
	readonly alerts: readonly Alert[]
	/** All events seen, whatever the rules, by the alert ids of both of their addresses. */
	readonly present: ReadonlyMap<string, ChainEvent>
}

/** What is to be said after a look. */
export interface Difference {
	/** Events on chain that are not announced, with the revision under which they are announced now. */
	readonly news: readonly { readonly alerts: readonly Alert[]; readonly revision: number }[]
	/**
	 * Announced events that are no longer on chain, or not as they were announced: those of `news` under the same id come
	 * after. Status and revision are already those of the retraction.
	 */
	readonly retracted: readonly Announcement[]
	/** Entries to remember: new, retracted, or standing in another block than before. */
	readonly announcements: readonly Announcement[]
	/** Whom the watches were seen to pay, lists that changed; absent: nobody new. */
	readonly payees?: NonNullable<NetworkState['payees']>
}

/**
 * Announcements of the span that the look did not find; where their transactions stand must be asked before `compare`.
 */
export function* missing(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Omit<Sight, 'alerts'>,
): Steps<readonly Announcement[]> {
	const gone: Announcement[] = []
	let seen = 0
	for (const entry of announcements.values()) {
		if (++seen % stepItems === 0) yield
		if (!isAnnounced(entry) || !isWithin(entry.block.number, sight.span)) continue
		if (!sight.present.has(entry.id) && isOfTransaction(entry.id)) gone.push(entry)
	}
	return gone
}

/**
 * The one comparison behind the first look, the second look and reorganisations. A transaction that was mined again in
 * another block keeps its ids, so it is no new alert. An event whose transaction now stands in a later block waits for
 * that block's own look. One that moved another amount than was announced, or to another side, is retracted, and is
 * news if the rules still want it. `located` says where the transactions of the missing entries stand: null, in no
 * block.
 */
export function* compare(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Sight,
	located: ReadonlyMap<Hash, BlockRef | null>,
): Steps<Difference> {
	const news: { alerts: Alert[]; revision: number }[] = []
	const retracted: Announcement[] = []
	const changed = new Map<string, Announcement>()

	let seen = 0
	for (const [id, event] of sight.present) {
		if (++seen % stepItems === 0) yield
		const known = announcements.get(id)
		if (known === undefined || !isAnnounced(known)) continue
		if (!isAsAnnounced(known, event)) retracted.push(retractionOf(known))
		else if (known.block.hash !== event.block.hash) changed.set(id, { ...known, block: event.block })
	}
	const past = new Map(retracted.map((entry) => [entry.id, entry]))
	for (const entry of retracted) changed.set(entry.id, entry)

	for (const [id, alerts] of yield* byId(sight.alerts)) {
		if (++seen % stepItems === 0) yield
		const first = alerts[0]
		const event = sight.present.get(id)
		if (first === undefined || event === undefined) continue
		const known = past.get(id) ?? announcements.get(id)
		if (known !== undefined && isAnnounced(known)) continue
		const revision = known === undefined ? 0 : known.revision + 1
		news.push({ alerts, revision })
		changed.set(id, { id, block: event.block, txHash: first.data.txHash, alerts, status: 'announced', revision })
	}

	for (const entry of yield* missing(announcements, sight)) {
		const block = located.get(entry.txHash) ?? null
		// What a log said in a block it says as long as its transaction stands there, whichever tokens are known by now.
		const isLasting = entry.proved === true || isOfLogs(entry.id)
		if (isLasting && block?.hash === entry.block.hash) continue
		if (block !== null && block.number > sight.span.to) {
			changed.set(entry.id, { ...entry, block })
			continue
		}
		const gone = retractionOf(entry)
		retracted.push(gone)
		changed.set(entry.id, gone)
	}
	return { news, retracted, announcements: [...changed.values()] }
}

/** Announced and not retracted. */
export function isAnnounced(entry: Announcement): boolean {
	return entry.status === 'announced'
}

/** Whether an event is what its announcement said it was. */
export function isAsAnnounced({ alerts: [said], block, proved }: Announcement, event: ChainEvent): boolean {
	if (said === undefined || contentSaid(said.data) === contentOf(event)) return true
	// What the balances have proved of a block stands, whatever another endpoint tells of it.
	return proved === true && block.hash === event.block.hash
}

export function retractionOf(entry: Announcement): Announcement {
	return { ...entry, status: 'retracted', revision: entry.revision + 1 }
}

function isWithin(number: bigint, span: Span): boolean {
	return span.from <= number && number <= span.to
}

function* byId(alerts: readonly Alert[]): Steps<ReadonlyMap<string, Alert[]>> {
	const groups = new Map<string, Alert[]>()
	let seen = 0
	for (const alert of alerts) {
		if (++seen % stepItems === 0) yield
		const group = groups.get(alert.data.id)
		if (group === undefined) groups.set(alert.data.id, [alert])
		else group.push(alert)
	}
	return groups
}
