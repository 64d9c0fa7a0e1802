/**
 * Slack incoming webhooks. No idempotency key: a repetition shows twice. About 1 message per second; a 429 has
 * Retry-After. 410 means an archived channel. `text` is the notification, and the message where a service that takes
 * Slack's webhooks (Mattermost, Rocket.Chat) knows no blocks.
 */

import type { Message } from '../../../model/alert.js'
import { headline } from '../../text/sentence.js'
import { chatParts, chatText, cut, type Markup } from './chat.js'
import { withoutLinks, withoutMarkup, withoutMentions } from './disarm.js'
import { type Format, jsonBody } from './format.js'

// The three characters that form Slack's control sequences (`<!channel>`, `<@U…>`).
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
		body: jsonBody({ text: cut(chatText(message, markup), limit), blocks: blocksOf(message), unfurl_links: false }),
		headers: {},
	}),
}

const mostInTitle = 150
const mostInSection = 3_000

/** The headline as plain text, then sections; `verbatim` keeps Slack from making links and mentions of text. */
function blocksOf(message: Message): readonly object[] {
	const { notes, lines, facts, url } = chatParts(message, markup)
	const named = facts.map(({ name, value }) => `*${name}:* ${value}`)
	const link = url === null ? [] : [`<${escaped(url)}|Look at the transaction>`]
	// Services differ in whether plain text knows escapes, so it has none of the three characters.
	const alike: Readonly<Record<string, string>> = { '<': '\u2039', '>': '\u203a', '&': '\uff06' }
	const title = withoutMentions(withoutLinks(headline(message))).replace(/[<>&]/g, (sign) => alike[sign] ?? sign)
	return [
		{ type: 'header', text: { type: 'plain_text', text: cut(title, mostInTitle), emoji: false } },
		...[notes, [...named, ...link], ...sectionsOf(lines)].flatMap((part) => section(part)),
	]
}

function section(lines: readonly string[]): readonly object[] {
	if (lines.length === 0) return []
	const text = cut(lines.join('\n'), mostInSection)
	return [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }]
}

/** Splits lines so that none is cut where a section ends. */
function sectionsOf(lines: readonly string[]): readonly (readonly string[])[] {
	const sections: string[][] = []
	let left = 0
	for (const line of lines) {
		if (left < line.length) {
			sections.push([])
			left = mostInSection
		}
		sections.at(-1)?.push(line)
		left -= line.length + 1
	}
	return sections
}
