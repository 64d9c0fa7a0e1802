/** An alert in one sentence, for subjects, chats and the first line of a mail. */

import { printable } from '../../base/printable.js'
import { isAlert, isDigest, isUndelivered } from '../../core/messageKinds.js'
import type { AlertData, DigestData, DigestedAlert, Message, SystemData, UndeliveredData } from '../../model/alert.js'
import { isImitation, marks, marksOf } from './alarms.js'
import { tokenHappening } from './token.js'

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

/** In a subject, so that nobody takes it for something of now. */
function lateness({ late, blockTimestamp }: AlertData): string {
	return late ? ` (late: of ${blockTimestamp.slice(0, 16).replace('T', ' ')} UTC)` : ''
}

/** What one alert says: `RETRACTED: Treasury received …` when it is taken back. */
export function sentence({ type, data }: { readonly type: Message['type']; readonly data: AlertData }): string {
	const mark = isImitation(data) ? 'LOOK-ALIKE: ' : ''
	return `${mark}${type === 'alert.removed' ? 'RETRACTED: ' : ''}${happening(data)}`
}

/** `37 alerts: Treasury and 3 others`; `LOOK-ALIKE: among 37 alerts: Treasury` where one must not be overlooked. */
function digestHeadline({ alerts, held }: DigestData): string {
	const [first = '', ...others] = new Set(alerts.map(({ data }) => watchName(data)))
	const more = others.length === 0 ? '' : ` and ${others.length} ${others.length === 1 ? 'other' : 'others'}`
	const found = new Set(alerts.flatMap(marksOf))
	const marked = marks.filter((mark) => found.has(mark))
	const begin = marked.length === 0 ? '' : `${marked.join(', ')}: among `
	return `${begin}${alerts.length} alerts${held === undefined ? '' : ' that were held'}: ${first}${more}`
}

/** `ethereum, base` */
export function networksOf({ alerts }: DigestData): string {
	return [...new Set(alerts.map(({ data }) => printable(data.network)))].join(', ')
}

export interface NumberedAlert {
	readonly says: string
	readonly title: string
	readonly alert: DigestedAlert
}

/** The alerts with the number that each is shown under, from 1 on. */
export function numbered({ alerts }: DigestData): readonly NumberedAlert[] {
	const isMixed = new Set(alerts.map(({ data }) => data.network)).size > 1
	return alerts.map((alert, index) => {
		const network = isMixed ? `[${printable(alert.data.network)}] ` : ''
		const says = `${network}${sentence(alert)}`
		return { says, title: `${index + 1}. ${says}`, alert }
	})
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
	if (ends !== undefined) return `Recovered: nothing is left of what ${who} refused`
	const messages = count === 1 ? '1 message' : `${count} messages`
	if (state === 'dead') return `NOT DELIVERED: ${who} refuses messages; they are sent to you instead`
	return `NOT DELIVERED: ${who} takes nothing until somebody fixes it; ${messages} ${count === 1 ? 'waits' : 'wait'}`
}

/** `Treasury received 1.5 ETH from 0x1234…abcd`; a label stands for an address wherever one is known. */
export function happening(data: AlertData): string {
	const subject = watchName(data)
	const other = counterparty(data)
	if (data.token !== undefined) return tokenHappening(data, data.token, subject, other)
	const amount = `${data.value} ${printable(data.asset ?? '', 20)}`
	if (data.kind === 'deployment') {
		const endowment = data.valueWei === '0' ? '' : ` with ${amount}`
		if (data.direction === 'in') return `${subject} was deployed by ${other}${endowment}`
		return `${subject} deployed a contract at ${other}${endowment}`
	}
	if (data.kind === 'withdrawal') return `${subject} received ${amount} as a withdrawal from staking`
	if (data.kind === 'income') {
		return `${subject} earned ${amount} in priority fees as the author of block ${data.blockNumber}`
	}
	if (data.kind === 'balance') {
		const isLow = data.crossed === 'below'
		const limit = `${data.threshold} ${printable(data.asset ?? '', 20)}`
		const moved = `the balance of ${subject} ${isLow ? 'fell' : 'rose'} to ${amount}`
		return `${isLow ? 'LOW' : 'HIGH'}: ${moved}, ${data.crossed} ${limit}`
	}
	if (data.kind === 'delegation') return delegated(data, subject)
	if (data.kind === 'unexplained') {
		return (
			`UNEXPLAINED: the balance of ${subject} ${data.direction === 'in' ? 'rose' : 'fell'} by ${amount}, ` +
			'and nothing that was told of says why'
		)
	}
	if (data.direction === 'self') return `${subject} sent ${amount} to itself`
	if (data.frameType === 'reward') return `${subject} received ${amount} as a block reward`
	const how = data.frameType === 'suicide' ? ' (a contract destroyed itself)' : ''
	return data.direction === 'in'
		? `${subject} received ${amount} from ${other}${how}`
		: `${subject} sent ${amount} to ${other}${how}${startedBy(data)}`
}

/** Whoever the delegate's code lets can spend from the address. */
function delegated({ delegate, previous, confirmed }: AlertData, subject: string): string {
	if (confirmed === false) {
		const what = delegate == null ? 'an end of its delegation' : `a delegation to ${shortAddress(delegate)}`
		return `DELEGATION: ${subject} signed ${what}, which is in the chain; whether it took effect was not asked`
	}
	const before = previous == null ? '' : shortAddress(previous)
	if (delegate == null)
		return `DELEGATION: ${subject} is delegated no more${before === '' ? '' : ` (to ${before} before)`}`
	const instead = before === '' ? '' : `; before: ${before}`
	return `DELEGATION: ${subject} is delegated to ${shortAddress(delegate)}, whose code can spend from it${instead}`
}

/**
 * A payment that the watch did not send itself: usual for a contract, and what a plain address looks like whose keys
 * or delegation somebody else uses.
 */
function startedBy({ initiator, from, to }: AlertData): string {
	if (initiator === undefined || initiator === from) return ''
	const who = initiator === to ? 'the recipient' : shortAddress(initiator)
	return `, in a transaction that ${who} started`
}

function watchName({ watch }: AlertData): string {
	const label = printable(watch.label ?? '')
	return label === '' ? shortAddress(watch.address) : label
}

function counterparty(data: AlertData): string {
	const label = printable(data.counterpartyLabel ?? '')
	if (label !== '') return label
	const address = data.direction === 'in' ? data.from : (data.contractAddress ?? data.to)
	return address === null ? 'nobody' : shortAddress(address)
}

/** `0x1234…abcd` */
function shortAddress(address: string): string {
	return `${address.slice(0, 6)}…${address.slice(-4)}`
}
