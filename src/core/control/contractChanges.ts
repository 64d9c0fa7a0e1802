/** Compares what a contract holds with what is remembered of it. */

import type { ContractValues } from '../../model/contract.js'
import type { Address, Hex } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import { type Named, placeOf, shownValue } from './places.js'

export interface Held {
	readonly isSafe: boolean
	readonly values: ContractValues
}

export interface ContractChanges {
	/** What to remember anew; empty text: the place has no value any more. */
	readonly values: Readonly<Record<string, Hex | ''>>
	/** What to report, one for each thing that changed. */
	readonly reported: readonly ControlSeen[]
}

/** A change that storage shows, before it is known in which block. */
export type ControlSeen = Pick<
	ControlChanged,
	'change' | 'action' | 'contract' | 'previous' | 'current' | 'slot' | 'member' | 'place'
>

/**
 * A place that was not read before is learnt without a report: a new one of `reads`, a function that did not answer,
 * the lists of a contract that was no Safe, and what another beacon or admin holds.
 */
export function contractChanges(
	watch: Address,
	before: Held,
	now: Held,
	reads: readonly string[] = [],
): ContractChanges {
	const values: Record<string, Hex | ''> = {}
	const seen: (ControlSeen & { readonly named: Named })[] = []
	for (const name of new Set([...Object.keys(before.values), ...Object.keys(now.values)])) {
		const [earlier, later] = [before.values[name], now.values[name]]
		if (earlier === later) continue
		values[name] = later ?? ''
		const named = placeOf(name)
		if (!isReported(named, before, now, reads)) continue
		const { change, member, slot, shape, through } = named
		const contract = through === null ? watch : ((now.values[through] ?? watch) as Address)
		const action = member === null ? 'set' : later === undefined ? 'removed' : 'added'
		const [previous, current] = member === null ? [earlier, later] : [earlier && member, later && member]
		seen.push({
			named,
			change,
			action,
			contract,
			previous: shownValue(previous, shape),
			current: shownValue(current, shape),
			slot,
			member,
			place: name,
		})
	}
	return { values, reported: oneForEach(seen) }
}

function isReported({ name, slot, member, through, change }: Named, before: Held, now: Held, reads: readonly string[]) {
	const isNew = before.values[name] === undefined
	if (through !== null) return !isNew && before.values[through] === now.values[through]
	if (reads.includes(name)) return !isNew
	if (change === 'value' && !name.startsWith('owner-')) return false
	if (member !== null || name === 'safe.singleton' || name === 'safe.threshold') return before.isSafe
	return slot !== null || !isNew
}

/** A new owner is no longer pending; and a proxy repeats what its beacon answers. */
function isPartOf(one: ControlSeen, all: readonly ControlSeen[]): boolean {
	const { change, contract, slot, current } = one
	if (change === 'pendingOwner' && current === null)
		return all.some((other) => other.change === 'owner' && other.contract === contract)
	const isSame = (other: ControlSeen) => other.change === change && other.current === current
	return slot === null && one.member === null && all.some((other) => isSame(other) && isBehind(other, one))
}

/** Whether another contract was asked, on which the first depends. */
function isBehind({ place }: ControlSeen, one: ControlSeen): boolean {
	return one.place !== place && place !== null && placeOf(place).through !== null && !one.place?.includes(' ')
}

/** A slot and a function that tell the same are one change; otherwise the second is a value of its own. */
function oneForEach(seen: readonly (ControlSeen & { readonly named: Named })[]): readonly ControlSeen[] {
	const byWhat = new Map<string, ControlSeen>()
	const slotsFirst = [...seen.filter(({ slot }) => slot !== null), ...seen.filter(({ slot }) => slot === null)]
	for (const { named: _, ...one } of slotsFirst) {
		const { change, contract, member, previous, current, place } = one
		const key = [change, contract, member ?? (change === 'value' ? place : '')].join()
		const known = byWhat.get(key)
		if (known === undefined) byWhat.set(key, one)
		else if (orNone(known.previous) !== orNone(previous) || orNone(known.current) !== orNone(current))
			byWhat.set(`${key},${place}`, { ...one, change: 'value' })
	}
	const all = [...byWhat.values()]
	return all.filter((one) => !isPartOf(one, all))
}

/** A function answers 0 where a slot is empty. */
function orNone(value: string | null): string | null {
	return value === '0' ? null : value
}
