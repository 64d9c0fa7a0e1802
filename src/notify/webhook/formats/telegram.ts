/**
 * Telegram: `https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>`; what stands in the query becomes part of
 * the message (`message_thread_id`, `disable_notification`). Without `parse_mode` nothing in the text is markup, but
 * the server itself finds URLs, `@names`, `#tags` and `/commands` in it. No idempotency key. A 429 carries
 * `parameters.retry_after`.
 */
import { chatText, cut, type Markup } from './chat.js'
import { withoutLinks, withoutMentions } from './disarm.js'
import { type Format, jsonBody, jsonObject } from './format.js'

/** Refusals of the chat, not of the message: somebody can fix them. */
const chatFault =
	/chat not found|chat_id is empty|upgraded to a supergroup|not enough rights|have no rights|thread not found|topic/i

const markup: Markup = { disarm: (text) => withoutMentions(withoutLinks(text)), link: (url) => url }

const limit = 4_096

export const telegram: Format = {
	takesDigest: (digest) => chatText(digest, markup).length <= limit,
	request({ message }, target) {
		const url = new URL(target.url)
		if (!url.pathname.endsWith('/sendMessage')) url.pathname = `${url.pathname.replace(/\/$/, '')}/sendMessage`
		const parameters = Object.fromEntries(url.searchParams)
		url.search = ''
		const text = cut(chatText(message, markup), limit)
		return { url, body: jsonBody({ ...parameters, text, link_preview_options: { is_disabled: true } }), headers: {} }
	},
	needsBody: true,
	judge({ status, body }) {
		const answer = jsonObject(body)
		if (status === 200 && answer?.ok !== true)
			return { verdict: 'retry', code: 'unconfirmed', meaning: 'it did not say that all is well' }
		const description = String(answer?.description ?? '')
		if (status === 400 && chatFault.test(description))
			return { verdict: 'parked', code: 'chat-unreachable', meaning: 'the chat cannot be reached' }
		return null
	},
}
