// What is said of a token: the operator's word stands alone, anybody else's in quotes and with its contract.
import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { TokenData } from '../../../src/model/ownFields.js'
import { composeMessage } from '../../../src/notify/text/message.js'
import { chatText } from '../../../src/notify/webhook/formats/chat.js'
import { alertData, messageOf, payer, treasury } from '../samples.js'

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const zero = '0x0000000000000000000000000000000000000000'
const token: TokenData = {
	standard: 'erc20',
	address: usdc,
	symbol: 'USDC',
	decimals: 6,
	known: true,
	amountRaw: '100000000',
	amount: '100',
	tokenId: null,
}
const unknown: TokenData = { ...token, known: false }

function dataOf(own: TokenData, rest: Partial<AlertData> = {}): AlertData {
	const { valueWei: _, ...data } = alertData({ traceAddress: [], kind: 'token', frameType: 'log' })
	return { ...data, token: own, value: own.amount, asset: own.symbol, initiator: payer, ...rest }
}
const messageFor = (own: TokenData, rest: Partial<AlertData> = {}) => messageOf(dataOf(own, rest), 'alert.token')
const out = { direction: 'out', from: treasury, to: payer } as const

test.each([
	['a known token', token, {}, 'Treasury received 100 USDC from 0xd8dA…6045'],
	['sent by the watch', token, { ...out, initiator: treasury }, 'Treasury sent 100 USDC to 0xd8dA…6045'],
	[
		'an approval used',
		token,
		{ ...out, initiator: usdc },
		'Treasury sent 100 USDC to 0xd8dA…6045, in a transaction of 0xA0b8…eB48',
	],
	['made', token, { from: zero }, 'Treasury received 100 USDC, newly made'],
	[
		'burnt',
		token,
		{ ...out, to: zero, initiator: treasury },
		'Treasury sent 100 USDC to the zero address: burnt or unwrapped',
	],
	['to itself', token, { direction: 'self', initiator: treasury }, 'Treasury sent 100 USDC to itself'],
	['an unknown token', unknown, {}, 'Treasury received 100 of the unknown token "USDC" (0xA0b8…eB48) from 0xd8dA…6045'],
	[
		'one without words',
		{ ...unknown, symbol: null, decimals: null, amount: null },
		{},
		'Treasury received 100000000 units of the unknown token 0xA0b8…eB48 from 0xd8dA…6045',
	],
	[
		'an NFT',
		{ ...token, standard: 'erc721', symbol: 'PUNK', decimals: null, amountRaw: '1', amount: null, tokenId: '42' },
		{},
		'Treasury received PUNK #42 from 0xd8dA…6045',
	],
	[
		'of a batch',
		{ ...token, standard: 'erc1155', symbol: 'ITEM', decimals: null, amountRaw: '5', amount: null, tokenId: '7' },
		{},
		'Treasury received 5 of ITEM #7 from 0xd8dA…6045',
	],
] as const)('%s', (_, own, rest, sentence) => {
	const { subject, text, html } = composeMessage(messageFor(own, rest))
	expect(subject).toBe(`[ethereum] ${sentence}`)
	for (const body of [text, html]) {
		expect(body).toContain(usdc)
		expect(body).toContain(own.amountRaw)
		expect(body).not.toContain('In wei')
		expect(body).not.toContain('null')
		expect(body).not.toContain('undefined')
	}
})

describe('warnings that a reader of a token alert must see', () => {
	test('behavior: an unknown token is said to be one, in mails and chats', () => {
		const message = messageFor(unknown)
		const markup = { disarm: (text: string) => text, link: (url: string) => url }
		const words = 'UNKNOWN: the contract chose this name itself, and it is not verified'
		expect(composeMessage(message).text).toContain(words)
		// Nowhere stands its word beside an amount as the operator's would.
		expect(composeMessage(message).text).toMatch(/^Amount: +[\d.]+ of an unknown token$/m)
		expect(chatText(message, markup)).toContain(words)
		expect(composeMessage(messageFor(token)).text).not.toContain(words)
	})

	test('behavior: an unknown token is framed in its mail, with both contracts if it is called like a known one', () => {
		const note = 'This token is not verified'
		const frame = /<div style="border:2px solid [^"]*">[\s\S]*?<\/div>/
		const plain = composeMessage(messageFor({ ...unknown, symbol: 'GIFT' }))
		expect(plain.subject).not.toContain('LOOK-ALIKE')
		expect(plain.text).toContain(`!!! ${note}`)
		expect(frame.exec(plain.html)?.[0]).toContain(note)
		expect(composeMessage(messageFor(token)).html).not.toMatch(frame)

		const other = '0x1111111111111111111111111111111111111111'
		const imitates = { symbol: 'USDC', address: usdc }
		const fake = composeMessage(messageFor({ ...unknown, address: other, imitates }))
		expect(fake.subject).toMatch(/^\[ethereum\] LOOK-ALIKE: Treasury received 100 of the unknown token "USDC"/)
		const framed = frame.exec(fake.html)?.[0] ?? ''
		for (const words of ['This is not the USDC that you know', other, usdc]) {
			expect(framed).toContain(words)
			expect(fake.text).toContain(words)
		}
		const coin = composeMessage(messageFor({ ...unknown, symbol: 'ETH', imitates: { symbol: 'ETH', address: null } }))
		expect(frame.exec(coin.html)?.[0]).toContain('This is not ETH, the coin of this network')
		const removed = messageOf(dataOf({ ...unknown, symbol: 'GIFT' }), 'alert.removed')
		expect(composeMessage(removed).subject).toMatch(/RETRACTED/)
	})

	test('behavior: a look-alike comes first, in the subject, the text and chats', () => {
		const lookalike = { of: '0xd8dA000000000000000000000000000000006045', label: 'Exchange', prefix: 4, suffix: 4 }
		const message = messageFor(token, { lookalike })
		const { subject, text } = composeMessage(message)
		expect(subject).toBe('[ethereum] LOOK-ALIKE: Treasury received 100 USDC from 0xd8dA…6045')
		expect(text).toContain(`Exchange, ${lookalike.of}: 4 digits agree at the front, 4 at the end`)
		const markup = { disarm: (words: string) => words, link: (url: string) => url }
		expect(chatText(message, markup)).toContain(lookalike.of)
		const removed = composeMessage(messageOf(dataOf(token, { lookalike }), 'alert.removed'))
		expect(removed.subject).toMatch(/^\[ethereum\] LOOK-ALIKE: RETRACTED: /)
	})
})
