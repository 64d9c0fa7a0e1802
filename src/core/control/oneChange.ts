import type { ContractValues } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import type { Announcement } from '../../model/state.js'
import { addressOfId } from '../alerts/alertId.js'
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
		const same = eventsOf(one.watch, { from: one.fromBlock, to: one.block.number }, announcements).filter((entry) => {
			const data = entry.alerts[0]?.data
			const isSame = data?.change === one.change && data.contract?.toLowerCase() === one.contract
			return isSame && resultOf(data) === resultOf(one)
		})
		if (same.length === 0) news.push(one)
		for (const entry of same) {
			if (entry.alerts.every(({ data }) => data.evidence !== 'event')) continue
			const alerts = entry.alerts.map((alert) => ({ ...alert, data: { ...alert.data, evidence: 'both' as const } }))
			confirmed.set(entry.id, { ...entry, alerts })
		}
	}
	return { news, confirmed: [...confirmed.values()] }
}

/** Values of one watch before and after some blocks. */
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

/**
 * The announced events that storage denies. Only the last event of a value is compared, and only where a place held the
 * value that it names as the previous one, or changed: other places may belong to code that does not use them.
 */
export function deniedEvents(
	{ watch, before, now, span }: ReadValues,
	announcements: ReadonlyMap<string, Announcement>,
): readonly Denied[] {
	const last = new Map<ControlChanged['change'], Announcement>()
	for (const entry of eventsOf(watch, span, announcements)) {
		const data = entry.alerts[0]?.data
		if (data?.action === 'set' && data.change !== undefined && data.contract?.toLowerCase() === watch)
			last.set(data.change, entry)
	}
	const denied: Denied[] = []
	for (const [change, entry] of last) {
		const data = entry.alerts[0]?.data
		const places = [...new Set([...Object.keys(before), ...Object.keys(now)])].map(placeOf)
		const own = places.filter((place) => place.change === change && place.through === null)
		const held = own.map((place) => ({
			place,
			previous: shownValue(before[place.name], place.shape),
			current: shownValue(now[place.name], place.shape),
		}))
		if (held.some(({ current }) => resultOf({ current }) === resultOf(data))) continue
		const live = held.find(({ previous }) => previous !== null && previous === data?.previous?.toLowerCase())
		if (live !== undefined) denied.push({ contradicts: entry.id, change, ...live })
	}
	return denied
}

/** Announced changes that logs of a watch showed in these blocks, in the order of the chain. */
function eventsOf(
	watch: Address,
	{ from, to }: ReadValues['span'],
	announcements: ReadonlyMap<string, Announcement>,
): readonly Announcement[] {
	return [...announcements.values()].filter(({ id, block, status, alerts: [first] }) => {
		const isIn = from <= block.number && block.number <= to && addressOfId(id) === watch
		return isIn && status === 'announced' && first?.data.kind === 'control' && id.split(':')[2]?.startsWith('log_')
	})
}

/** The value after a change; of a member that was removed, the member. */
function resultOf(one: Partial<Pick<ControlChanged, 'action' | 'previous' | 'current'>> | undefined): string | null {
	const value = (one?.action === 'removed' ? one.previous : one?.current)?.toLowerCase() ?? null
	return value === '0' ? null : value
}
