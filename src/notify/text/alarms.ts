/** What must not be overlooked: how subjects begin, and what is framed in a mail. */

import type { AlertData } from '../../model/alert.js'

/** As subjects begin, the gravest first. */
export const marks = ['LOOK-ALIKE', 'UNEXPLAINED', 'DELEGATION'] as const

/** What must not be overlooked among others. */
export function marksOf({ lookalike, kind }: AlertData): readonly string[] {
	return [
		...(lookalike === undefined ? [] : ['LOOK-ALIKE']),
		...(kind === 'unexplained' ? ['UNEXPLAINED'] : []),
		...(kind === 'delegation' ? ['DELEGATION'] : []),
	]
}

const lookalikeNote =
	'The other side is made to be taken for an address that you know: its first and last digits agree. ' +
	'Compare every digit before you pay it, and copy no address from this message or from a wallet’s history.'

/** What an alert must not be read without. */
export function alarmsOf({ lookalike, kind }: AlertData): readonly string[] {
	if (lookalike !== undefined) return [lookalikeNote]
	return kind === 'unexplained' ? [unexplainedNote] : []
}

const unexplainedNote =
	'Coins moved, and nothing that you were sent says why: a node leaves something out, or the chain moved them in a ' +
	'way that leaves no trace. Look at this address by other means before you trust its balance.'
