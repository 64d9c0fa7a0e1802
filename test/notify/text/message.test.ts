import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AlertData, Message } from '../../../src/model/alert.js'
import { composeMessage } from '../../../src/notify/text/message.js'
import { codePoint } from '../../support/codePoint.js'
import {
	alertData,
	alertDeliveryOf,
	blockHash,
	digestData,
	messageOf,
	payer,
	systemData,
	treasury,
	txHash,
	undeliveredData,
} from '../samples.js'

const unlabelled = { address: treasury, label: null, tags: [], watchlist: 'treasury.yaml' }
const created = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

const sentences: readonly (readonly [string, Partial<AlertData>, string])[] = [
	['a transfer in', {}, 'Treasury received 1.500000000000000001 ETH from 0xd8dA…6045'],
	['from a watched one', { counterpartyLabel: 'Payroll' }, 'Treasury received 1.500000000000000001 ETH from Payroll'],
	[
		'a transfer out',
		{ direction: 'out', from: treasury, to: payer, value: '1.5' },
		'Treasury sent 1.5 ETH to 0xd8dA…6045',
	],
	[
		'a transfer out of what its owner did not send',
		{ direction: 'out', from: treasury, to: payer, value: '1.5', initiator: created },
		'Treasury sent 1.5 ETH to 0xd8dA…6045, in a transaction that 0x5FbD…0aa3 started',
	],
	[
		'a transfer out that the recipient fetched',
		{ direction: 'out', from: treasury, to: payer, value: '1.5', initiator: payer },
		'Treasury sent 1.5 ETH to 0xd8dA…6045, in a transaction that the recipient started',
	],
	[
		'a transfer out that the watch sent',
		{ direction: 'out', from: treasury, to: payer, value: '1.5', initiator: treasury },
		'Treasury sent 1.5 ETH to 0xd8dA…6045',
	],
	['without a label', { watch: unlabelled, value: '2' }, '0x742d…f44e received 2 ETH from 0xd8dA…6045'],
	['to itself', { direction: 'self', from: treasury, value: '1' }, 'Treasury sent 1 ETH to itself'],
	[
		'a deployment with an endowment',
		{
			kind: 'deployment',
			frameType: 'create',
			direction: 'out',
			from: treasury,
			to: created,
			contractAddress: created,
			value: '0.25',
		},
		'Treasury deployed a contract at 0x5FbD…0aa3 with 0.25 ETH',
	],
	[
		'a deployment of the watch',
		{
			kind: 'deployment',
			frameType: 'create',
			direction: 'in',
			from: payer,
			to: treasury,
			contractAddress: treasury,
			valueWei: '0',
			value: '0',
		},
		'Treasury was deployed by 0xd8dA…6045',
	],
	['a block reward', { frameType: 'reward', from: null, value: '2' }, 'Treasury received 2 ETH as a block reward'],
	[
		'a self-destruct',
		{ frameType: 'suicide', value: '3' },
		'Treasury received 3 ETH from 0xd8dA…6045 (a contract destroyed itself)',
	],
	[
		'a delegation that was cleared',
		{ kind: 'delegation', frameType: 'delegation', delegate: null, previous: payer },
		'DELEGATION: Treasury is no longer delegated (to 0xd8dA…6045 before)',
	],
	['another coin', { network: 'polygon', asset: 'POL', value: '7' }, 'Treasury received 7 POL from 0xd8dA…6045'],
]

/** Controls, and the marks that turn writing round or cannot be seen. */
const hidden =
	'\u0000\u0007\u001b\u007f\u0085\u009b\u061c\u200b\u200e\u200f\u202a\u202b\u202d\u202e\u2028\u2029' +
	'\u2066\u2067\u2069\ufeff'

