/** An alert in one sentence, for subjects, chats and the first line of a mail. */

import { counted } from '../../base/text/counted.js'
import { printable } from '../../base/text/printable.js'
import { alertsIn } from '../../core/outbox/digest.js'
import { isAlert, isDigest, isUndelivered } from '../../core/outbox/messageKinds.js'
import { isImitation } from '../../core/outbox/urgency.js'
import { recordOf } from '../../kinds/all.js'
import { watchName } from '../../kinds/phrases.js'
import type { AlertData, DigestData, FoldedAlerts, Message, SystemData, UndeliveredData } from '../../model/alert.js'
import { marks, marksOf } from './alarms.js'

/** `[ethereum] Treasury received 1.5 ETH from 0x1234…abcd` */
export function headline(message: Message): string {
	const { type, data } = message
	const mark = data.test === true || type === 'test' ? '[TEST] ' : ''
	if (isUndelivered(data)) return `${mark}${undelivered(data)}`
	if (isDigest(data)) return `${mark}[${networksOf(data)}] ${digestHeadline(data)}`
	const network = `[${printable(data.network)}]`
	if (!isAlert(data)) return `${mark}${network} ${systemHeadline(type, data)}`
	return `${mark}${network} ${sentence({ type, data })}${lateness(data)}`
}

/** For subjects, so that a late alert is not read as a new one. */
function lateness({ late, blockTimestamp }: AlertData): string {
	return late ? ` (late: of ${blockTimestamp.slice(0, 16).replace('T', ' ')} UTC)` : ''
}

/** One alert, `RETRACTED: Treasury received …` after a retraction; a label replaces an address where there is one. */
export function sentence({ type, data }: { readonly type: Message['type']; readonly data: AlertData }): string {
	const mark = isImitation(data) ? 'LOOK-ALIKE: ' : ''
	const retracted = type === 'alert.removed' ? 'RETRACTED: ' : ''
	return `${mark}${retracted}${recordOf(data.kind).sentence(data)}${foldedInWords(data)}`
}

/** `, and 212 more alerts (0.3 ETH in)` */
function foldedInWords({ folded }: AlertData): string {
	if (folded === undefined) return ''
	return `, and ${counted(folded.count, 'more alert')} (${sumsInWords(folded)})`
}

/** `0.3 ETH in, 5 of unknown tokens in`; at most `most` sums, 3 by default. */
export function sumsInWords({ sums }: FoldedAlerts, most = 3): string {
	const words = sums.slice(0, most).map(({ direction, asset, count, amount }) => {
		const what =
			amount === null || asset === null
				? `${count} of ${asset === null ? 'unknown tokens' : printable(asset, 20)}`
				: `${amount} ${printable(asset, 20)}`
		return `${what} ${direction === 'self' ? 'to itself' : direction}`
	})
	return [...words, ...(sums.length > most ? [`${sums.length - most} other sums`] : [])].join(', ')
}

/** `37 alerts: Treasury and 3 others`; `LOOK-ALIKE: among 37 alerts: Treasury` if one is an alarm. */
function digestHeadline(data: DigestData): string {
	const { alerts } = data
	const [first = '', ...others] = new Set(alerts.map(({ data }) => watchName(data)))
	const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`
	const found = new Set(alerts.flatMap(marksOf))
	const marked = marks.filter((mark) => found.has(mark))
	const begin = marked.length === 0 ? '' : `${marked.join(', ')}: among `
	return `${begin}${alertsIn({ data })} alerts: ${first}${more}`
}

/** `ethereum, base` */
export function networksOf({ alerts }: DigestData): string {
	return [...new Set(alerts.map(({ data }) => printable(data.network)))].join(', ')
}

function systemHeadline(type: Message['type'], data: SystemData): string {
	if (type === 'system.stalled') return 'STALLED: this network is not being watched at present'
	if (type === 'system.refused') return 'NOT IN EFFECT: the watchlists as edited are wrong; the last good ones stay'
	if (data.fromBlock !== undefined) return gapHeadline(type, data)
	if (data.ends === 'refused') return 'Recovered: the watchlists are right again and in effect'
	if (type === 'system.recovered') return 'Recovered: this network is being watched again'
	return printable(data.reason, 120)
}

function gapHeadline(type: Message['type'], { fromBlock, toBlock, acceptedAt }: SystemData): string {
	const blocks = fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`
	if (type === 'system.recovered') return `Recovered: ${blocks} could be read`
	if (acceptedAt !== undefined) return `GAP ACCEPTED: ${blocks} stay${fromBlock === toBlock ? 's' : ''} unread`
	return `GAP: ${blocks} cannot be read at present`
}

function undelivered({ receiver, recipient, state, count, ends }: UndeliveredData): string {
	const who = `${printable(receiver)}${recipient === null ? '' : ` (${printable(recipient)})`}`
	if (ends !== undefined)
		return state === 'failing'
			? `Recovered: ${who} accepts messages again, or none waits for it`
			: `Recovered: nothing is left of what ${who} refused`
	if (state === 'dead')
		return `NOT DELIVERED: ${who} did not accept messages, which were given up; they are sent to you instead`
	const wait = counted(count, 'message waits', 'messages wait')
	if (state === 'failing') return `NOT DELIVERED: ${who} has failed at every attempt for minutes; ${wait}`
	return `NOT DELIVERED: ${who} refuses messages; ${wait}, and what it refuses is sent to you too`
}
