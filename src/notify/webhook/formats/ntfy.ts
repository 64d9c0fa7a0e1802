/**
 * ntfy: `https://ntfy.sh/<topic>`; sent as JSON to the root. Above 4,096 bytes the message would become an attachment.
 * With `sequence_id` (2.16 and newer) a repetition replaces the first instead of standing beside it; older servers
 * ignore it.
 */
import type { Message } from '../../../model/alert.js'
import { isMarked } from '../../text/alarms.js'
import { headline } from '../../text/sentence.js'
import { chatBody, cut, linkOf, type Markup } from './chat.js'
import { withoutLinks } from './disarm.js'
import { type Format, jsonBody } from './format.js'

/** Its apps make links of what looks like one. */
const markup: Markup = { disarm: withoutLinks, link: (url) => url }

const limitBytes = 4_096
const size = (text: string) => Buffer.byteLength(text)

export const ntfy: Format = {
	takesDigest: (digest) => size(chatBody(digest, markup)) <= limitBytes,
	request({ id, message }, target) {
		const parts = target.url.pathname.replace(/\/$/, '').split('/')
		const topic = decodeURIComponent(parts.pop() ?? '')
		const url = new URL(target.url)
		url.pathname = `${parts.join('/')}/`
		const click = linkOf(message)
		const body = {
			topic,
			title: cut(markup.disarm(headline(message)), 250),
			message: cut(chatBody(message, markup), limitBytes, size),
			priority: priorityOf(message),
			sequence_id: id,
			...(click === null ? {} : { click }),
		}
		return { url, body: jsonBody(body), headers: {} }
	},
}

const urgent = new Set<Message['type']>([
	'alert.removed',
	'system.stalled',
	'system.gap',
	'system.undelivered',
	'system.refused',
])

/** 1 to 5; 3 is usual. */
function priorityOf(message: Message): number {
	if ('acceptedAt' in message.data) return 3
	return urgent.has(message.type) || isMarked(message) ? 4 : 3
}
