import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Delivery } from '../../../src/model/delivery.js'
import { MOST_IN_MAIL } from '../../../src/notify/email/email.js'
import { composeMessage } from '../../../src/notify/text/message.js'
import { alertData, alertDeliveryOf, digestData, messageOf, payer, removalOf, treasury } from '../samples.js'

describe('the mail of a digest', () => {
	test('behavior: a digest says how many, and who first', () => {
		const labelled = (number: number, label: string | null, network = 'ethereum') =>
			alertDeliveryOf(number, {}, { network, watch: { ...alertData().watch, label } })
		const subject = (...alerts: readonly Delivery[]) =>
			composeMessage(messageOf(digestData(alerts), 'alert.digest')).subject
		const [one, same, two, three] = [
			labelled(1, 'Treasury'),
			labelled(2, 'Treasury'),
			labelled(3, 'Vault', 'base'),
			labelled(4, null),
		]
		expect(subject(one, same)).toBe('[ethereum] 2 alerts: Treasury')
		expect(subject(one, same, two)).toBe('[ethereum, base] 3 alerts: Treasury and 1 other')
		expect(subject(three, one, same, two)).toBe('[ethereum, base] 4 alerts: 0x742d…f44e and 2 others')
	})

	test('behavior: a digest counts what its folded alerts stand for, in subject, text and HTML', () => {
		const folded = (count: number) => ({ count, fromBlock: 7, toBlock: 9, sums: [] })
		const alerts = [
			alertDeliveryOf(1),
			alertDeliveryOf(2, {}, { folded: folded(8) }),
			alertDeliveryOf(3, {}, { folded: folded(39) }),
		]
		const { subject, text, html } = composeMessage(messageOf(digestData(alerts), 'alert.digest'))
		// 1 + 9 + 40
		expect(subject).toBe('[ethereum] 50 alerts: Treasury')
		expect(text).toMatch(/^Alerts: +50$/m)
		expect(html.replaceAll(/<[^>]*>/g, ' ')).toMatch(/Alerts\W+50\b/)
	})

	test('behavior: a digest says of each alert who, how much, where and under which id', () => {
		const first = alertDeliveryOf(1)
		const second = alertDeliveryOf(2, {}, { direction: 'out', from: treasury, to: payer, value: '7', valueWei: '7' })
		const gone = removalOf(3, first)
		const { text, html } = composeMessage(messageOf(digestData([first, second, gone]), 'alert.digest'))
		for (const said of [text, html]) {
			expect(said).toContain('Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
			expect(said).toContain('Treasury sent 7 ETH to 0xd8dA…6045')
			expect(said).toContain('RETRACTED: Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
			for (const { message } of [first, second]) {
				const { id, txHash, valueWei } = message.data as AlertData
				for (const fact of [id, txHash, valueWei]) expect(said).toContain(fact)
			}
			for (const fact of [treasury, payer, 'treasury.yaml']) expect(said).toContain(fact)
			expect(said).toContain('no longer in the chain')
		}
	})

	test('behavior: a digest by mail is one table, with a row for each alert', () => {
		const sent = { direction: 'out', from: treasury, to: payer, value: '7', valueWei: '7000000000000000000' } as const
		const self = { ...sent, direction: 'self', to: treasury } as const
		const alerts = [alertDeliveryOf(1), alertDeliveryOf(2, {}, sent), alertDeliveryOf(3, {}, self)]
		const { text, html } = composeMessage(messageOf(digestData(alerts), 'alert.digest'))
		const rows = text.split('\n').filter((line) => /^ *(\d|#)+ {2}/.test(line))
		expect(rows.slice(1)).toEqual([
			' 1  2026-11-20 09:59:48  +1.500000000000000001 ETH  Treasury received 1.500000000000000001 ETH from 0xd8dA…6045',
			' 2  2026-11-20 09:59:48                     −7 ETH  Treasury sent 7 ETH to 0xd8dA…6045',
			' 3  2026-11-20 09:59:48                      7 ETH  Treasury sent 7 ETH to itself',
		])
		expect(rows[0]?.trim().split(/ {2,}/)).toEqual(['#', 'Time (UTC)', 'Amount'])
		expect(html.match(/<th scope="col"/g)).toHaveLength(3)
		// What happened, and the particulars, each as wide as the table: on a phone a column has a few letters' room.
		expect(html.match(/<td colspan="3"/g)).toHaveLength(6)
	})

	test.each([
		[15, 1, true],
		[MOST_IN_MAIL, 1, false],
		[MOST_IN_MAIL, 80, false],
	])('behavior: %s alerts with labels of %s letters make less than 80 kB: with ids: %s', (count, letters, hasIds) => {
		const watch = { ...alertData().watch, label: 'é'.repeat(letters) }
		const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 5 }
		const all = Array.from({ length: count }, (_, at) =>
			alertDeliveryOf(at + 1, {}, { watch, ...(letters > 1 && { lookalike }) }),
		)
		const { id: idOfFirst = '' } = all[0]?.message.data ?? {}
		const { text, html } = composeMessage(messageOf(digestData(all), 'alert.digest'))
		expect(Buffer.byteLength(text) + Buffer.byteLength(html)).toBeLessThanOrEqual(80_000)
		expect(text.match(/^ *!?\d+ {2}2026/gm)).toHaveLength(count)
		expect(html.match(/<tr valign="top"/g)).toHaveLength(count)
		for (const said of [text, html.replaceAll('&quot;', '"')]) {
			// The hash is left out, its link is not.
			expect(said.match(/https:\/\/explorer\.example\/tx\//g)).toHaveLength(count)
			expect(said.includes(idOfFirst)).toBe(hasIds)
			const leftOut = 'Addresses and ids are not shown: this mail would be too long. "tracewatch deliveries --sent"'
			expect(said.includes(leftOut)).toBe(!hasIds)
		}
	})

	test('behavior: look-alikes and unexplained changes stand in the subject, first, and marked in their rows', () => {
		const lookalike = { of: payer, label: 'Supplier', prefix: 4, suffix: 5 }
		const many = Array.from({ length: 30 }, (_, at) => alertDeliveryOf(at + 1))
		const bad = alertDeliveryOf(31, {}, { lookalike })
		const worse = alertDeliveryOf(32, {}, { kind: 'unexplained', frameType: 'balance' })
		const { subject, text, html } = composeMessage(messageOf(digestData([...many, bad, worse]), 'alert.digest'))
		expect(subject).toBe('[ethereum] LOOK-ALIKE, UNEXPLAINED: among 32 alerts: Treasury')
		expect(text.split('\n').slice(2, 5)).toEqual([
			'!!! Look at these first:',
			'!!! 31. LOOK-ALIKE: Treasury received 1.500000000000000001 ETH from 0xd8dA…6045',
			expect.stringMatching(/^!!! 32\. UNEXPLAINED: the balance of Treasury rose/),
		])
		expect(text).toMatch(/^ *!31 {2}/m)
		const banner = html.slice(html.indexOf('</h1>'), html.indexOf('<table'))
		expect(banner).toContain('border:2px solid')
		expect(banner).toContain('31. LOOK-ALIKE')
		expect(html.match(/border-left:6px solid #d32f2f/g)).toHaveLength(4)
		const calm = composeMessage(messageOf(digestData(many), 'alert.digest'))
		expect(calm.text + calm.html).not.toMatch(/!!!|#d32f2f/)
	})
})
