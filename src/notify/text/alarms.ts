/** What must not be overlooked: how subjects begin, and what is framed in a mail. */

import { isDigest } from '../../core/messageKinds.js'
import type { AlertData, DigestedAlert, Message } from '../../model/alert.js'

/** As subjects begin, the gravest first. */
export const marks = ['LOOK-ALIKE', 'UNEXPLAINED', 'DELEGATION', 'LOW', 'HIGH'] as const
type Mark = (typeof marks)[number]

/** What must not be overlooked among others; nothing of what is taken back. */
export function marksOf({ type, data }: Pick<DigestedAlert, 'type' | 'data'>): readonly Mark[] {
	if (type === 'alert.removed') return []
	const { lookalike, kind, crossed } = data
	return [
		...(lookalike === undefined ? [] : (['LOOK-ALIKE'] as const)),
		...(kind === 'unexplained' ? (['UNEXPLAINED'] as const) : []),
		...(kind === 'delegation' ? (['DELEGATION'] as const) : []),
		...(kind === 'balance' ? ([crossed === 'below' ? 'LOW' : 'HIGH'] as const) : []),
	]
}

/** What must not be overlooked, by the words that begin it after the network's name. */
const alarming = new RegExp(
	'^(\\[TEST\\] )?(\\[[^\\]]*\\] )?' +
		'(UNEXPLAINED|LOOK-ALIKE|DELEGATION|LOW|HIGH|STALLED|GAP|NOT IN EFFECT|NOT DELIVERED|RETRACTED)\\b',
)

/** Of a subject, or of a sentence of a page: whether it is about what must not be overlooked. */
export function isAlarming(subject: string): boolean {
	return alarming.test(subject)
}

/** Whether a message is, or holds, what must not be overlooked. */
export function isMarked({ type, data }: Message): boolean {
	if (isDigest(data)) return data.alerts.some((alert) => marksOf(alert).length > 0)
	return (
		type.startsWith('alert.') && 'txHash' in data && marksOf({ type: type as DigestedAlert['type'], data }).length > 0
	)
}

const lookalikeNote =
	'The other side is made to be taken for an address that you know: its first and last digits agree. ' +
	'Compare every digit before you pay it, and copy no address from this message or from a wallet’s history.'

/** What an alert must not be read without; once it is explained, nothing of the kind is left. */
export function alarmsOf(type: Message['type'], data: AlertData): readonly string[] {
	const { lookalike, kind } = data
	if (lookalike !== undefined) {
		// One below the other: far apart nobody sees where they part.
		const address = data.direction === 'in' ? data.from : (data.contractAddress ?? data.to)
		return [lookalikeNote, ...(address === null ? [] : [`This one: ${address}`, `You know: ${lookalike.of}`])]
	}
	return kind === 'unexplained' && type !== 'alert.removed' ? [unexplainedNote] : []
}

const unexplainedNote =
	'Coins moved, and nothing that you were sent says why: a node leaves something out, or the chain moved them in a ' +
	'way that leaves no trace. Look at this address by other means before you trust its balance.'
