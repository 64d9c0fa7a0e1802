import type { Part } from '../../model/chain.js'
import type { Contract } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import type { ControlChange } from '../../model/ownFields.js'
import type { Announcement } from '../../model/state.js'
import { controlRowOf } from '../events/controlLogs.js'
import { controlEventsIn, deniedIds } from './oneChange.js'
import { placeOf, shownValue } from './places.js'

/**
 * The part with the changes of control that are reported: not what was in force at the first look, nor an event that
 * means something else in this contract. Each gets the value before it where the last reading has it, since an event
 * may name another or none.
 */
export function withKnown(
	part: Part,
	contracts: ReadonlyMap<Address, Contract>,
	announcements: ReadonlyMap<string, Announcement>,
	isBackfill = false,
): Part {
	if (part.control === undefined || part.control.length === 0) return part
	const creations = creationsIn(part)
	/** By contract and change: what the last event of the part has set. */
	const set = new Map<string, string | null>()
	const control: ControlChanged[] = []
	for (const event of part.control) {
		const entry = contracts.get(event.watch)
		const isOld = !isBackfill && entry !== undefined && event.block.number < (entry.logsFrom ?? entry.since + 1n)
		if (isOld || creations.has(`${event.txHash} ${event.watch}`)) continue
		const { onlyOf } = controlRowOf(event.event) ?? {}
		if (onlyOf !== undefined && entry?.values[onlyOf] === undefined) continue
		const { place, action } = event
		if (place === null || action !== 'set') {
			control.push(event)
			continue
		}
		const key = `${event.contract} ${event.change}`
		const before = set.has(key) ? set.get(key) : valueBefore(event, entry, announcements)
		set.set(key, event.current)
		control.push(before === undefined ? event : { ...event, previous: before })
	}
	return { ...part, control }
}

/** Undefined: what the event itself names, since no reading knows better. */
function valueBefore(
	event: ControlChanged,
	entry: Contract | undefined,
	announcements: ReadonlyMap<string, Announcement>,
): string | null | undefined {
	const { watch, change, previous, block } = event
	if (entry === undefined || entry.readAt >= block.number) return undefined
	// Storage may be read later than the next event is seen.
	const span = { from: entry.readAt + 1n, to: block.number - 1n }
	const denied = deniedIds(announcements)
	const latest = controlEventsIn(watch, span, announcements).findLast(
		({ id, alerts: [first] }) => first?.data.change === change && first.data.action === 'set' && !denied.has(id),
	)
	const said = latest?.alerts[0]?.data.current
	if (said !== undefined) return said === null ? null : said.toLowerCase()
	const held = heldValues(entry, change)
	if (held.length === 0 || (previous !== null && held.includes(previous))) return undefined
	return held.find((value) => value !== null) ?? previous
}

/** What the places of a value hold, those of a slot first; null: nothing. */
function heldValues({ values }: Contract, change: ControlChange): readonly (string | null)[] {
	const places = Object.keys(values).map(placeOf)
	const own = places.filter((place) => place.change === change && place.through === null && place.member === null)
	const slotsFirst = [...own.filter(({ slot }) => slot !== null), ...own.filter(({ slot }) => slot === null)]
	return slotsFirst.map(({ name, shape }) => shownValue(values[name], shape))
}

/** By transaction and contract. What a contract is created with is part of its deployment. */
function creationsIn({ transactions }: Part): ReadonlySet<string> {
	const created = transactions.flatMap(({ txHash, frames }) =>
		frames.flatMap(({ type, to }) => (type === 'create' || type === 'create2' ? [`${txHash} ${to}`] : [])),
	)
	return new Set(created)
}
