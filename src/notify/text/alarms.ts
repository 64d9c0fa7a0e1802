/** What must not be overlooked: how subjects begin, and what is framed in a mail. */

import { printable } from '../../base/printable.js'
import { isDigest } from '../../core/messageKinds.js'
import type { AlertData, DigestedAlert, Message } from '../../model/alert.js'
import type { TokenData } from '../../model/token.js'

/** As subjects begin, the gravest first. */
export const marks = ['LOOK-ALIKE', 'UNEXPLAINED', 'DELEGATION', 'LOW', 'HIGH'] as const
type Mark = (typeof marks)[number]

/** What must not be overlooked among others; nothing of what is taken back. */
export function marksOf({ type, data }: Pick<DigestedAlert, 'type' | 'data'>): readonly Mark[] {
	if (type === 'alert.removed') return []
	const { kind, crossed } = data
	return [
		...(isImitation(data) ? (['LOOK-ALIKE'] as const) : []),
		...(kind === 'unexplained' ? (['UNEXPLAINED'] as const) : []),
		...(kind === 'delegation' ? (['DELEGATION'] as const) : []),
		...(kind === 'balance' ? ([crossed === 'below' ? 'LOW' : 'HIGH'] as const) : []),
	]
}

/** Somebody made the other side, or the token, to be taken for what the reader knows. */
export function isImitation({ lookalike, token }: AlertData): boolean {
	return lookalike !== undefined || token?.imitates !== undefined
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
	const { lookalike, kind, token } = data
	const ofToken = token === undefined ? [] : tokenAlarms(token)
	if (lookalike !== undefined) {
		// One below the other: far apart nobody sees where they part.
		const address = data.direction === 'in' ? data.from : (data.contractAddress ?? data.to)
		const pair = address === null ? [] : [`This one: ${address}`, `You know: ${lookalike.of}`]
		return [lookalikeNote, ...pair, ...ofToken]
	}
	return kind === 'unexplained' && type !== 'alert.removed' ? [unexplainedNote] : ofToken
}

/** Of a token that nobody but its own contract speaks for. */
function tokenAlarms({ known, imitates, address, standard }: TokenData): readonly string[] {
	if (known) return []
	if (imitates === undefined) return [standard === 'erc20' ? unknownNote : unknownItemNote]
	const name = printable(imitates.symbol, 20)
	if (imitates.address === null)
		return [`This is not ${name}, the coin of this network, but a token that calls itself so. ${unknownNote}`]
	return [
		`This is not the ${name} that you know, but another contract that calls itself so. ${unknownNote}`,
		`This one: ${address}`,
		`You know: ${imitates.address}`,
	]
}

const claim =
	'open no site that it names, approve nothing and send nothing for it. It may have been sent only so that you do.'
const unknownNote = `Nobody vouches for this token, and its contract may tell of transfers that were none: ${claim}`
const unknownItemNote = `Nobody vouches for this item, and its contract may tell of transfers that were none: ${claim}`

const unexplainedNote =
	'Coins moved, and nothing that you were sent says why: a node leaves something out, or the chain moved them in a ' +
	'way that leaves no trace. Look at this address by other means before you trust its balance.'
