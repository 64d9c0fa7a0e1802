/**
 * Discord webhooks. With `wait=true`, because otherwise Discord also answers success for messages that it did not
 * store. No idempotency key. A 429 has `retry_after` in its body.
 */

import type { Message } from '../../../model/alert.js'
import { isMarked } from '../../text/alarms.js'
import { headline } from '../../text/sentence.js'
import { chatParts, cut, type Markup } from './chat.js'
import { type Format, jsonBody, jsonObject } from './format.js'

const markup: Markup = {
	disarm: (text) => text.replace(/[\\*_~`|<>[\]()#@:]/g, '\\$&'),
	// Angle brackets suppress the preview.
	link: (url) => `<${url}>`,
}

const most = { content: 2_000, description: 4_096, fields: 25, name: 256, value: 1_024, embed: 6_000 } as const

export const discord: Format = {
	takesDigest: (digest) => descriptionOf(digest).length <= most.description,
	request({ message }, target) {
		const url = new URL(target.url)
		url.searchParams.set('wait', 'true')
		const content = cut(markup.disarm(headline(message)), most.content)
		const body = { content, embeds: [embedOf(message)], allowed_mentions: { parse: [] } }
		return { url, body: jsonBody(body), headers: {} }
	},
	needsBody: true,
	judge({ status, body }) {
		if (status !== 200 || typeof jsonObject(body)?.id === 'string') return null
		return { verdict: 'retry', meaning: 'it did not say that it kept the message' }
	},
}

function descriptionOf(message: Message): string {
	const { notes, lines } = chatParts(message, markup)
	return [...notes, ...lines].join('\n')
}

/** The facts, with a colour at the left: red for an alarm or a trouble, green for its end. */
function embedOf(message: Message): object {
	const { facts, url } = chatParts(message, markup)
	const description = cut(descriptionOf(message), most.description)
	let left = most.embed - description.length - linkTitle.length
	const fields = facts.slice(0, most.fields).flatMap(({ name, value }) => {
		const field = { name: cut(name, most.name), value: cut(value, most.value) || '-' }
		left -= field.name.length + field.value.length
		return left < 0 ? [] : [field]
	})
	return {
		color: colorOf(message),
		...(description !== '' && { description }),
		...(url !== null && { title: linkTitle, url }),
		fields,
		timestamp: message.timestamp,
	}
}

const linkTitle = 'Look at the transaction'

function colorOf(message: Message): number {
	if (message.type === 'system.recovered') return 0x2e7d32
	if (message.type.startsWith('system.') || message.type === 'alert.removed' || isMarked(message)) return 0xd32f2f
	return 0x2f6fb5
}
