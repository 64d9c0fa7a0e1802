/** The room decides which events are new, still stand, moved or are gone. */

import { recordOf, seenInOf } from '../../kinds/all.js'
import type { Happened, KindRecord, SeenIn } from '../../kinds/record.js'
import type { Answers, Standing } from '../../kinds/standing.js'
import type { Alert } from '../../model/alert.js'
import type { BlockRef, Span } from '../../model/chain.js'
import type { Announcement, NetworkState } from '../../model/state.js'
import { placeOfId } from '../alerts/alertId.js'
import { addTo } from '../lists.js'
import { refOf } from '../spans.js'
import { type Steps, stepItems } from '../steps.js'
import { createRelated, naming } from './related.js'

export interface Sight {
	readonly span: Span
	/** The alerts by the rules of the watches, in the order of the chain; two if two watchlists contain the address. */
	readonly alerts: readonly Alert[]
	/** All events seen, regardless of rules, by the alert ids of their addresses. */
	readonly present: ReadonlyMap<string, Happened>
	/** Whether the look read the data that shows the event of this announcement. */
	readonly judges: (entry: Announcement) => boolean
	/** Whether an event of the span that is not present does not exist. Default: true. */
	readonly isWhole?: boolean
	/** Whether balances prove the alerts. */
	readonly proves?: true
}

export interface News {
	readonly alerts: readonly Alert[]
	readonly revision: number
	/** The alerts announced under the same id that are now retracted; absent: none. */
	readonly before?: readonly Alert[]
	/** The alert that a mail about this one refers to: the first of `related`; absent: none. */
	readonly refersTo?: Announcement
}

/** What to send and store after a look. */
export interface Difference {
	/** Events to announce, with their revisions. */
	readonly news: readonly News[]
	/** On chain no more, or different; sent before `news` with the same id. Status and revision are the retraction's. */
	readonly retracted: readonly Announcement[]
	/** Announcements to store: new, retracted, or moved to another block. */
	readonly announcements: readonly Announcement[]
	/** Payee lists that changed; absent: none. */
	readonly payees?: NonNullable<NetworkState['payees']>
}

export const noDifference: Difference = { news: [], retracted: [], announcements: [] }

/** The questions to be answered before `reconcile` can judge announcements that the look did not show. */
export function* openQuestions(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Omit<Sight, 'alerts'>,
	answers: Answers,
): Steps<readonly OpenQuestion[]> {
	const open: OpenQuestion[] = []
	for (const [entry, standing] of yield* missing(announcements, sight, answers)) {
		if (typeof standing === 'object' && 'ask' in standing) open.push({ entry, ask: standing.ask })
	}
	return open
}

export interface OpenQuestion {
	readonly entry: Announcement
	readonly ask: keyof Answers
}

/**
 * The only place that decides which events are new, still stand, moved or are gone: for the first look, the second
 * look, reorganisations, and findings of the books. A transaction that was mined again in another block keeps its ids,
 * so it is no new alert. An event whose transaction is now in a later block waits for the look at that block. An event
 * with another amount or counterparty than announced is retracted, and announced again if the rules still match.
 * `before`: the result of other looks at the same part, to which this one adds. Questions without an answer in
 * `answers` wait for a later look.
 */
