/** Content of a message as a list, from which both text and HTML are made, so that both have the same content. */

import { printable } from '../../base/text/printable.js'
import { alertsIn } from '../../core/outbox/digest.js'
import { isAlert, isDigest, isUndelivered } from '../../core/outbox/messageKinds.js'
import { recordOf } from '../../kinds/all.js'
import { type Fact, fact } from '../../kinds/fact.js'
import type { AlertData, DigestData, Finality, Message } from '../../model/alert.js'
import { alarmsOf, marksOf } from './alarms.js'
import type { Row } from './digestTable.js'
import { utcInWords } from './factLines.js'
import { sentence, sumsInWords } from './sentence.js'
import { nothingLost, systemFacts, undeliveredFacts, whatNow, withToDo } from './systemFacts.js'

export interface Facts {
	/** Sentences before the list. */
	readonly notes: readonly string[]
	readonly facts: readonly Fact[]
	/** Alarms: some of the notes; for a digest, the alerts concerned. */
	readonly alarms: readonly string[]
	/** For a digest: its alerts in order, shown before the list. */
	readonly rows: readonly Row[]
}

export function factsOf(message: Message): Facts {
	const { type, data } = message
	const alarms = isAlert(data) ? alarmsOf(type, data) : []
	const notes = [
		...(data.test === true || type === 'test'
			? ['This is a test: nothing happened on any chain, and its addresses are invented.']
			: []),
		...(type === 'alert.removed' && isAlert(data) ? [recordOf(data.kind).retracted] : []),
		...alarms,
		...(data.insteadOf === undefined ? [] : [insteadInWords(type, printable(data.insteadOf))]),
	]
	const single = { alarms, rows: [] }
	if (isUndelivered(data)) {
		return {
			notes: [...notes, ...(data.ends === undefined ? whatNow[data.state] : [printable(data.reason, 500)])],
			facts: undeliveredFacts(data),
			...single,
		}
	}
	if (isDigest(data)) return digestFacts(data, notes)
	if (!isAlert(data)) {
		const stalled = type === 'system.stalled' ? [nothingLost] : []
		return { notes: [...notes, ...withToDo(data.reason), ...stalled], facts: systemFacts(data), ...single }
	}
	return { notes, facts: alertFacts(data), ...single }
}

function insteadInWords(type: Message['type'], receiver: string): string {
	if (type === 'alert.removed') return `${receiver} did not take the alert at once, so its retraction is sent to you.`
	return `${receiver} did not take this, so it is sent to you.`
}

function digestFacts(data: DigestData, notes: readonly string[]): Facts {
	const { id, alerts } = data
	const isRemoved = alerts.some(({ type }) => type === 'alert.removed')
	const isMixed = new Set(alerts.map((alert) => alert.data.network)).size > 1
	const rows = alerts.map((alert, at): Row => {
		const network = isMixed ? `[${printable(alert.data.network)}] ` : ''
		return {
			number: at + 1,
			time: utcInWords(alert.data.blockTimestamp).replace(' UTC', ''),
			amount: recordOf(alert.data.kind).amount(alert.data),
			says: `${network}${sentence(alert)}`,
			isAlarming: marksOf(alert).length > 0,
			facts: alertFacts(alert.data).filter(({ name }) => !tooMuchForMany.has(name)),
			alert,
		}
	})
	const alarms = rows.filter(({ isAlarming }) => isAlarming).map(({ number, says }) => `${number}. ${says}`)
	const watchlists = [...new Set(alerts.map((alert) => printable(alert.data.watch.watchlist)))]
	return {
		notes: [...notes, ...(isRemoved ? [retractedInDigest] : [])],
		alarms: alarms.length === 0 ? [] : [digestAlarm, ...alarms],
		rows,
		facts: [
			fact('Alerts', String(alertsIn({ data }))),
			fact('Why you get this', `watched in ${watchlists.join(', ')}`),
			fact('Digest id', id),
		],
	}
}

/** Facts omitted from an alert in a digest: equal for all, or visible elsewhere. */
const tooMuchForMany = new Set(['Amount', 'Time', 'Depth', 'Finality', 'Seen', 'Network'])

const digestAlarm = 'Look at these first:'

const retractedInDigest =
	'Those marked RETRACTED are no longer in the chain after a reorganisation, were refuted by balances, or are ' +
	'explained by now. ' +
	'Treat them as if they had not happened.'

function alertFacts(data: AlertData): readonly Fact[] {
	return [...recordOf(data.kind).facts(data), ...commonFacts(data)]
}

/** The last facts of every alert: its place, when it was seen, and why it is sent. */
function commonFacts(data: AlertData): readonly Fact[] {
	return [
		...foldedFacts(data),
		fact('Block', `${data.blockNumber} (${data.blockHash})`, data.links?.block),
		fact('Time', utcInWords(data.blockTimestamp)),
		fact('Finality', finalityInWords[data.finality]),
		fact('Seen', `${utcInWords(data.detectedAt)}, ${durationInWords(data.lagSeconds)} after the block`),
		...lateFacts(data),
		fact('Network', `${printable(data.network)} (chain id ${data.chainId})`),
		fact('Why you get this', whyOf(data.watch)),
		fact('Alert id', data.id),
	]
}

/** Where to find the alerts that this one stands for. */
function foldedFacts({ folded, watch }: AlertData): readonly Fact[] {
	if (folded === undefined) return []
	const { count, fromBlock, toBlock } = folded
	const where = fromBlock === toBlock ? `in block ${fromBlock}` : `in blocks ${fromBlock} to ${toBlock}`
	const list = `tracewatch deliveries --sent --address ${watch.address}`
	return [
		fact('And more', `${count} ${where}: ${sumsInWords(folded, 20)}`),
		fact('To list them', `${list}; they were not sent one by one, since too many deliveries wait`),
	]
}

function lateFacts({ late, lateReason }: AlertData): readonly Fact[] {
	return late ? [fact('Late', lateReason === undefined ? 'yes' : `yes: ${printable(lateReason, 200)}`)] : []
}

function whyOf({ label: given, address, tags: all, watchlist }: AlertData['watch']): string {
	const label = printable(given ?? '')
	const tags = all.map((tag) => printable(tag)).filter((tag) => tag !== '')
	const why = `${label === '' ? '' : `${label}, `}${address}, watched in ${printable(watchlist)}`
	return `${why}${tags.length === 0 ? '' : ` (${tags.join(', ')})`}`
}

const finalityInWords: Readonly<Record<Finality, string>> = {
	latest: 'newest block: retracted if the chain drops it',
	safe: 'safe: unlikely to leave the chain',
	finalized: 'finalized: stays in the chain',
}

/** The two largest units: `0 s`, `59 s`, `2 min 5 s`, `3 h 20 min`, `4 d 2 h`. */
function durationInWords(seconds: number): string {
	const all = Math.max(0, Math.round(seconds))
	const counts = [
		{ count: Math.floor(all / 86_400), unit: 'd' },
		{ count: Math.floor(all / 3_600) % 24, unit: 'h' },
		{ count: Math.floor(all / 60) % 60, unit: 'min' },
		{ count: all % 60, unit: 's' },
	]
	const largest = counts.findIndex(({ count }) => count > 0)
	const shown = counts.slice(largest, largest + 2).filter(({ count }) => count > 0)
	return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ') || '0 s'
}
