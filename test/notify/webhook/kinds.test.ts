// Every kind of alert in every format: what happened, to whom, and what must not be overlooked.
import { describe, expect, test } from 'vitest'
import type { AlertData, Message } from '../../../src/model/alert.js'
import { composeMessage } from '../../../src/notify/text/message.js'
import { headline } from '../../../src/notify/text/sentence.js'
import type { FormatName } from '../../../src/notify/webhook/formats/byName.js'
import { formats as byName } from '../../../src/notify/webhook/formats/byName.js'
import {
	alertData,
	alertDeliveryOf,
	blockHash,
	deliveryOf,
	digestData,
	messageOf,
	payer,
	removalOf,
	startMs,
} from '../samples.js'

const other = '0x00000000000000000000000000000000000D0001'
const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 5 }
const noFrame = { txHash: blockHash, txIndex: null, traceAddress: [], from: null } as const
const usdc = {
	standard: 'erc20',
	address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
	symbol: 'USDC',
	decimals: 6,
	known: true,
	amountRaw: '1500000',
	amount: '1.5',
	tokenId: null,
} as const

interface Kind {
	readonly data: Partial<AlertData>
	/** How it begins after the network; null: with the sentence. */
	readonly mark: string | null
	readonly says: string
	/** In full, wherever it is told alone. */
	readonly facts: readonly string[]
}

const kinds: Readonly<Record<string, Kind>> = {
	transfer: { data: {}, mark: null, says: 'Treasury received 1.500000000000000001 ETH', facts: [payer] },
	'a look-alike': { data: { lookalike }, mark: 'LOOK-ALIKE', says: 'Treasury received', facts: [payer, 'Supplier'] },
	deployment: {
		data: {
			kind: 'deployment',
			frameType: 'create2',
			direction: 'out',
			contractAddress: other,
			to: other,
			valueWei: '0',
			value: '0',
		},
		mark: null,
		says: 'Treasury deployed a contract at 0x0000…0001',
		facts: [other],
	},
	token: {
		data: { kind: 'token', frameType: 'log', token: usdc, value: '1.5', asset: 'USDC', valueWei: undefined as never },
		mark: null,
		says: 'Treasury received 1.5 USDC',
		facts: [payer, usdc.address],
	},
	withdrawal: {
		data: { ...noFrame, kind: 'withdrawal', frameType: 'withdrawal', index: '7', validatorIndex: '42' },
		mark: null,
		says: 'Treasury received 1.500000000000000001 ETH as a withdrawal from staking',
		facts: ['7, of validator 42'],
	},
	delegation: {
		data: {
			...{ kind: 'delegation', frameType: 'delegation', direction: 'self', valueWei: '0', value: '0' },
			...{ delegate: other, previous: payer, authorisation: { chainId: 1, nonce: 3 } },
		},
		mark: 'DELEGATION',
		says: 'Treasury is delegated to 0x0000…0001',
		facts: [other, payer],
	},
	income: {
		data: { ...noFrame, kind: 'income', frameType: 'income', transactions: 12 },
		mark: null,
		says: 'Treasury earned 1.500000000000000001 ETH in priority fees as the author of block 19000000',
		facts: [],
	},
	'a low balance': {
		data: {
			...noFrame,
			kind: 'balance',
			frameType: 'balance',
			direction: 'out',
			crossed: 'below',
			threshold: '2',
			balance: '1.5',
		},
		mark: 'LOW',
		says: 'the balance of Treasury is 1.500000000000000001 ETH, below 2 ETH',
		facts: [],
	},
	'a high balance': {
		data: { ...noFrame, kind: 'balance', frameType: 'balance', crossed: 'above', threshold: '1', balance: '1.5' },
		mark: 'HIGH',
		says: 'the balance of Treasury is 1.500000000000000001 ETH, above 1 ETH',
		facts: [],
	},
	unexplained: {
		data: {
			...{ ...noFrame, kind: 'unexplained', frameType: 'balance', fromBlock: 18_999_998, toBlock: 19_000_000 },
			...{ openingWei: '1', closingWei: '2', explainedWei: '0', differenceWei: '1', difference: '1' },
			...{ endpoints: ['node.example'], reason: 'no frame that any endpoint tells of accounts for it' },
		},
		mark: 'UNEXPLAINED',
		says: 'the balance of Treasury rose by 1.500000000000000001 ETH',
		facts: ['18999998', 'no frame that any endpoint tells of accounts for it'],
	},
}

