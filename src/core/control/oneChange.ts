import type { AlertData } from '../../model/alert.js'
import type { ContractValues } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { ControlAction, ControlChanged, ControlEvidence } from '../../model/kind.js'
import type { Announcement } from '../../model/state.js'
import { addressOfId } from '../alerts/alertId.js'
import { controlRowOf } from '../events/controlLogs.js'
import { type Named, placeOf, shownValue } from './places.js'

/** What storage shows, as far as no event announced it. */
export interface Witnessed<E extends ControlChanged> {
	readonly news: readonly E[]
	/** Announcements of events that storage confirms, with the evidence that both show it. */
	readonly confirmed: readonly Announcement[]
}

/** Compares what storage shows with what events of the same blocks announced: one change, one alert. */
export function withoutAnnounced<E extends ControlChanged>(
	found: readonly E[],
	announcements: ReadonlyMap<string, Announcement>,
): Witnessed<E> {
	const news: E[] = []
	const confirmed = new Map<string, Announcement>()
	for (const one of found) {
		const events = controlEventsIn(one.watch, { from: one.fromBlock, to: one.block.number }, announcements)
		const same = one.contradicted ? [] : sameChange(one, events)
		if (same.length === 0) news.push(one)
		for (const entry of same) if (isByOne(entry, 'event')) confirmed.set(entry.id, withBoth(entry))
	}
	return { news, confirmed: [...confirmed.values()] }
}

/** Which events tell a change that storage announced before: they confirm it and are not reported. */
export function withoutWitnessed(
	events: readonly ControlChanged[],
	announcements: ReadonlyMap<string, Announcement>,
): Witnessed<ControlChanged> {
	const news: ControlChanged[] = []
	const confirmed = new Map<string, Announcement>()
	for (const event of events) {
		const { number } = event.block
		const entries = ofControl(event.watch, announcements).filter(({ id, block, alerts: [first] }) => {
			const { fromBlock = block.number } = first?.data ?? {}
			return !isOfLog(id) && BigInt(fromBlock) <= number && number <= block.number && first?.data.contradicted !== true
		})
		const same = entries.filter(({ alerts: [first] }) => first !== undefined && isSame(event, first.data))
		if (same.length === 0) news.push(event)
		for (const entry of same) if (isByOne(entry, 'storage')) confirmed.set(entry.id, withBoth(entry))
	}
	return { news, confirmed: [...confirmed.values()] }
}

function sameChange(one: ControlChanged, events: readonly Announcement[]): readonly Announcement[] {
	// Coinbase's wallet counts its owners: each event of one more, or one less, moves a counter by one.
	const action = counted[one.place ?? '']
	if (action !== undefined) {
		const own = events.filter(({ alerts: [first] }) => first?.data.change === 'owner' && first.data.action === action)
		const count = own.reduce((sum, { alerts: [first] }) => sum + (first?.data.count ?? 1), 0)
		return BigInt(one.current ?? 0) - BigInt(one.previous ?? 0) === BigInt(count) ? own : []
	}
	return events.filter(
		({ alerts: [first] }) => first !== undefined && (isSame(one, first.data) || isAdminRole(one, first.data)),
	)
}

/** OpenZeppelin's default admin, whom `owner()` names too, has role 0: the events are those of the role. */
function isAdminRole({ place, contract, previous, current }: ControlChanged, said: Partial<AlertData>): boolean {
	const isOfAdmin = place === 'defaultAdmin()' || place === 'owner()'
	if (!isOfAdmin || said.change !== 'role' || !/^0x0{64}$/.test(said.role ?? '')) return false
	const action = current === null ? 'removed' : 'added'
	return said.action === action && said.contract?.toLowerCase() === contract && resultOf(said) === (current ?? previous)
}

const counted: Readonly<Record<string, ControlAction>> = { 'owner-index': 'added', 'owner-removed': 'removed' }

function isSame(one: ControlChanged, said: Partial<AlertData>): boolean {
	return said.change === one.change && said.contract?.toLowerCase() === one.contract && resultOf(said) === resultOf(one)
}

function isByOne({ alerts }: Announcement, witness: ControlEvidence): boolean {
	return alerts.some(({ data }) => data.evidence === witness)
}

function withBoth(entry: Announcement): Announcement {
	const alerts = entry.alerts.map((alert) => ({ ...alert, data: { ...alert.data, evidence: 'both' as const } }))
	return { ...entry, alerts }
}