describe('subjects', () => {
	for (const [name, data, sentence] of sentences) {
		test(`default: ${name}`, () => {
			expect(composeMessage(messageOf(alertData(data))).subject).toBe(`[${data.network ?? 'ethereum'}] ${sentence}`)
		})
	}

	test('behavior: a removal is marked as withdrawn, a test as a test', () => {
		const retracted = composeMessage(messageOf(alertData({ value: '1' }), 'alert.removed'))
		expect(retracted.subject).toBe('[ethereum] RETRACTED: Treasury received 1 ETH from 0xd8dA…6045')
		expect(retracted.text).toContain('no longer in the chain')
		const found = alertData({ kind: 'unexplained', frameType: 'balance', from: null })
		const explained = composeMessage(messageOf(found, 'alert.removed'))
		for (const said of [explained.text, explained.html]) {
			expect(said).toContain('a later look explains the balance, or its block is no longer in the chain')
			expect(said).not.toContain('nothing that you were sent says why')
		}
		expect(composeMessage(messageOf(found, 'alert.unexplained')).text).toContain('!!! Coins moved')
		const sample = composeMessage(messageOf(alertData({ value: '1' }), 'test'))
		expect(sample.subject).toBe('[TEST] [ethereum] Treasury received 1 ETH from 0xd8dA…6045')
		expect(sample.text).toContain('This is a test')
	})

	test('behavior: a network that stands still, and one that continues', () => {
		const stalled = composeMessage(messageOf(systemData(), 'system.stalled'))
		expect(stalled.subject).toBe('[ethereum] STALLED: this network is not being watched at present')
		expect(stalled.text).toContain('No endpoint of ethereum has answered for 10 minutes.')
		expect(stalled.text).toContain('block 19000200')
		const recovered = composeMessage(messageOf(systemData({ head: null }), 'system.recovered'))
		expect(recovered.subject).toBe('[ethereum] Recovered: this network is being watched again')
	})

	test('behavior: a block that cannot be read, and that could be read at last', () => {
		const data = systemData({ fromBlock: 7, toBlock: 7, reason: 'block 7 cannot be read' })
		const gap = composeMessage(messageOf(data, 'system.gap'))
		expect(gap.subject).toBe('[ethereum] GAP: block 7 cannot be read at present')
		expect(gap.text).toMatch(/Blocks: +7\n/)
		const read = composeMessage(messageOf(data, 'system.recovered'))
		expect(read.subject).toBe('[ethereum] Recovered: block 7 could be read')
	})

	test('behavior: a receiver that accepts nothing, and one that refuses', () => {
		const parked = composeMessage(messageOf(undeliveredData(), 'system.undelivered'))
		expect(parked.subject).toBe(
			'NOT DELIVERED: ops-hook refuses messages; 12 messages wait, and what it refuses is sent to you too',
		)
		for (const fact of ['ops-hook', '12', 'answered 410', '2026-11-20 10:00:00 UTC', 'fallback of ops-hook'])
			expect(parked.text).toContain(fact)
		const one = undeliveredData({ recipient: 'a@example.org', count: 1 })
		expect(composeMessage(messageOf(one, 'system.undelivered')).subject).toBe(
			'NOT DELIVERED: ops-hook (a@example.org) refuses messages; 1 message waits, ' +
				'and what it refuses is sent to you too',
		)
		const dead = composeMessage(messageOf(undeliveredData({ state: 'dead' }), 'system.undelivered'))
		expect(dead.subject).toBe(
			'NOT DELIVERED: ops-hook did not accept messages, which were given up; they are sent to you instead',
		)
		const ended = undeliveredData({ count: 0, ends: 'undelivered', reason: 'All that it refused was delivered.' })
		const over = composeMessage(messageOf(ended, 'system.recovered'))
		expect(over.subject).toBe('Recovered: nothing is left of what ops-hook refused')
		expect(over.text).toContain('All that it refused was delivered.')
		for (const fact of ['Waiting', 'Reason']) expect(over.text).not.toContain(fact)
	})

	test('behavior: the line of what to do stands by itself, and is never cut off with a long reason', () => {
		const reason = `no block of ethereum was scanned: ${'word '.repeat(200)}. To do: see whether the node runs`
		const { text, html } = composeMessage(messageOf(systemData({ reason }), 'system.stalled'))
		expect(text.split('\n')).toContain('To do: see whether the node runs')
		expect(html).toContain('<b>To do: see whether the node runs</b>')
		const parked = composeMessage(messageOf(undeliveredData(), 'system.undelivered'))
		expect(parked.text.split('\n')[2]).toMatch(/^To do: put right what the reason below says/)
		expect(parked.html).toContain('<b>To do: put right')
	})

	test('behavior: a message sent to a fallback says which receiver did not take it', () => {
		const message = messageOf(alertData())
		const { text } = composeMessage({ ...message, data: { ...message.data, insteadOf: 'ops-hook' } })
		expect(text).toContain('ops-hook did not take this, so it is sent to you.')
	})
})