const formats: Readonly<Record<FormatName, string>> = {
	standard: 'https://hook.example/x',
	slack: 'https://hook.example/services/T/B/S',
	discord: 'https://hook.example/api/webhooks/1/S',
	telegram: 'https://hook.example/bot1:S?chat_id=1',
	ntfy: 'https://hook.example/topic',
	pagerduty: 'https://hook.example/v2/enqueue',
	alertmanager: 'https://hook.example/',
}
const chats: readonly FormatName[] = ['slack', 'discord', 'telegram', 'ntfy']

/** Parsed, and as a reader sees it: without the signs that take the meaning from markup. */
function sent(format: FormatName, message: Message) {
	const target = { url: new URL(formats[format]), secret: 'K' }
	const delivery = deliveryOf(1, { message })
	const body = JSON.parse(byName[format].request(delivery, target, startMs).body.toString('utf8'))
	const texts: string[] = []
	JSON.stringify(body, (_key, value) => {
		if (typeof value === 'string') texts.push(value)
		return value
	})
	return { body, text: texts.join('\n').replaceAll('\\', '').replaceAll('\u200b', '') }
}

const messageFor = ({ data }: Kind) => {
	const whole = alertData(data)
	return messageOf(whole, `alert.${whole.kind}`)
}

describe.each(Object.entries(kinds))('%s', (_name, kind) => {
	const message = messageFor(kind)

	test.each(Object.keys(formats) as FormatName[])('default: %s says what happened, and in full to whom', (format) => {
		const { body, text } = sent(format, message)
		expect(text).not.toMatch(/undefined|NaN|\bnull\b|\[object/)
		if (format === 'standard') return expect(body).toEqual(JSON.parse(JSON.stringify(message)))
		expect(text).toContain(kind.says)
		for (const fact of [...kind.facts, '0x742d35Cc6634C0532925a3b844Bc454e4438f44e']) expect(text).toContain(fact)
		const begins = `[ethereum] ${kind.mark === null ? '' : `${kind.mark}: `}`
		expect(text).toContain(`${begins}${kind.says.slice(0, 8)}`)
		if (format === 'ntfy') expect(body.priority).toBe(kind.mark === null ? 3 : 4)
		if (format === 'pagerduty') expect(body.payload.severity).toBe(kind.mark === null ? 'info' : 'warning')
	})

	test('behavior: a mail, a digest of mails and of chats begin with its mark; taken back it has none', () => {
		const { subject, html } = composeMessage(message)
		expect(subject.startsWith(`[ethereum] ${kind.mark ?? 'Treasury'}`)).toBe(true)
		expect(html.includes('border-left:8px solid #d32f2f')).toBe(kind.mark !== null)
		const calm = [alertDeliveryOf(1), alertDeliveryOf(2)]
		const own = deliveryOf(3, { message })
		const digest = messageOf(digestData([...calm, own]), 'alert.digest')
		const mark = kind.mark === null ? '' : `${kind.mark}: among `
		expect(headline(digest)).toBe(`[ethereum] ${mark}3 alerts: Treasury`)
		const composed = composeMessage(digest)
		expect(composed.text.includes('!!! Look at these first:\n!!! 3. ')).toBe(kind.mark !== null)
		for (const format of chats) {
			const { body, text } = sent(format, digest)
			expect(text.split('\n').includes('Look at these first: 3')).toBe(kind.mark !== null)
			expect(text).toContain(`3. ${kind.mark === null ? '' : `${kind.mark}: `}${kind.says.slice(0, 8)}`)
			if (format === 'ntfy') expect(body.priority).toBe(kind.mark === null ? 3 : 4)
		}
		const gone = messageOf(digestData([...calm, removalOf(4, own)]), 'alert.digest')
		expect(headline(gone)).toBe('[ethereum] 3 alerts: Treasury')
		expect(composeMessage(gone).text).toContain('RETRACTED: ')
	})
})
