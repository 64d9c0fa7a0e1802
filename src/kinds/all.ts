/** Values derived from the list of kinds. */

import type { Kind } from '../model/kind.js'
import type { Watch, WatchIndex } from '../model/watch.js'
import { records } from './list.js'
import type { KindRecord, SeenIn } from './record.js'
import { unknown } from './unknown.js'

export const allKinds: readonly Kind[] = Object.freeze(Object.keys(records) as Kind[])

/** The kinds of a watch that does not set `kinds`. */
export const usualKinds: readonly Kind[] = Object.freeze(allKinds.filter((kind) => records[kind].isDefault))

export const allRecords: readonly KindRecord[] = Object.freeze(Object.values(records))

/** The record of a kind; also works for a kind that only a later version defines. */
export function recordOf(kind: Kind): KindRecord {
	return records[kind] ?? unknown
}

/** Whether a watch asks what rules it, or what code it runs. */
export function asksForContracts({ kinds }: Pick<Watch, 'kinds'>): boolean {
	return kinds.some((kind) => recordOf(kind).ofContracts === true)
}

/** Where the event of an alert appears, by the kind and the third part of its id. */
export function seenInOf(kind: Kind, place: string): SeenIn {
	const record = recordOf(kind)
	return record.seenInAt?.(place) ?? record.seenIn
}

/** An object with `value(kind)` for each kind. */
export function perKind<T>(value: (kind: Kind) => T): Record<Kind, T> {
	return Object.fromEntries(allKinds.map((kind) => [kind, value(kind)])) as Record<Kind, T>
}

/** Caches the answers, since there may be many watches. */
const wanted = new WeakMap<WatchIndex, Map<Kind, boolean>>()

export function isKindWanted(watches: WatchIndex, kind: Kind): boolean {
	const known = wanted.get(watches) ?? new Map<Kind, boolean>()
	wanted.set(watches, known)
	let isWanted = known.get(kind)
	if (isWanted !== undefined) return isWanted
	isWanted = false
	// A million watches share a few rules: check the rules instead of each watch.
	for (const list of watches.rules === undefined ? watches.values() : [watches.rules()]) {
		isWanted = list.some(({ kinds }) => kinds.includes(kind))
		if (isWanted) break
	}
	known.set(kind, isWanted)
	return isWanted
}
