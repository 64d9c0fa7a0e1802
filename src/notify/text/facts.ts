/** What a message says, as a list that text and HTML are both made of: neither can say more than the other. */

import { printable } from '../../base/printable.js'
import { isAlert, isDigest, isUndelivered } from '../../core/messageKinds.js'
import type { AlertData, DigestData, Finality, Message } from '../../model/alert.js'
import { alarmsOf, marksOf } from './alarms.js'
import type { Row } from './digestTable.js'
import { type Fact, fact, utcInWords } from './fact.js'
import { ownFacts } from './ownFacts.js'
import { numbered } from './sentence.js'
import { nothingLost, receiverWorks, systemFacts, undeliveredFacts, whatNow, withToDo } from './systemFacts.js'
import { tokenAmount, tokenLines } from './token.js'

export interface Facts {
	/** Sentences that stand before the list. */
	readonly notes: readonly string[]
	readonly facts: readonly Fact[]
	/** Not to be overlooked: some of the notes, or of a digest the alerts that it is about. */
	readonly alarms: readonly string[]
	/** Of a digest: its alerts, one after the other, before the list. */
	readonly rows: readonly Row[]
}

export function factsOf(message: Message): Facts {
	const { type, data } = message
	const alarms = isAlert(data) ? alarmsOf(type, data) : []
	const notes = [
		...(data.test === true || type === 'test'
			? ['This is a test: nothing happened on any chain, and its addresses are invented.']
			: []),
		...(type === 'alert.removed' ? [isAlert(data) && data.kind === 'unexplained' ? explained : retracted] : []),
		...alarms,
		...(data.insteadOf === undefined ? [] : [`${printable(data.insteadOf)} did not take this, so it is sent to you.`]),
	]
	const single = { alarms, rows: [] }
	if (isUndelivered(data)) {
		return {
			notes: [...notes, ...(data.ends === undefined ? whatNow[data.state] : [receiverWorks])],
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

function digestFacts(data: DigestData, notes: readonly string[]): Facts {
	const { id, alerts, held } = data
	const why = held === undefined ? [] : [`A silence held them from ${utcInWords(held.from)} to ${utcInWords(held.to)}.`]
	const isRemoved = alerts.some(({ type }) => type === 'alert.removed')
	const alarms = numbered(data).filter(({ alert }) => marksOf(alert).length > 0)
	const watchlists = [...new Set(alerts.map((alert) => printable(alert.data.watch.watchlist)))]
	return {
		notes: [...notes, ...why, ...(isRemoved ? [retractedInDigest] : [])],
		alarms: alarms.length === 0 ? [] : [digestAlarm, ...alarms.map(({ title }) => title)],
		rows: numbered(data).map(({ says, alert }, index) => ({
			number: index + 1,
			time: utcInWords(alert.data.blockTimestamp).replace(' UTC', ''),
			amount: signedAmount(alert.data),
			says,
			isAlarming: marksOf(alert).length > 0,
			facts: alertFacts(alert.data).filter(({ name }) => !tooMuchForMany.has(name)),
		})),
		facts: [
			fact('Alerts', String(alerts.length)),
			fact('Why you get this', `watched in ${watchlists.join(', ')}`),
			fact('Digest id', id),
		],
	}
}

/** What may be left out of an alert among many: the same for all, or seen from the rest. */
const tooMuchForMany = new Set(['Amount', 'Time', 'Depth', 'Finality', 'Seen', 'Network'])

/** `+1.5 ETH`, as the watch sees it. */
function signedAmount(data: AlertData): string {
	if (data.kind === 'delegation') return '—'
	const { token } = data
	const amount = token === undefined ? `${data.value} ${printable(data.asset ?? '', 20)}` : tokenAmount(token)
	if (data.kind === 'balance' || data.direction === 'self') return amount
	return `${data.direction === 'in' ? '+' : '−'}${amount}`
}

const digestAlarm = 'Look at these first:'

const retractedInDigest =
	'Those marked RETRACTED are no longer in the chain, because the chain was reorganised, or are explained by now. ' +
	'Treat them as if they had not happened.'

const retracted =
	'An alert that you were sent is retracted: its event is no longer in the chain, because the chain was reorganised. ' +
	'Treat it as if it had not happened. Should it come back, you will be sent it again.'

const explained =
	'An alert that you were sent is retracted: a later look explains the balance, or its block is no longer in the chain.'

function alertFacts(data: AlertData): readonly Fact[] {
	if (!['transfer', 'deployment', 'token'].includes(data.kind)) return balanceFacts(data)
	const { links } = data
	return [
		fact('From', data.from ?? 'nobody (new coins)', data.from === null ? undefined : links?.from),
		fact(data.kind === 'deployment' ? 'Contract' : 'To', data.to, links?.to),
		...lookalikeFacts(data),
		...amountFacts(data),
		...(data.creatorConfirmed === true ? [fact('Creator', 'confirmed by the node')] : []),
		fact('Transaction', data.txHash, links?.tx),
		...commonFacts(data),
	]
}

function lookalikeFacts({ lookalike }: AlertData): readonly Fact[] {
	if (lookalike === undefined) return []
	const { of, prefix, suffix } = lookalike
	const label = printable(lookalike.label ?? '')
	const who = label === '' ? of : `${label}, ${of}`
	return [fact('Imitates', `${who}: ${prefix} digits agree at the front, ${suffix} at the end`)]
}

function amountFacts(data: AlertData): readonly Fact[] {
	const { token } = data
	if (token !== undefined) {
		const own = tokenLines(data, token).map(([name, value]) => fact(name, value))
		return [...own, fact('Kind', `token transfer, ${data.direction}`)]
	}
	return [
		fact('Amount', `${data.value} ${printable(data.asset ?? '', 20)}`),
		fact('In wei', data.valueWei ?? ''),
		fact('Kind', kindInWords(data)),
		fact('Depth', depthInWords(data)),
		...(data.initiator === undefined || data.initiator === data.from ? [] : [fact('Started by', data.initiator)]),
	]
}

/** Of what no frame tells: the address and the amounts, and for a balance what was, is, and is known. */
function balanceFacts(data: AlertData): readonly Fact[] {
	const { links, watch } = data
	return [
		fact('Address', watch.address, links?.to),
		...(data.kind === 'delegation'
			? []
			: [fact('Amount', `${data.value} ${printable(data.asset ?? '', 20)}`), fact('In wei', data.valueWei ?? '')]),
		...ownFacts(data),
		...(data.txHash === data.blockHash ? [] : [fact('Transaction', data.txHash, links?.tx)]),
		...commonFacts(data),
	]
}

/** Where it stands, when it was seen, and why it is sent: the end of every alert. */
function commonFacts(data: AlertData): readonly Fact[] {
	return [
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

function lateFacts({ late, lateReason }: AlertData): readonly Fact[] {
	return late ? [fact('Late', lateReason === undefined ? 'yes' : `yes: ${printable(lateReason, 200)}`)] : []
}

function whyOf({ label: given, address, tags: all, watchlist }: AlertData['watch']): string {
	const label = printable(given ?? '')
	const tags = all.map((tag) => printable(tag)).filter((tag) => tag !== '')
	const why = `${label === '' ? '' : `${label}, `}${address}, watched in ${printable(watchlist)}`
	return `${why}${tags.length === 0 ? '' : ` (${tags.join(', ')})`}`
}

function kindInWords({ kind, frameType, direction }: AlertData): string {
	if (kind === 'deployment') return `deployment (${frameType === 'create2' ? 'CREATE2' : 'CREATE'}), ${direction}`
	if (isKindOfItsOwn(frameType)) return kind
	const how = {
		call: 'a call',
		create: 'the endowment of a new contract',
		create2: 'the endowment of a new contract',
		suicide: 'the balance of a contract that destroyed itself',
		reward: 'a block reward',
	}[frameType]
	return `transfer (${how}), ${direction}`
}

function isKindOfItsOwn(
	frameType: AlertData['frameType'],
): frameType is 'withdrawal' | 'delegation' | 'income' | 'balance' | 'log' {
	return ['withdrawal', 'delegation', 'income', 'balance', 'log'].includes(frameType)
}

function depthInWords({ frameType, traceAddress }: AlertData): string {
	if (frameType === 'reward') return 'outside of any transaction'
	if (traceAddress.length === 0) return '0: the transaction itself'
	return `${traceAddress.length}: inside the transaction, at ${traceAddress.join('.')}`
}

const finalityInWords: Readonly<Record<Finality, string>> = {
	latest: 'newest block: retracted if the chain drops it',
	safe: 'safe: unlikely to leave the chain',
	finalized: 'finalized: stays in the chain',
}

/** `0 s`, `59 s`, `2 min 5 s`, `3 h 20 min`, `4 d 2 h`: the two largest units. */
function durationInWords(seconds: number): string {
	const units: readonly (readonly [string, number])[] = [
		['d', 86_400],
		['h', 3_600],
		['min', 60],
		['s', 1],
	]
	let rest = Math.max(0, Math.round(seconds))
	const counts: { readonly count: number; readonly unit: string }[] = []
	for (const [unit, size] of units) {
		const count = Math.floor(rest / size)
		rest -= count * size
		if (count > 0 || counts.length > 0) counts.push({ count, unit })
		if (counts.length === 2) break
	}
	const shown = counts.filter(({ count }) => count > 0)
	return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ') || '0 s'
}
