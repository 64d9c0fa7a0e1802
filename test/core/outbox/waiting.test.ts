// Which messages must not overtake each other: messages about the same thing.
import { expect, test } from 'vitest'
import { blockerOf } from '../../../src/core/outbox/waiting.js'
import type { SystemData } from '../../../src/model/alert.js'
import type { Delivery } from '../../../src/model/delivery.js'
import { alertDeliveryOf, deliveryOf, messageOf, systemData } from '../../notify/samples.js'

type Type = Delivery['message']['type']

const system = (number: number, type: Type, rest: Partial<SystemData>) =>
	deliveryOf(number, { message: messageOf(systemData({ id: `1:${type}:ethereum:${number}`, ...rest }), type) })
const gap = { fromBlock: 5, toBlock: 5 }
const refused = { ends: 'refused' } as const

test.each([
	['a later stall', system(1, 'system.recovered', {}), system(2, 'system.stalled', {})],
	['the acceptance of a gap', system(1, 'system.gap', gap), system(2, 'system.gap', { ...gap, acceptedAt: 'now' })],
	['the end of a gap', system(1, 'system.gap', gap), system(2, 'system.recovered', gap)],
	['another wrong edit', system(1, 'system.recovered', refused), system(2, 'system.refused', {})],
	['HIGH of a balance', balance(1, 'below'), balance(2, 'above')],
])('behavior: %s does not overtake what was said before', (_, first, second) => {
	expect(blockerOf(second, [first])).toBe(first)
})

test.each([
	['a stall and a gap', system(1, 'system.stalled', {}), system(2, 'system.gap', gap)],
	['two gaps', system(1, 'system.gap', gap), system(2, 'system.gap', { fromBlock: 6, toBlock: 6 })],
	['stalls of two networks', system(1, 'system.stalled', {}), system(2, 'system.stalled', { network: 'base' })],
	['a payment and a balance', alertDeliveryOf(1), balance(2, 'above')],
	['two payments', alertDeliveryOf(1), alertDeliveryOf(2)],
])('behavior: %s do not wait for each other', (_, first, second) => {
	expect(blockerOf(second, [first])).toBeNull()
})

function balance(number: number, place: 'below' | 'above'): Delivery {
	return alertDeliveryOf(number, {}, { kind: 'balance', id: `1:${number}:${place}:balance:0xab` })
}