export interface ReadValues {
	readonly watch: Address
	readonly before: ContractValues
	readonly now: ContractValues
	readonly span: { readonly from: bigint; readonly to: bigint }
}

/** An event that storage denies: what its place holds instead. */
export interface Denied {
	readonly contradicts: string
	readonly change: ControlChanged['change']
	readonly place: Named
	readonly previous: string | null
	readonly current: string | null
}

/** The announced events that storage denies: of a value the last, and only where its place is known to be in use. */
export function deniedEvents(
	{ watch, before, now, span }: ReadValues,
	announcements: ReadonlyMap<string, Announcement>,
): readonly Denied[] {
	const last = new Map<ControlChanged['change'], Announcement>()
	for (const entry of controlEventsIn(watch, span, announcements)) {
		const data = entry.alerts[0]?.data
		if (data?.action === 'set' && data.change !== undefined && data.role === null) last.set(data.change, entry)
	}
	const deniedBefore = deniedIds(announcements)
	const denied: Denied[] = []
	for (const [change, entry] of last) {
		const data = entry.alerts[0]?.data
		const row = controlRowOf(data?.event ?? null)
		if (row?.current === undefined || deniedBefore.has(entry.id)) continue
		const places = [...new Set([...Object.keys(before), ...Object.keys(now)])].map(placeOf)
		const own = places.filter((place) => place.change === change && place.through === null && place.member === null)
		const held = own.map((place) => ({
			place,
			previous: shownValue(before[place.name], place.shape),
			current: shownValue(now[place.name], place.shape),
		}))
		if (held.some(({ current }) => resultOf({ current }) === resultOf(data))) continue
		if (change === 'pendingOwner' && isAccepted(data, last.get('owner'), held)) continue
		const live = held.find(({ place, previous }) => isLive(place, row.previous !== undefined, previous))
		if (live !== undefined) denied.push({ contradicts: entry.id, change, ...live })
	}
	return denied
}

/** Whether the pending owner has accepted: the account is the owner now, and none is pending. */
function isAccepted(
	pending: AlertData | undefined,
	owner: Announcement | undefined,
	held: readonly Pick<Denied, 'current'>[],
): boolean {
	const isOwner = owner !== undefined && resultOf(owner.alerts[0]?.data) === resultOf(pending)
	return isOwner && held.every(({ current }) => current === null)
}

/** In use: a slot that held a value; a function only if the event names the value before, as it may mean another. */
function isLive({ slot }: Named, namesPrevious: boolean, previous: string | null): boolean {
	return (slot !== null || namesPrevious) && previous !== null && previous !== '0'
}

/** Announced changes that logs of a watch showed in these blocks, in the order of the chain. */
export function controlEventsIn(
	watch: Address,
	{ from, to }: ReadValues['span'],
	announcements: ReadonlyMap<string, Announcement>,
): readonly Announcement[] {
	return ofControl(watch, announcements)
		.filter(({ id, block }) => isOfLog(id) && from <= block.number && block.number <= to)
		.sort(byPlace)
}

/** Ids of the events that storage was announced to deny. */
export function deniedIds(announcements: ReadonlyMap<string, Announcement>): ReadonlySet<string> {
	const denials = [...announcements.values()].filter(({ status }) => status === 'announced')
	return new Set(denials.flatMap(({ alerts: [first] }) => first?.data.contradicts ?? []))
}

function byPlace(one: Announcement, other: Announcement): number {
	const [first, second] = [one, other].map(({ id, alerts: [alert] }) => {
		const position = Number(/:log_(\d+):/.exec(id)?.[1] ?? 0)
		return [alert?.data.txIndex ?? 0, position] as const
	})
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	const [txIndex = 0, position = 0] = first ?? []
	const [otherIndex = 0, otherPosition = 0] = second ?? []
	return txIndex - otherIndex || position - otherPosition
}

function ofControl(watch: Address, announcements: ReadonlyMap<string, Announcement>): readonly Announcement[] {
	return [...announcements.values()].filter(
		({ id, status, alerts: [first] }) =>
			status === 'announced' && first?.data.kind === 'control' && addressOfId(id) === watch,
	)
}

function isOfLog(id: string): boolean {
	return id.split(':')[2]?.startsWith('log_') === true
}

/** The value after a change; of a member that was removed, the member. */
function resultOf(one: Partial<Pick<ControlChanged, 'action' | 'previous' | 'current'>> | undefined): string | null {
	const value = (one?.action === 'removed' ? one.previous : one?.current)?.toLowerCase() ?? null
	return value === '0' ? null : value
}
