import type { Kind } from '../model/watch.js'

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
