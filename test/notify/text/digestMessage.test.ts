import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Delivery } from '../../../src/model/delivery.js'
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
		const held = { from: '2026-11-20T21:00:00.000Z', to: '2026-11-21T05:00:00.000Z' }
		const { subject: said, text } = composeMessage(messageOf(digestData([one, same], { held }), 'alert.digest'))
		expect(said).toBe('[ethereum] 2 alerts that were held: Treasury')
		expect(text).toContain('A silence held them from 2026-11-20 21:00:00 UTC to 2026-11-21 05:00:00 UTC.')
	})

	test('behavior: a digest says of each alert who, how much, where and under which id', () => {
		const first = alertDeliveryOf(1)
		const second = alertDeliveryOf(2, {}, { direction: 'out', from: treasury, to: payer, value: '7', valueWei: '7' })
		const gone = removalOf(3, first)
		const { text, html } = composeMessage(messageOf(digestData([first, second, gone]), 'alert.digest'))
		for (const said of [text, html]) {
			expect(said).toContain('1. Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
			expect(said).toContain('2. Treasury sent 7 ETH to 0xd8dA…6045')
			expect(said).toContain('3. RETRACTED: Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
			for (const { message } of [first, second]) {
				const { id, txHash, valueWei } = message.data as AlertData
				for (const fact of [id, txHash, valueWei]) expect(said).toContain(fact)
			}
			for (const fact of [treasury, payer, 'treasury.yaml']) expect(said).toContain(fact)
			expect(said).toContain('no longer in the chain')
		}
	})
})
