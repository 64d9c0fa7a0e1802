/**
 * Slack incoming webhooks. No idempotency key: a repetition is a second line. About one message a second; 429 carries
 * Retry-After. 410 is an archived channel.
 */
import { chatText, cut, type Markup } from './chat.js'
import { withoutLinks, withoutMarkup, withoutMentions } from './disarm.js'
import { type Format, jsonBody } from './format.js'

// The three characters that Slack's control sequences (`<!channel>`, `<@U…>`) are made of.
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const markup: Markup = {
	disarm: (text) => escaped(withoutMentions(withoutMarkup(withoutLinks(text)))),
	link: (url) => `<${escaped(url)}>`,
}

const limit = 4_000

export const slack: Format = {
	takesDigest: (digest) => chatText(digest, markup).length <= limit,
	request: ({ message }, { url }) => ({
		url,
		body: jsonBody({ text: cut(chatText(message, markup), limit), unfurl_links: false }),
		headers: {},
	}),
}