export function* reconcile(
	announcements: ReadonlyMap<string, Announcement>,
	sight: Sight,
	answers: Answers,
	before: Difference = noDifference,
): Steps<Difference> {
	const news: News[] = []
	const retracted: Announcement[] = []
	/** Created only when needed: `before` may be very large, and most looks add nothing to it. */
	let changed: Map<string, Announcement> | null = null
	const all = () => {
		changed ??= new Map(before.announcements.map((entry) => [entry.id, entry]))
		return changed
	}
	const now = (id: string) => all().get(id) ?? announcements.get(id)
	let changes = 0
	const note = (entry: Announcement) => {
		changes++
		all().set(entry.id, entry)
	}
	const retract = (entry: Announcement) => {
		const gone = retractionOf(entry)
		retracted.push(gone)
		note(gone)
	}

	const relatedTo = createRelated(() => new Map([...announcements, ...all()]).values())
	let seen = 0
	for (const [id, event] of sight.present) {
		if (++seen % stepItems === 0) yield
		const known = now(id)
		if (known === undefined || !isAnnounced(known) || !sight.judges(known)) continue
		if (!isAsAnnounced(known, event)) retract(known)
		else if (known.block.hash !== event.block.hash) note({ ...known, block: refOf(event.block) })
	}
	for (const [id, alerts] of yield* byId(sight.alerts)) {
		if (++seen % stepItems === 0) yield
		const data = alerts[0]?.data
		if (data === undefined) continue
		const block = { number: BigInt(data.blockNumber), hash: data.blockHash }
		const known = now(id)
		if (known !== undefined && (isAnnounced(known) || (!sight.proves && isRefuted(known, block)))) continue
		const revision = known === undefined ? 0 : known.revision + 1
		const related = alerts[0] === undefined ? [] : relatedTo(alerts[0])
		const named = related.length === 0 ? alerts : alerts.map((alert) => naming(alert, related))
		const [refersTo] = related
		news.push({ alerts: named, revision, ...(known && { before: known.alerts }), ...(refersTo && { refersTo }) })
		const entry = { id, block, txHash: data.txHash, alerts: named, status: 'announced', revision } as const
		note(sight.proves ? { ...entry, proved: true } : entry)
	}
	for (const [entry, standing] of yield* missing(announcements, sight, answers)) {
		if (now(entry.id) !== entry || standing === 'here') continue
		if (standing === 'gone') retract(entry)
		else if ('moved' in standing) note({ ...entry, block: refOf(standing.moved) })
	}
	if (changes === 0) return before
	return {
		...before,
		news: [...before.news, ...news],
		retracted: [...before.retracted, ...retracted],
		announcements: [...all().values()],
	}
}

/** Announcements of the span that the look judges and did not see. */
function* missing(
	announcements: ReadonlyMap<string, Announcement>,
	{ span, present, judges, isWhole = true }: Omit<Sight, 'alerts'>,
	answers: Answers,
): Steps<readonly (readonly [Announcement, Standing])[]> {
	const found: (readonly [Announcement, Standing])[] = []
	const shown = isWhole ? span : null
	let seen = 0
	for (const entry of announcements.values()) {
		if (++seen % stepItems === 0) yield
		if (!isAnnounced(entry) || !isWithin(entry.block.number, span) || present.has(entry.id) || !judges(entry)) continue
		const record = recordOfEntry(entry)
		if (record !== null) found.push([entry, record.missing(entry, { answers, shown })])
	}
	return found
}

/** Whether the event of an announcement appears in one of these places. */
export function isSeenIn({ id, alerts: [first] }: Announcement, ...places: readonly SeenIn[]): boolean {
	return first !== undefined && places.includes(seenInOf(first.data.kind, placeOfId(id)))
}

/** Null: the announcement has no alert. */
export function recordOfEntry({ alerts: [first] }: Announcement): KindRecord | null {
	return first === undefined ? null : recordOf(first.data.kind)
}

export function isAnnounced(entry: Announcement): boolean {
	return entry.status === 'announced'
}

/** Whether an event equals its announcement. */
export function isAsAnnounced({ alerts: [said], block, proved }: Announcement, event: Happened): boolean {
	const record = recordOf(event.kind)
	if (said === undefined || record.announcedContent(said.data) === record.content(event)) return true
	// What balances proved about a block stands, whatever another endpoint shows; so does what the state showed.
	const [, place] = record.idParts(event)
	return (proved === true || seenInOf(event.kind, place) === 'state') && block.hash === event.block.hash
}

export function retractionOf({ proved: _, ...entry }: Announcement): Announcement {
	return { ...entry, status: 'retracted', revision: entry.revision + 1 }
}

/** Balances prove that this block does not contain the announced event: a reading that shows it again is wrong. */
function isRefuted({ status, proved, block }: Announcement, now: BlockRef): boolean {
	return status === 'retracted' && proved === true && block.hash === now.hash
}

function isWithin(number: bigint, span: Span): boolean {
	return span.from <= number && number <= span.to
}

function* byId(alerts: readonly Alert[]): Steps<ReadonlyMap<string, Alert[]>> {
	const groups = new Map<string, Alert[]>()
	let seen = 0
	for (const alert of alerts) {
		if (++seen % stepItems === 0) yield
		addTo(groups, alert.data.id, alert)
	}
	return groups
}
