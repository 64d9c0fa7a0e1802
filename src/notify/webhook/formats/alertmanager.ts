/**
 * Alertmanager API v2: the server's URL, with or without `/api/v2/alerts`. Alerts with equal labels are the same alert,
 * so a repetition changes nothing, and a digest is sent as the list of its alerts. An event has no natural end: it
 * fires for a day, unless it is retracted; a trouble for 30 days, unless it ends.
 */

import { printable } from '../../../base/text/printable.js'
import { isAlert, isDigest, isUndelivered } from '../../../core/outbox/messageKinds.js'
import type { AlertData, Message } from '../../../model/alert.js'
import { factsOf } from '../../text/facts.js'
import { headline } from '../../text/sentence.js'
import { linkOf } from './chat.js'
import { type Format, jsonBody } from './format.js'

const DAY_MS = 24 * 3_600_000
const path = '/api/v2/alerts'

interface Labels {
	readonly alertname: string
	readonly [name: string]: string
}

export const alertmanager: Format = {
	takesDigest: () => true,
	request({ message, createdAtMs }, target, nowMs) {
		const url = new URL(target.url)
		if (!url.pathname.endsWith(path)) url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
		const messages = isDigest(message.data)
			? message.data.alerts.map((alert) => ({ message: alert, startsAtMs: Date.parse(alert.timestamp) }))
			: [{ message, startsAtMs: createdAtMs }]
		return { url, body: jsonBody(withLastWord(messages.flatMap((each) => entriesOf(each, nowMs)))), headers: {} }
	},
}

interface Entry {
	readonly labels: Labels
	readonly endsAt: string
}

function entriesOf({ message, startsAtMs }: { message: Message; startsAtMs: number }, nowMs: number): readonly Entry[] {
	// Alertmanager refuses an end before the start: the clock may have been set back.
	const startsAt = new Date(Math.min(startsAtMs, nowMs)).toISOString()
	const at = (labels: Labels, endsAt: string) => ({
		labels,
		annotations: annotationsOf(message),
		startsAt,
		endsAt,
		generatorURL: linkOf(message) ?? '',
	})
	const over = new Date(nowMs).toISOString()
	const ends = new Date(nowMs + (isAlert(message.data) ? DAY_MS : 30 * DAY_MS)).toISOString()
	const { fires, resolves } = labelsOf(message)
	return [...resolves.map((labels) => at(labels, over)), ...fires.map((labels) => at(labels, ends))]
}

/** Keeps the last entry for equal labels: an alert and its retraction may be in one digest. */
function withLastWord(entries: readonly Entry[]): readonly Entry[] {
	return [...new Map(entries.map((entry) => [JSON.stringify(entry.labels), entry])).values()]
}

/** `TracewatchTransfer` */
function nameOf(kind: AlertData['kind']): string {
	return `Tracewatch${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

/**
 * A retraction resolves the alert and fires an alert of its own, because Alertmanager may be set not to notify of
 * resolved alerts.
 */
function labelsOf(message: Message): { readonly fires: readonly Labels[]; readonly resolves: readonly Labels[] } {
	const { type, data } = message
	if (isUndelivered(data)) {
		const receiver = printable(data.receiver)
		const alertname = data.state === 'failing' ? 'TracewatchReceiverFails' : 'TracewatchUndelivered'
		const trouble = { alertname, receiver, severity: 'critical' }
		return data.ends === undefined ? { fires: [trouble], resolves: [] } : { fires: [], resolves: [trouble] }
	}
	if (isDigest(data)) return { fires: [], resolves: [] }
	const network = printable(data.network)
	if (!isAlert(data)) {
		const { fromBlock, toBlock, acceptedAt, ends } = data
		const refused = [{ alertname: 'TracewatchRefused', network, severity: 'warning' }]
		if (type === 'system.refused') return { fires: refused, resolves: [] }
		if (ends === 'refused') return { fires: [], resolves: refused }
		const what =
			fromBlock === undefined
				? { alertname: 'TracewatchStalled' }
				: { alertname: 'TracewatchGap', blocks: `${fromBlock}-${toBlock}` }
		const trouble = { ...what, network, severity: 'critical' }
		const isOver = type === 'system.recovered' || acceptedAt !== undefined
		return isOver ? { fires: [], resolves: [trouble] } : { fires: [trouble], resolves: [] }
	}
	const named = (alertname: string): Labels => ({
		alertname,
		network,
		severity: 'info',
		kind: data.kind,
		direction: data.direction,
		address: data.watch.address,
		tx_hash: data.txHash,
		trace: placeOf(data),
	})
	const alert = named(type === 'test' ? 'TracewatchTest' : nameOf(data.kind))
	if (type !== 'alert.removed') return { fires: [alert], resolves: [] }
	return { fires: [named('TracewatchWithdrawn')], resolves: [alert] }
}

/** As in the id, so that two alerts never have equal labels: a block may have 16 withdrawals of one address. */
function placeOf({ id }: AlertData): string {
	return id.split(':')[2] ?? ''
}

function annotationsOf(message: Message): Readonly<Record<string, string>> {
	const { notes, facts } = factsOf(message)
	const description = [...notes, ...facts.map(({ name, value }) => `${name}: ${value}`)].join('\n')
	return { summary: headline(message), description }
}
