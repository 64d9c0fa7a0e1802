/**
 * Telegram: `https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>`; query parameters become fields of the
 * message (`message_thread_id`, `disable_notification`). Without `parse_mode` the text has no markup, so no name of a
 * token can bring any; what is bold or code is said by positions (`entities`). The server still links URLs, `@names`,
 * `#tags` and `/commands`. No idempotency key. A 429 has `parameters.retry_after`.
 */
import { chatText, cut, type Markup } from './chat.js'
import { withoutLinks, withoutMentions } from './disarm.js'
import { type Format, jsonBody, jsonObject } from './format.js'

/** Refusals that concern the chat, not the message: the operator can repair them. */
const chatFault =
	/chat not found|chat_id is empty|upgraded to a supergroup|not enough rights|have no rights|thread not found|topic/i

const markup: Markup = { disarm: (text) => withoutMentions(withoutLinks(text)), link: (url) => url }

const limit = 4_096

export const telegram: Format = {
	urlFault: ({ pathname, searchParams }) =>
		/\/bot[^/]+/.test(pathname) && /^(-?[1-9]\d{0,19}|@\w{4,64})$/.test(searchParams.get('chat_id') ?? '')
			? null
			: 'must be https://api.telegram.org/bot<token>/sendMessage?chat_id=<id>, ' +
				'with the number of a chat such as -1001234567890, or @channel',
	takesDigest: (digest) => chatText(digest, markup).length <= limit,
	request({ message }, target) {
		const url = new URL(target.url)
		if (!url.pathname.endsWith('/sendMessage')) url.pathname = `${url.pathname.replace(/\/$/, '')}/sendMessage`
		// With it Telegram would read the text, and symbols that strangers chose, as markup, and refuse what is none.
		url.searchParams.delete('parse_mode')
		const parameters = Object.fromEntries(url.searchParams)
		url.search = ''
		const text = cut(chatText(message, markup), limit)
		const body = { ...parameters, text, entities: entitiesOf(text), link_preview_options: { is_disabled: true } }
		return { url, body: jsonBody(body), headers: {} }
	},
	needsBody: true,
	judge({ status, body }) {
		const answer = jsonObject(body)
		if (status === 200 && answer?.ok !== true) return { verdict: 'retry', meaning: 'it did not confirm the message' }
		const description = String(answer?.description ?? '')
		if (status === 400 && chatFault.test(description))
			return { verdict: 'parked', meaning: 'the chat cannot be reached' }
		// Telegram answers 401, not 403, to a wrong token.
		if (status === 403) return { verdict: 'parked', meaning: 'the chat refused the bot' }
		return null
	},
}

/** Telegram heeds 100 in a message. */
const mostEntities = 100

/** The first line and the names of facts are bold; addresses and hashes are code, which a tap copies. */
function entitiesOf(text: string): readonly object[] {
	const title = { type: 'bold', offset: 0, length: Math.max(0, text.indexOf('\n')) || text.length }
	const names = [...text.matchAll(/^[A-Z][\w ]{1,20}:(?= )/gm)].map((found) => ({
		...{ type: 'bold', offset: found.index, length: found[0].length },
	}))
	// Not within a URL.
	const codes = [...text.matchAll(/(?<![\w/])0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})(?!\w)/g)].map((found) => ({
		...{ type: 'code', offset: found.index, length: found[0].length },
	}))
	const inBody = [...names, ...codes].filter(({ offset }) => offset >= title.length)
	return [title, ...inBody.sort((one, other) => one.offset - other.offset)].slice(0, mostEntities)
}
