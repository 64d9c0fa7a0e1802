/**
 * ntfy: `https://ntfy.sh/<topic>`; sent as JSON to the root. A message above 4,096 bytes would become an attachment.
 * With `sequence_id` (2.16 and newer) a repetition replaces the first message; older servers ignore it.
 */
import { printable } from '../../../base/text/printable.js'
import type { Message } from '../../../model/alert.js'
import { isMarked } from '../../text/alarms.js'
import { headline } from '../../text/sentence.js'
import { chatBody, cut, linkOf, type Markup } from './chat.js'
import { withoutLinks } from './disarm.js'
import { type Format, jsonBody } from './format.js'

/** ntfy's apps turn anything that looks like a link into one. */
const markup: Markup = { disarm: withoutLinks, link: (url) => url }

const limitBytes = 4_096
const size = (text: string) => Buffer.byteLength(text)

export const ntfy: Format = {
	urlFault: ({ pathname }) =>
		/\/[\w-]{1,64}\/?$/.test(pathname)
			? null
			: 'must end with the topic, https://ntfy.sh/<topic>: at most 64 letters, digits, dashes, underscores',
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
			tags: tagsOf(message),
			sequence_id: id,
			...(click === null ? {} : { click, actions: [{ action: 'view', label: 'Transaction', url: click }] }),
		}
		return { url, body: jsonBody(body), headers: {} }
	},
}

const urgent = new Set<Message['type']>(['alert.removed', 'system.gap', 'system.undelivered', 'system.refused'])

/** 1 to 5; the default is 3. Phones repeat the sound of 5 until it is acknowledged: a network is not watched. */
function priorityOf(message: Message): number {
	if (message.type === 'system.stalled') return 5
	if ('acceptedAt' in message.data) return 3
	return urgent.has(message.type) || isMarked(message) ? 4 : 3
}

/** An emoji, which ntfy shows before the title, then the network and the kind. None comes from the chain. */
function tagsOf(message: Message): readonly string[] {
	const { type, data } = message
	const network = 'network' in data ? [printable(data.network, 40)] : []
	const kind = 'kind' in data ? data.kind : type.slice(type.indexOf('.') + 1)
	return [emojiOf(message), ...network, kind]
}

function emojiOf(message: Message): string {
	const { type, data } = message
	if (type === 'test' || data.test === true) return 'test_tube'
	if (type === 'system.recovered') return 'white_check_mark'
	if (type.startsWith('system.')) return 'warning'
	if (type === 'alert.removed') return 'leftwards_arrow_with_hook'
	if (isMarked(message)) return 'rotating_light'
	if (!('direction' in data)) return 'package'
	return data.direction === 'in' ? 'inbox_tray' : data.direction === 'out' ? 'outbox_tray' : 'bell'
}
