/** What a message about tracewatch itself says: of a network, or of a receiver that takes nothing. */

import { printable } from '../../base/printable.js'
import type { SystemData, UndeliveredData } from '../../model/alert.js'
import { blocksOf, type Fact, fact, utcInWords } from './fact.js'

export function systemFacts(data: SystemData): readonly Fact[] {
	return [
		fact('Network', `${printable(data.network)} (chain id ${data.chainId})`),
		...(data.fromBlock === undefined ? [] : [fact('Blocks', blocksOf(data))]),
		...(data.acceptedAt === undefined ? [] : [fact('Accepted', data.acceptedAt)]),
		fact('Checkpoint', data.checkpoint === null ? 'none yet' : `block ${data.checkpoint}`),
		fact('Head', data.head === null ? 'unknown' : `block ${data.head}`),
		fact('Why you get this', `a watch on ${printable(data.network)} sends its alerts here`),
		fact('Alert id', data.id),
	]
}

/** How a sentence begins that says what a person does about it. */
export const toDo = 'To do: '

/** A reason, and what to do about it apart from it: at night nobody finds it at the end of a paragraph, or cut off. */
export function withToDo(reason: string): readonly string[] {
	const [why = '', ...remedies] = reason.split(` ${toDo}`)
	return [printable(why, 500), ...remedies.map((one) => `${toDo}${printable(one, 500)}`)]
}

export const whatNow = {
	parked: [
		`${toDo}put right what the reason below says, at the receiver or in its settings; if these or its secret ` +
			'changed, restart tracewatch.',
		'What waits is kept and tried again when tracewatch starts, every quarter of an hour, ' +
			'and as soon as the receiver takes anything. "tracewatch deliveries" lists it.',
	],
	dead: ['Each message that it refused for good is sent to you by itself. "tracewatch deliveries" lists them.'],
} as const

export const nothingLost =
	'Nothing is lost: what happens meanwhile is sent late, as soon as blocks can be scanned again. ' +
	'"tracewatch status" says how it stands.'

export const receiverWorks =
	'All that the receiver refused was delivered, or discarded by hand. There is nothing left to do.'

export function undeliveredFacts(data: UndeliveredData): readonly Fact[] {
	const { id, receiver, recipient, state, count, reason, since, ends } = data
	return [
		fact('Receiver', printable(receiver)),
		...(recipient === null ? [] : [fact('Recipient', printable(recipient))]),
		...(ends === undefined
			? [fact(state === 'dead' ? 'Refused so far' : 'Waiting', String(count)), fact('Reason', printable(reason, 500))]
			: []),
		fact('Since', utcInWords(since)),
		fact('Why you get this', `this is the fallback of ${printable(receiver)}`),
		fact('Alert id', id),
	]
}
