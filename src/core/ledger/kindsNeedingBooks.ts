/** Names the kinds that watches ask for but that have no alerts without books. Pure. */

import { allRecords, usualKinds } from '../../kinds/all.js'
import type { Kind } from '../../model/kind.js'
import type { WatchRules } from '../../model/watch.js'
import { MOST_BOOKS } from './books.js'

const ofBooks: readonly Kind[] = allRecords.flatMap(({ kind, books }) => (books === 'needed' ? [kind] : []))

/** Why there are no books, and what to do about it. `perhaps none`: no endpoint was asked yet. */
const reasons = {
	off: 'and `proof: off` keeps none: take that out',
	'too many': 'and none are kept of that many addresses: watch fewer',
	'perhaps none':
		'which a private network keeps only where blocks name their access lists (EIP-7928): ' +
		'`doctor` says whether they do; where not, take `private` out',
	'no lists': 'which a private network keeps by access lists (EIP-7928), and its blocks name none: take `private` out',
	'lists not given':
		'which a private network keeps by access lists (EIP-7928), and no endpoint gives right ones: ' +
		'add one with eth_getBlockAccessList, or take `private` out',
	'no balances': 'and no endpoint gives balances of recent blocks: add one that does',
} as const

export type NoBooks = keyof typeof reasons

export interface BooksSetting {
	readonly keepsBooks: boolean
	/** Whether books are kept by access lists alone, as on a private network. */
	readonly keepsListedBooks: boolean
}

/** The reason according to the settings alone; null: books are kept. */
export function noBooksBy(network: BooksSetting, watched: number): NoBooks | null {
	if (!network.keepsBooks && !network.keepsListedBooks) return 'off'
	if (watched > MOST_BOOKS) return 'too many'
	return network.keepsBooks ? null : 'perhaps none'
}

/** Null if no watch of the network names such a kind. Default kinds are not mentioned. */
export function unreportedInWords(
	rules: readonly Pick<WatchRules, 'network' | 'kinds'>[],
	network: string,
	why: NoBooks,
): string | null {
	const naming = rules.filter((rule) => rule.network === network && !isUsual(rule.kinds))
	const unfound = ofBooks.filter((kind) => naming.some(({ kinds }) => kinds.includes(kind)))
	if (unfound.length === 0) return null
	const names = unfound.map((kind) => `\`${kind}\``).join(' and ')
	const [are, them] = unfound.length === 1 ? ['is', 'it'] : ['are', 'them']
	return `${names} ${are} found by books alone, ${reasons[why]}, or leave ${them} out of \`kinds\``
}

function isUsual(kinds: readonly Kind[]): boolean {
	return kinds.length === usualKinds.length && usualKinds.every((kind) => kinds.includes(kind))
}
