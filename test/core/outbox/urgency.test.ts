import { expect, test } from 'vitest'
import { inSendingOrder, urgencyOf } from '../../../src/core/outbox/urgency.js'
import type { AlertData, Message } from '../../../src/model/alert.js'
import {
	alertData,
	alertDeliveryOf,
	messageOf,
	payer,
	removalOf,
	systemData,
	treasury,
	undeliveredData,
} from '../../notify/samples.js'

const lookalike = { of: payer, prefix: 4, suffix: 4 } as NonNullable<AlertData['lookalike']>
const token = (rest: object) =>
	({ standard: 'erc20', address: payer, symbol: 'X', decimals: 6, known: true, amountRaw: '5', ...rest }) as never
const of = (rest: Partial<AlertData>, type: Message['type'] = 'alert.transfer') => messageOf(alertData(rest), type)
const out = { direction: 'out' } as const

test.each<[string, Message, string]>([
	['a payment that comes in', of({}), 'ordinary'],
	['a withdrawal', of({ kind: 'withdrawal' }, 'alert.withdrawal'), 'ordinary'],
	['income', of({ kind: 'income' }, 'alert.income'), 'ordinary'],
	['a contract that made the watch', of({ kind: 'deployment' }, 'alert.deployment'), 'ordinary'],
	['a payment that goes out', of(out), 'outgoing'],
	['a payment to itself', of({ direction: 'self' }), 'outgoing'],
	['a contract made by the watch', of({ kind: 'deployment', ...out }, 'alert.deployment'), 'outgoing'],
	['a payment to a look-alike', of({ ...out, lookalike }), 'outgoing'],
	['a payment from a look-alike', of({ lookalike }), 'claim'],
	['a token that imitates another', of({ kind: 'token', token: token({ known: false, imitates: {} }) }), 'claim'],
	['an unknown token that comes in', of({ kind: 'token', token: token({ known: false }) }), 'ordinary'],
	['a known token that goes out', of({ kind: 'token', ...out, token: token({}) }), 'outgoing'],
	['nothing of a known token, out', of({ kind: 'token', ...out, token: token({ amountRaw: '0' }) }), 'claim'],
	['an unknown token that goes out', of({ kind: 'token', ...out, token: token({ known: false }) }), 'claim'],
	[
		'the same, in a transaction that the watch sent',
		of({ kind: 'token', ...out, initiator: treasury.toUpperCase(), token: token({ known: false }) }),
		'outgoing',
	],
	['what is unexplained', of({ kind: 'unexplained' }, 'alert.unexplained'), 'alarm'],
	['a balance', of({ kind: 'balance', crossed: 'below' }, 'alert.balance'), 'alarm'],
	['a delegation', of({ kind: 'delegation', confirmed: true }, 'alert.delegation'), 'alarm'],
	['a delegation that may be a replay', of({ kind: 'delegation', confirmed: false }, 'alert.delegation'), 'claim'],
	['a test', of({}, 'test'), 'ordinary'],
	['a stall', messageOf(systemData(), 'system.stalled'), 'alarm'],
	['the end of a stall', messageOf(systemData(), 'system.recovered'), 'alarm'],
	['the end of a gap', messageOf(systemData({ fromBlock: 3, toBlock: 3 }), 'system.recovered'), 'ordinary'],
	['word of a receiver', messageOf(undeliveredData(), 'system.undelivered'), 'alarm'],
])('%s', (_, message, urgency) => {
	expect(urgencyOf(message)).toBe(urgency)
})

test('default: urgent deliveries are sent first, in order of posting within each rank', () => {
	const alarm = { kind: 'unexplained' } as const
	const queue = [
		alertDeliveryOf(1),
		alertDeliveryOf(2, {}, { lookalike }),
		alertDeliveryOf(3, {}, out),
		alertDeliveryOf(4, {}, alarm),
		alertDeliveryOf(5),
		alertDeliveryOf(6, {}, out),
		alertDeliveryOf(7, {}, alarm),
		alertDeliveryOf(8, {}, { lookalike }),
	]
	const order = inSendingOrder(queue).map(({ id }) => Number(`0x${id.slice(-8)}`))
	expect(order).toEqual([4, 7, 3, 6, 2, 8, 1, 5])
})

test('behavior: a retraction has the rank of its alert, and what is announced again no better one', () => {
	const alert = alertDeliveryOf(1, {}, { lookalike })
	const again = alertDeliveryOf(3, { rank: 2 }, out)
	const order = inSendingOrder([alertDeliveryOf(9), alert, removalOf(2, alert), again, alertDeliveryOf(4, {}, out)])
	expect(order.map(({ id }) => Number(`0x${id.slice(-8)}`))).toEqual([4, 1, 2, 3, 9])
})
