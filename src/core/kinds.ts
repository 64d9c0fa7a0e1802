import type { Kind, WatchIndex } from '../model/watch.js'

/** All that can be told, in the order in which people read of them. */
export const allKinds = Object.freeze([
	'transfer',
	'deployment',
	'token',
	'withdrawal',
	'delegation',
	'income',
	'balance',
	'unexplained',
] as const satisfies readonly Kind[])

/** Told where nothing is said: income comes with each block that a watch makes. */
export const usualKinds: readonly Kind[] = Object.freeze(allKinds.filter((kind) => kind !== 'income'))

/** Found out once: there may be many watches. */
const wanted = new WeakMap<WatchIndex, Map<Kind, boolean>>()

/** Whether any watch is told of this kind. */
export function isKindWanted(watches: WatchIndex, kind: Kind): boolean {
	const known = wanted.get(watches) ?? new Map<Kind, boolean>()
	wanted.set(watches, known)
	let isWanted = known.get(kind)
	if (isWanted !== undefined) return isWanted
	isWanted = false
	// A million watches say a few things: they are not looked at one by one.
	for (const list of watches.rules === undefined ? watches.values() : [watches.rules()]) {
		isWanted = list.some(({ kinds }) => kinds.includes(kind))
		if (isWanted) break
	}
	known.set(kind, isWanted)
	return isWanted
}
