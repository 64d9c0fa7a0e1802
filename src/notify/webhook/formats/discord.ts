/**
 * Discord webhooks. `wait=true`, or messages that were not kept would be answered like those that were. No idempotency
 * key. A 429 carries `retry_after` in its body.
 */
import { chatText, cut, type Markup } from './chat.js'
import { type Format, jsonBody, jsonObject } from './format.js'

const markup: Markup = {
	disarm: (text) => text.replace(/[\\*_~`|<>[\]()#@:]/g, '\\$&'),
	// In angle brackets: without a preview.
	link: (url) => `<${url}>`,
}

const limit = 2_000

export const discord: Format = {
	takesDigest: (digest) => chatText(digest, markup).length <= limit,
	request({ message }, target) {
		const url = new URL(target.url)
		url.searchParams.set('wait', 'true')
		const content = cut(chatText(message, markup), limit)
		return { url, body: jsonBody({ content, allowed_mentions: { parse: [] } }), headers: {} }
	},
	needsBody: true,
	judge({ status, body }) {
		if (status !== 200 || typeof jsonObject(body)?.id === 'string') return null
		return { verdict: 'retry', code: 'unconfirmed', meaning: 'it did not say that it kept the message' }
	},
}