describe('bodies', () => {
	test('default: hold every fact of an alert, in text and in HTML alike', () => {
		const late = { late: true, lagSeconds: 7_500, lateReason: 'tracewatch was not running' }
		const { text, html } = composeMessage(messageOf(alertData(late)))
		const facts = [treasury, payer, '1.500000000000000001 ETH', '1500000000000000001', 'transfer (a call), in', '0.1.2']
		facts.push(txHash, blockHash, '19000000', '2026-11-20 09:59:48 UTC', '2 h 5 min', 'tracewatch was not running')
		facts.push('treasury.yaml', 'Treasury', 'cold, main', 'chain id 1', alertData().id)
		facts.push(...Object.values(alertData().links ?? {}))
		for (const fact of facts) {
			expect(text).toContain(fact)
			expect(shown(html)).toContain(fact)
		}
	})

	test('behavior: a late alert says so in its subject, with the time that it is about', () => {
		const late = { late: true, lagSeconds: 7_500, lateReason: 'tracewatch was not running' }
		const { subject } = composeMessage(messageOf(alertData(late)))
		const now = composeMessage(messageOf(alertData())).subject
		expect(subject).toBe(`${now} (late: of 2026-11-20 09:59 UTC)`)
	})

	test.each([
		[
			'look-alike',
			{ lookalike: { of: payer, label: null, prefix: 4, suffix: 4 } },
			'LOOK-ALIKE: ',
			'Compare every digit',
		],
		['unexplained', { kind: 'unexplained', frameType: 'balance' } as const, 'UNEXPLAINED: ', 'says why: a node leaves'],
	])('behavior: %s: the subject begins with it, and a framed word comes first', (_, rest, begin, words) => {
		const { subject, text, html } = composeMessage(messageOf(alertData(rest)))
		expect(subject.startsWith(`[ethereum] ${begin}`)).toBe(true)
		expect(text.split('\n')[2]).toMatch(/^!!! /)
		expect(text.split('\n')[2]).toContain(words)
		const banner = html.slice(html.indexOf('</h1>'), html.indexOf('<dl'))
		expect(banner).toContain('border:2px solid #d32f2f')
		expect(banner).toContain(words)
		expect(text.split(words)).toHaveLength(2)
	})

	test.each([
		['in', { from: created }],
		['out', { direction: 'out', from: treasury, to: created }],
		['of a new contract', { kind: 'deployment', direction: 'out', from: treasury, contractAddress: created }],
	] as const)('behavior: a look-alike, %s: both addresses whole, one below the other', (_, rest) => {
		const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 4 }
		const { text, html } = composeMessage(messageOf(alertData({ ...rest, lookalike })))
		expect(text.split('\n').slice(3, 5)).toEqual([`!!! This one: ${created}`, `!!! You know: ${payer}`])
		const banner = html.slice(html.indexOf('</h1>'), html.indexOf('<dl'))
		expect(banner.match(/<code[^>]*>0x\w{40}(?=<)/g)).toHaveLength(2)
	})

	test('default: the hash is the link; ids and exact values stand at the foot, folded', () => {
		const { text, html } = composeMessage(messageOf(alertData()))
		const link = `https://explorer.example/tx/${txHash}`
		expect(html).toMatch(new RegExp(`<a [^>]*href="${link}"><code[^>]*>${txHash}</code></a>`))
		expect(html.replaceAll(/<[^>]*>/g, '')).not.toContain('https://')
		const [main = '', foot = ''] = html.split('<details')
		for (const id of [alertData().id, blockHash, '1500000000000000001', 'chain id 1']) {
			expect(main.replaceAll(/<[^>]*>/g, ''), id).not.toContain(id)
			expect(foot, id).toContain(id)
		}
		expect(foot).toContain('<summary style="font-size:13px">Ids and exact values</summary>')
		const lines = text.split('\n')
		expect(lines.indexOf('Ids and exact values')).toBeGreaterThan(lines.findIndex((line) => line.startsWith('Why')))
	})

	test.each([
		['0xD8dA6a7C12e9B3F48c5d0e1F2a3b4C5d6e7F6045', '·······a7C12e9B3F48c5·0·1F2a·b4C5d6e7F····'],
		// Capital letters make no other address.
		['0xd8da6bf26964af9d7eed9e03e53415d37aa96040', `${'·'.repeat(41)}0`],
	])('behavior: a look-alike shows the digits that differ, each below its own: %s', (from, differing) => {
		const known = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
		const lookalike = { of: known, label: 'Supplier', prefix: 4, suffix: 4 }
		const { text, html } = composeMessage(messageOf(alertData({ from, lookalike })))
		const lines = text.split('\n').slice(3, 6)
		expect(lines).toEqual([`!!! This one: ${from}`, `!!! You know: ${known}`, `!!! Differs:  ${differing}`])
		expect(html).toContain(`<code style="font-size:13px">${differing}</code>`)
	})

	const everything: readonly Message[] = [
		...sentences.map(([, data]) => messageOf(alertData(data))),
		messageOf(alertData({ late: true, lateReason: 'a <b>bold</b> reason & more' }), 'alert.removed'),
		messageOf(alertData({ watch: unlabelled }), 'test'),
		messageOf(alertData({ lookalike: { of: payer, label: 'Supplier', prefix: 4, suffix: 4 } })),
		messageOf(systemData({ reason: 'no answer. To do: look at the node' }), 'system.stalled'),
		messageOf(undeliveredData(), 'system.undelivered'),
		messageOf(digestData([alertDeliveryOf(1), alertDeliveryOf(2)]), 'alert.digest'),
	]
	test('behavior: text and HTML say the same, word for word', () => {
		for (const message of everything) {
			const { text, html } = composeMessage(message)
			// In text what is framed is marked.
			expect(words(shown(html))).toEqual(words(text).filter((word) => word !== '!!!'))
		}
	})

	test('behavior: no label can add markup, lines, or turn the writing round', () => {
		const nasty = fc.oneof(
			fc.string({ unit: codePoint }),
			fc.constantFrom(
				'<script>',
				'</td>',
				'"onclick=',
				'\u202e',
				'\u2066',
				'\r\nBcc: x@y',
				'\u0000',
				'&lt;',
				"'",
				'\u200b',
				'\ud800',
			),
		)
		const label = fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join(''))
		fc.assert(
			fc.property(label, label, label, (one, other, tag) => {
				const watch = { ...alertData().watch, label: one, tags: [tag], watchlist: `${tag}.yaml` }
				const message = messageOf(alertData({ watch, counterpartyLabel: other, lateReason: tag, late: true }))
				const { subject, text, html } = composeMessage(message)
				const clean = composeMessage(messageOf(alertData({ late: true, lateReason: 'x' })))
				for (const said of [subject, text, html]) {
					expect([...hidden].filter((mark) => said.includes(mark))).toEqual([])
					// Half a character would not survive the way.
					expect(Buffer.from(said, 'utf8').toString('utf8')).toBe(said)
				}
				expect(subject).not.toMatch(/[\r\n]/)
				expect(tags(html)).toEqual(tags(clean.html))
				expect(text.split('\n').length).toBe(clean.text.split('\n').length)
			}),
		)
	})

	test('behavior: an endless label is cut', () => {
		const watch = { ...alertData().watch, label: '🐋'.repeat(5_000) }
		expect([...composeMessage(messageOf(alertData({ watch }))).subject].length).toBeLessThan(200)
	})
})

/** What a reader of the HTML sees, and where its links lead, as in the text: after the words. */
function shown(html: string): string {
	return html
		.replace(/<head>.*<\/head>/s, '')
		.replaceAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs, '$2 $1')
		.replace(/<[^>]*>/g, ' ')
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&quot;', '"')
		.replaceAll('&#39;', "'")
		.replaceAll('&amp;', '&')
}

function words(text: string): readonly string[] {
	return text.split(/\s+/).filter((word) => word !== '')
}

function tags(html: string): readonly string[] {
	return html.match(/<\/?[a-z!]+/g) ?? []
}
