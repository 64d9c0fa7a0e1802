import { describe, expect, test } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.js'
import type { FormatName } from '../../../src/notify/webhook/formats/byName.js'
import { formats } from '../../../src/notify/webhook/formats/byName.js'
import { withoutLinks, withoutMarkup, withoutMentions } from '../../../src/notify/webhook/formats/disarm.js'
import { alertData, deliveryOf, messageOf, shownBy, systemData, txHash } from '../samples.js'

describe('a text without links, mentions and markup', () => {
	test.each([
		['http://evil.example/x?y=1', 'http[:]//evil[.]example/x?y=1'],
		['evil.com and t.me/x', 'evil[.]com and t[.]me/x'],
		['me@evil.co.uk', 'me@evil[.]co[.]uk'],
		['пример.рф', 'пример[.]рф'],
		['x.xn--p1ai', 'x[.]xn--p1ai'],
		['http://10.0.0.1/', 'http[:]//10[.]0[.]0[.]1/'],
		['received 1.500000000000000001 ETH at 10:00', 'received 1.500000000000000001 ETH at 10:00'],
		['watched in a.yaml, treasury.csv; v1.2', 'watched in a.yaml, treasury.csv; v1.2'],
		['Mr. Smith. And so on...', 'Mr. Smith. And so on...'],
	])('links: %s', (text, shown) => {
		expect(withoutLinks(text)).toBe(shown)
	})

	test.each([
		['@name a@b @ c', '＠name a＠b @ c'],
		['#tag #1', '＃tag #1'],
		['/start a/b (/stop)', '∕start a/b (∕stop)'],
	])('mentions: %s', (text, shown) => {
		expect(withoutMentions(text)).toBe(shown)
	})

	test.each([
		['*bold* 2*3', '∗bold∗ 2∗3'],
		['_slanted_ hot_wallet_1', '＿slanted＿ hot_wallet_1'],
		['~gone~ `code` :smile: 10:00', '∼gone∼ ˋcodeˋ ꞉smile: 10:00'],
		['> a quotation', '› a quotation'],
	])('markup: %s', (text, shown) => {
		expect(withoutMarkup(text)).toBe(shown)
	})
})

/** Whatever some service makes more of than text. */
const hostile =
	'*bold* _slanted_ ~gone~ `code` :smile: <!channel> <@U1> @everyone @name #tag /start http://evil.example ' +
	'evil.com tg://x'

const token = {
	...({ standard: 'erc20', address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', symbol: hostile } as const),
	...{ decimals: 6, known: false, amountRaw: '100000000', amount: '100', tokenId: null },
}

/** From a label, from what a contract calls its token, and from what a node or receiver says. */
const messages = [
	messageOf(alertData({ kind: 'token', frameType: 'log', token, value: '100', asset: hostile }), 'alert.token'),
	messageOf(alertData({ watch: { ...alertData().watch, label: hostile } })),
	messageOf(systemData({ reason: `the node says: ${hostile}` }), 'system.stalled'),
	messageOf(systemData({ reason: `> ${hostile}` }), 'system.stalled'),
]

const textOf = (name: FormatName, message: Delivery['message']): string => {
	const target = { url: new URL('https://chat.example/bot1:x/topic?chat_id=1'), secret: null }
	const body = JSON.parse(formats[name].request(deliveryOf(1, { message }), target, 0).body.toString('utf8'))
	return shownBy(body)
}

/** What the service itself would find, each as its documentation says. */
const finds: Readonly<Partial<Record<FormatName, readonly RegExp[]>>> = {
	slack: [
		/\*[^\s*]+\*/,
		/(?<![\p{L}\p{N}])_[^\s_]+_(?![\p{L}\p{N}])/u,
		/~[^\s~]+~/,
		/`/,
		/:[a-z]+:/,
		/<[!@#]/,
		/^\s*(>|&gt;)/m,
		/\w:\/\/\w/,
		/evil\.\w/,
		/@\w/,
	],
	telegram: [/\w:\/\/\w/, /evil\.\w/, /@\w/, /#[a-z]/, /(^|\s)\/[a-z]/],
	ntfy: [/\w:\/\/\w/, /evil\.\w/],
	discord: [/(?<!\\)[*_~`|<>#@]/, /\w:\/\/\w/, /(?<!\\)\]\(/],
}

test.each(Object.entries(finds))('error: %s finds nothing in a label or in the words of a node', (name, patterns) => {
	for (const message of messages) {
		const own = new RegExp(`<?https://explorer\\.example/tx/${txHash}>?`, 'g')
		const text = textOf(name as FormatName, message).replaceAll(own, '')
		expect(text).toContain('bold')
		for (const pattern of patterns)
			expect([String(pattern), pattern.exec(text)?.[0]]).toEqual([String(pattern), undefined])
	}
})

/** Where Slack reads markup, and where it reads none. */
test('error: blocks for Slack hold only markup of the program: names in bold, one link', () => {
	for (const message of messages) {
		const target = { url: new URL('https://chat.example/x'), secret: null }
		const { blocks } = JSON.parse(formats.slack.request(deliveryOf(1, { message }), target, 0).body.toString('utf8'))
		const [header, ...sections] = blocks
		expect(header.text).toMatchObject({ type: 'plain_text', emoji: false })
		expect(header.text.text.length).toBeLessThanOrEqual(150)
		expect(header.text.text).not.toMatch(/[<>&]|@\w|\w:\/\/\w|evil\.\w/)
		const own = new RegExp(`<https://explorer\\.example/tx/${txHash}\\|Look at the transaction>`, 'g')
		for (const { type, text } of sections) {
			expect([type, text.type, text.verbatim]).toEqual(['section', 'mrkdwn', true])
			const left = text.text.replaceAll(own, '').replaceAll(/^\*[A-Z][a-z ]+:\*/gm, '')
			for (const pattern of finds.slack ?? [])
				expect([String(pattern), pattern.exec(left)?.[0]]).toEqual([String(pattern), undefined])
		}
	}
})

test('error: bold and code on Telegram are set by positions, which no label moves', () => {
	const watch = { ...alertData().watch, label: `A*b_<b>🐋${hostile}` }
	for (const message of [...messages, messageOf(alertData({ watch }))]) {
		const target = { url: new URL('https://chat.example/bot1:x?chat_id=1'), secret: null }
		const body = JSON.parse(formats.telegram.request(deliveryOf(1, { message }), target, 0).body.toString('utf8'))
		expect(body).not.toHaveProperty('parse_mode')
		const said = body.entities.map(({ type, offset, length }: { type: string; offset: number; length: number }) => [
			type,
			body.text.slice(offset, offset + length),
		])
		const [title, ...rest] = said
		expect(title).toEqual(['bold', body.text.split('\n')[0]])
		for (const [type, text] of rest)
			expect(text).toMatch(type === 'code' ? /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/ : /^[A-Z][\w ]+:$/)
		if (message.type === 'alert.transfer') expect(rest).toContainEqual(['code', alertData().from])
		// The hash within the link of the explorer is no code of its own.
		expect(rest).not.toContainEqual(['code', txHash])
	}
})
