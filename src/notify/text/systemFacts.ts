/** Content of system messages: about a network, or about a receiver that accepts nothing. */

import { printable } from '../../base/text/printable.js'
import { blocksOf, type Fact, fact } from '../../kinds/fact.js'
import type { SystemData, UndeliveredData } from '../../model/alert.js'
import { utcInWords } from './factLines.js'

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

/** Start of the sentence that says what the operator should do. */
export const toDo = 'To do: '

/** Splits a reason from its instructions, so that these stand apart and are not cut off. */
export function withToDo(reason: string): readonly string[] {
	const [why = '', ...remedies] = reason.split(` ${toDo}`)
	return [printable(why, 500), ...remedies.map((one) => `${toDo}${printable(one, 500)}`)]
}

export const whatNow = {
	parked: [
		`${toDo}put right what the reason below says, at the receiver or in its settings; if these or its secret ` +
			'changed, restart tracewatch.',
		'What waits is kept, and each alert that is refused is sent to you too. After a minute, and later every quarter ' +
			'of an hour or when the receiver says, one message is tried; as soon as one is accepted, all of them are. ' +
			'"tracewatch deliveries" lists them.',
	],
	failing: [
		`${toDo}see whether the receiver runs and can be reached from this machine.`,
		'What waits is kept, and retried for 72 hours; then each message is sent to you instead. ' +
			'"tracewatch deliveries" lists it.',
	],
	dead: [
		'These messages were refused again and again, or were tried for 72 hours. Each alert among them was sent to you. ' +
			'"tracewatch deliveries" lists them; "retry" sends them again, "drop" discards them.',
	],
} as const

export const nothingLost =
	'Nothing is lost: what happens meanwhile is sent late, as soon as blocks can be scanned again. ' +
	'"tracewatch status" says how it stands.'

export function undeliveredFacts(data: UndeliveredData): readonly Fact[] {
	const { id, receiver, recipient, state, count, reason, since, ends } = data
	return [
		fact('Receiver', printable(receiver)),
		...(recipient === null ? [] : [fact('Recipient', printable(recipient))]),
		...(ends === undefined
			? [fact(state === 'dead' ? 'Given up so far' : 'Waiting', String(count)), fact('Reason', printable(reason, 500))]
			: []),
		fact('Since', utcInWords(since)),
		fact('Why you get this', `this is the fallback of ${printable(receiver)}`),
		fact('Alert id', id),
	]
}
