// A stranger names his token as he likes: from what its contract answers to what each service is sent.
import * as AbiParameters from 'ox/AbiParameters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { symbolIn } from '../../../src/chain/logs/tokenWords.js'
import { composeMessage } from '../../../src/notify/text/message.js'
import type { FormatName } from '../../../src/notify/webhook/formats/byName.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { startHookServer } from '../../support/hookServer.js'
import { alertData, deliveryOf, messageOf, never, payer, shownBy, startMs } from '../samples.js'

const contract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'

const symbols = [
	'A\n[ethereum] Treasury received 9 ETH',
	'A\r\nBcc: all@evil.example',
	'A\u2028B\u2029C\u0085D\u000bE',
	'<!channel> <@U12345>',
	'<!subteam^S1|@ops> &lt;!here&gt;',
	'@everyone @here @admin',
	'<https://evil.example|USDC>',
	'[USDC](https://evil.example)',
	'https://evil.example/claim',
	'evil.example claim.app',
	'evil。example evil．example',
	'<b>x</b><img src=x>',
	'`code` *b* _i_ ~s~ ||s|| > q',
	'/start #free $cash',
	'USDC" (0x1234…5678) from Exchange "',
	'\\" \\u{22} \\\\',
	'\u202eCDSU\u202c \u2066x\u2069',
	'USDC\u0000\u0007\u001b[31m',
	'U'.repeat(200_000),
	'\u0301'.repeat(5_000),
	'💰'.repeat(40),
]

function messageFor(symbol: string | null) {
	const { valueWei: _, ...data } = alertData({ traceAddress: [], kind: 'token', frameType: 'log' })
	const token = {
		...({ standard: 'erc20', address: contract, symbol, decimals: 6, known: false } as const),
		...{ amountRaw: '100000000', amount: '100', tokenId: null },
	}
	return messageOf({ ...data, token, value: '100', asset: symbol, initiator: payer }, 'alert.token')
}

const symbolOf = (text: string) => symbolIn(AbiParameters.encode([{ type: 'string' }], [text]))

async function sentTo(format: FormatName, symbol: string | null): Promise<string> {
	const hook = await startHookServer()
	onTestFinished(() => hook.close())
	hook.answer = () => ({ status: 200, body: '{"id":"1","ok":true}' })
	const settings = { type: 'webhook', name: 'chat', url: `${hook.origin}/x`, secret: null, format } as const
	const receiver = createWebhookReceiver(settings, { version: '1.2.3', clock: () => startMs })
	await receiver.deliver(deliveryOf(1, { message: messageFor(symbol) }), never)
	await receiver.close()
	const body = JSON.parse(String(hook.hits[0]?.body ?? '{}'))
	if (format === 'slack') {
		const [header, ...sections]: readonly { text: { type: string; text: string } }[] = body.blocks
		expect(header?.text.type).toBe('plain_text')
		expect(header?.text.text).not.toMatch(/[<>&\n]|@\w|evil[.。．]example|claim\.app/)
		const said = sections.map(({ text }) => text.text).join('\n')
		const left = said.replaceAll(/<https:\/\/explorer[^>]+>/g, '').replaceAll(/^\*[A-Z][a-z ]+:\*/gm, '')
		expect(left).not.toMatch(/[<>]|@\w|[`*~]|evil[.。．]example|claim\.app/)
	}
	if (format === 'discord') expect(body.allowed_mentions).toEqual({ parse: [] })
	return shownBy(body)
}

describe('a hostile name that a token contract gives to itself', () => {
	test.each(['slack', 'telegram', 'discord', 'ntfy'] as const)(
		'behavior: %s is sent no line, link or mention of it',
		async (format) => {
			const harmless = await sentTo(format, 'USDC')
			// Ends of lines alone.
			const controls = harmless.split('\n').length - 1
			const links = (text: string) => text.match(/https?:\/\/\S+/g) ?? []
			for (const raw of symbols) {
				const name = raw.slice(0, 40)
				const text = await sentTo(format, symbolOf(raw))
				expect([...text].filter((letter) => /[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u.test(letter)).length, name).toBe(controls)
				expect(links(text), name).toEqual(links(harmless))
				expect(text.length, name).toBeLessThan(harmless.length + 200)
				expect(text, name).not.toMatch(/evil[.。．]example|claim\.app/)
				if (format === 'slack')
					expect(text.replaceAll(/<https:\/\/explorer\S+>/g, ''), name).not.toMatch(/[<>]|@\w|[`*~]/)
				if (format === 'telegram') expect(text, name).not.toMatch(/@\w|(?:^|\s|["(])[/][a-z]|(?:^|\s)#[a-z]/)
				if (format === 'discord') {
					const bare = text.replaceAll(/\\[\\*_~`|<>[\]()#@:]/g, '').replaceAll(/<https:\/\/explorer\S+>/g, '')
					expect(bare, name).not.toMatch(/[*_~`|<>[\]#@]/)
				}
			}
		},
	)

	test('behavior: mails have one subject, no tag of it, and what is in quotes stays there', () => {
		const tags = (html: string) => html.match(/<[^>]*>/g)?.length
		const harmless = composeMessage(messageFor('USDC'))
		for (const raw of symbols) {
			const name = raw.slice(0, 40)
			const symbol = symbolOf(raw)
			const { subject, text, html } = composeMessage(messageFor(symbol))
			expect(subject, name).not.toMatch(/[\r\n]/)
			expect(text.split('\n'), name).toHaveLength(harmless.text.split('\n').length)
			expect(tags(html), name).toBe(tags(harmless.html))
			expect(subject.match(/"/g)?.length ?? 0, subject).toBeLessThanOrEqual(2)
			expect(subject, name).toMatch(/ \(?0xA0b8…eB48\)? from 0xd8dA…6045$/)
		}
	})
})
