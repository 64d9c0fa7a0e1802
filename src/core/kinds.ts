import type { Kind } from '../model/watch.js'

/** All that can be told, in the order in which people read of them. */
export const allKinds = Object.freeze([
	'transfer',
	'deployment',
	'token',
	'withdrawal',
	'delegation',
	'balance',
	'unexplained',
] as const satisfies readonly Kind[])

/** Told where nothing is said. */
export const usualKinds: readonly Kind[] = allKinds
