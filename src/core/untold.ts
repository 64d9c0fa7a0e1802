/** Kinds that watches name and that cannot be told where no books are kept. Pure. */

import type { Kind, WatchRules } from '../model/watch.js'
import { MOST_KEPT } from './books.js'
import { usualKinds } from './kinds.js'

/** What finds them is a balance that does not close without them. */
const ofBooks: readonly Kind[] = ['income', 'unexplained']

/** Why there are no books, and what to do about it. `perhaps none`: nobody was asked yet. */
const reasons = {
	off: 'and `proof: off` keeps none: take that out',
	'too many': `and none are kept of more than ${MOST_KEPT.toLocaleString('en')} addresses: watch fewer`,
	'perhaps none':
		'which a private network keeps only where blocks name their access lists (EIP-7928): ' +
		'`doctor` says whether they do; where not, take `private` out',
	'no lists': 'which a private network keeps by access lists (EIP-7928), and its blocks name none: take `private` out',
	'lists not given':
		'which a private network keeps by access lists (EIP-7928), and no endpoint gives right ones: ' +
		'add one with eth_getBlockAccessList, or take `private` out',
	'no balances': 'and no endpoint tells balances of recent blocks: add one that does',
} as const

export type NoBooks = keyof typeof reasons

export interface BooksSetting {
	readonly keepsBooks: boolean
	/** By access lists alone, as on a private network. */
	readonly keepsListedBooks: boolean
}

/** What the settings alone say; null: books are kept. */
export function noBooksBy(network: BooksSetting, watched: number): NoBooks | null {
	if (!network.keepsBooks && !network.keepsListedBooks) return 'off'
	if (watched > MOST_KEPT) return 'too many'
	return network.keepsBooks ? null : 'perhaps none'
}

/** Null where no watch of that network names such a kind: what stands by default is not named. */
export function untoldInWords(
	rules: readonly Pick<WatchRules, 'network' | 'kinds'>[],
	network: string,
	why: NoBooks,
): string | null {
	const naming = rules.filter((rule) => rule.network === network && !isUsual(rule.kinds))
	const untold = ofBooks.filter((kind) => naming.some(({ kinds }) => kinds.includes(kind)))
	if (untold.length === 0) return null
	const names = untold.map((kind) => `\`${kind}\``).join(' and ')
	const [are, them] = untold.length === 1 ? ['is', 'it'] : ['are', 'them']
	return `${names} ${are} found by books alone, ${reasons[why]}, or leave ${them} out of \`kinds\``
}

function isUsual(kinds: readonly Kind[]): boolean {
	return kinds.length === usualKinds.length && usualKinds.every((kind) => kinds.includes(kind))
}
