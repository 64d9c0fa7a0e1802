/** Alarms: messages that must not be overlooked; their marks in subjects, and the frame in mails. */

import { isAlert, isDigest } from '../../core/outbox/messageKinds.js'
import { isImitation } from '../../core/outbox/urgency.js'
import { allRecords, recordOf } from '../../kinds/all.js'
import type { AlertData, DigestedAlert, Message } from '../../model/alert.js'

const alarms = allRecords
	.flatMap(({ alarm }) => (alarm === null ? [] : [alarm]))
	.sort((one, other) => one.rank - other.rank)

/** Words at the start of a subject, the gravest first. */
export const marks: readonly string[] = ['LOOK-ALIKE', ...alarms.flatMap((alarm) => alarm.marks)]

type Told = Pick<Message, 'type'> & Pick<DigestedAlert, 'data'>

/** The marks of an alert; none for a retraction. */
export function marksOf({ type, data }: Told): readonly string[] {
	if (type === 'alert.removed') return []
	const own = recordOf(data.kind).alarm?.markOf(data)
	return [...(isImitation(data) ? ['LOOK-ALIKE'] : []), ...(own === undefined ? [] : [own])]
}

/** Matches the marks at the start of a subject, after the network's name. */
const alarming = new RegExp(
	`^(\\[TEST\\] )?(\\[[^\\]]*\\] )?(${marks.join('|')}|STALLED|GAP|NOT IN EFFECT|NOT DELIVERED|RETRACTED)\\b`,
)

/** Whether a subject, or a sentence on a page, is about an alarm. */
export function isAlarming(subject: string): boolean {
	return alarming.test(subject)
}

/** Whether a message is an alarm, or contains one. */
export function isMarked({ type, data }: Message): boolean {
	if (isDigest(data)) return data.alerts.some((alert) => marksOf(alert).length > 0)
	return isAlert(data) && marksOf({ type, data }).length > 0
}

const lookalikeNote =
	'The other side is made to be taken for an address that you know: its first and last digits agree. ' +
	'Compare every digit before you pay it, and copy no address from this message or from a wallet’s history.'

/** Lines for the top of the message. */
export function alarmsOf(type: Message['type'], data: AlertData): readonly string[] {
	const { lookalike, kind } = data
	const own = recordOf(kind).warnings(data, type === 'alert.removed')
	if (lookalike === undefined) return own
	// One below the other, so that the reader can compare them.
	const address = data.direction === 'in' ? data.from : (data.contractAddress ?? data.to)
	if (address === null) return [lookalikeNote, ...own]
	return [
		lookalikeNote,
		`This one: ${address}`,
		`You know: ${lookalike.of}`,
		`Differs:  ${differing(address, lookalike.of)}`,
		...own,
	]
}

/** The digits of one that the other does not have in their place; a dot for each that it has. */
function differing(one: string, other: string): string {
	return [...one].map((digit, at) => (digit.toLowerCase() === other.charAt(at).toLowerCase() ? '·' : digit)).join('')
}
