/**
 * PagerDuty Events API v2: `https://events.pagerduty.com/v2/enqueue`; the receiver's secret is the routing key. The
 * alert's id is the `dedup_key`, so a repetition changes nothing, and a retraction or recovery resolves its alert. No
 * digests, because a single alert inside a digest could not be resolved.
 */

import { sha256 } from '../../../base/sha256.js'
import { printable } from '../../../base/text/printable.js'
import { isAlert, isDigest, isUndelivered, networkTroubleOf } from '../../../core/outbox/messageKinds.js'
import type { Message } from '../../../model/alert.js'
import { isMarked } from '../../text/alarms.js'
import { factsOf } from '../../text/facts.js'
import { headline, networksOf } from '../../text/sentence.js'
import { cut, linkOf } from './chat.js'
import { type Format, jsonBody } from './format.js'

export const pagerduty: Format = {
	key: {
		name: 'routing_key',
		description:
			'Format pagerduty: integration key of the service (Events API v2), 32 letters and digits. A secret. ' +
			'Default: none.',
		read: readRoutingKey,
		isRequired: true,
	},
	request({ message }, { url, secret }) {
		const { type, timestamp } = message
		const resolves = type === 'alert.removed' || type === 'system.recovered'
		const href = linkOf(message)
		const event = {
			routing_key: secret ?? '',
			event_action: resolves ? 'resolve' : 'acceptedAt' in message.data ? 'acknowledge' : 'trigger',
			dedup_key: dedupKey(message),
			client: 'tracewatch',
			payload: {
				summary: cut(headline(message), 1_024),
				source: sourceOf(message),
				severity: severityOf(message),
				timestamp,
				custom_details: Object.fromEntries(factsOf(message).facts.map(({ name, value }) => [name, value])),
			},
			...(href === null ? {} : { links: [{ href, text: 'Transaction' }] }),
		}
		return { url, body: jsonBody(event), headers: {} }
	},
	judge({ status, body }) {
		if (status !== 400 || !body.includes('routing_key')) return null
		return { verdict: 'parked', meaning: 'the routing key was refused' }
	},
}

const critical = new Set<Message['type']>(['system.stalled', 'system.gap', 'system.undelivered'])

function severityOf(message: Message): 'critical' | 'warning' | 'info' {
	if (critical.has(message.type)) return 'critical'
	return message.type === 'system.refused' || isMarked(message) ? 'warning' : 'info'
}

function sourceOf({ data }: Message): string {
	if (isUndelivered(data)) return 'tracewatch'
	return isDigest(data) ? networksOf(data) : printable(data.network)
}

/** At most 255 characters. The id of a frame that is called deeply is longer, and ends with the address. */
function dedupKey(message: Message): string {
	const key = subjectOf(message)
	return key.length <= 255 ? key : `${key.slice(0, 191)}${sha256(key)}`
}

function subjectOf({ type, data }: Message): string {
	if (isUndelivered(data)) {
		const what = data.state === 'failing' ? 'failing' : 'undelivered'
		return `tracewatch:${what}:${data.receiver}`
	}
	if (isAlert(data) || isDigest(data)) return data.id
	return `tracewatch:${data.chainId}:${printable(data.network)}:${networkTroubleOf(type, data)}`
}

export function readRoutingKey(text: string): string {
	if (/^[A-Za-z0-9]{32}$/.test(text)) return text
	throw new RangeError('must be an integration key: 32 letters and digits')
}
