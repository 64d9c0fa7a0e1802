import { expect, test } from 'vitest'
import { alertsIn } from '../../../src/core/outbox/digest.js'
import { foldOverflow } from '../../../src/core/outbox/fold.js'
import { inSendingOrder } from '../../../src/core/outbox/urgency.js'
import { finish } from '../../../src/core/steps.js'
import type { AlertData } from '../../../src/model/alert.js'
import type { Delivery } from '../../../src/model/delivery.js'
import {
	alertData,
	alertDeliveryOf,
	deliveryOf,
	idOf,
	messageOf,
	payer,
	removalOf,
	systemData,
} from '../../notify/samples.js'

const number = ({ id }: Delivery) => Number(`0x${id.slice(-8)}`)
const dataOf = ({ message }: Delivery) => message.data as AlertData
const fold = (all: readonly Delivery[], room: number) => finish(foldOverflow(all, { roomOf: () => room, decimals: 18 }))
const dust = (at: number, valueWei: string, rest: Partial<AlertData> = {}) =>
	alertDeliveryOf(at, {}, { valueWei, ...rest })

test('default: alerts above the limit are folded into the first of them, with blocks and sums; nothing is lost', () => {
	const all = Array.from({ length: 20 }, (_, at) => dust(at + 1, '100000000000000000', { blockNumber: 100 + at }))
	const { deliveries, folded } = fold(all, 5)
	expect(deliveries.map(number)).toEqual([1, 2, 3, 4, 5, 6])
	expect(deliveries.map((one) => dataOf(one).folded?.count ?? 0)).toEqual([0, 0, 0, 0, 0, 14])
	expect(dataOf(deliveries[5] as Delivery).folded).toEqual({
		...{ count: 14, fromBlock: 106, toBlock: 119 },
		sums: [{ direction: 'in', asset: 'ETH', count: 14, amountRaw: '1400000000000000000', amount: '1.4' }],
	})
	expect(folded.map(number)).toEqual(Array.from({ length: 14 }, (_, at) => at + 7))
	expect(deliveries.reduce((sum, { message }) => sum + alertsIn(message), 0)).toBe(20)
	// The id and all else of the first stay as they were.
	const { folded: _, ...data } = dataOf(deliveries[5] as Delivery)
	expect({ ...deliveries[5], message: { ...deliveries[5]?.message, data } }).toEqual(all[5])
})

test('behavior: with room, or one of a watch alone, nothing is folded', () => {
	const all = [dust(1, '1'), dust(2, '2')]
	expect(fold(all, 2)).toEqual({ deliveries: all, folded: [] })
	const other = { address: payer, label: null, tags: [], watchlist: 'a.yaml' }
	const each = [dust(1, '1'), dust(2, '2', { watch: other })]
	expect(fold(each, 0)).toEqual({ deliveries: each, folded: [] })
})

test('behavior: alarms, what leaves a watch, retractions and messages of tracewatch are never folded', () => {
	const out = alertDeliveryOf(2, {}, { direction: 'out' })
	const all = [
		...[dust(1, '1'), out, alertDeliveryOf(3, {}, { direction: 'out' })],
		...[alertDeliveryOf(4, {}, { kind: 'unexplained' }), alertDeliveryOf(5, {}, { kind: 'unexplained' })],
		...[removalOf(6, dust(60, '1')), removalOf(7, dust(70, '1')), dust(8, '3')],
		alertDeliveryOf(9, { rank: 3 }, { direction: 'in' }),
		...[10, 11].map((at) => deliveryOf(at, { message: messageOf(systemData(), 'system.gap', idOf(at)) })),
	]
	const { deliveries, folded } = fold(all, -100)
	expect(deliveries.map(number)).toEqual([1, 2, 3, 4, 5, 6, 7, 9, 10, 11])
	expect(folded.map(number)).toEqual([8])
})

test('behavior: each queue, watch and rank is folded by itself; known tokens are summed by contract', () => {
	const token = (symbol: string, rest: object = {}) =>
		({
			...{ kind: 'token', asset: symbol },
			token: { standard: 'erc20', address: payer, symbol, decimals: 6, known: true, amountRaw: '2500000', ...rest },
		}) as unknown as Partial<AlertData>
	const unknown = token('X', { known: false, decimals: null })
	const lookalike = { lookalike: { of: payer, label: null, prefix: 4, suffix: 4 } }
	const all = [
		...[dust(1, '1'), dust(2, '5'), alertDeliveryOf(3, {}, token('USDC')), alertDeliveryOf(4, {}, token('USDC'))],
		...[alertDeliveryOf(5, {}, unknown), alertDeliveryOf(6, {}, { ...unknown, more: 7 })],
		...[alertDeliveryOf(7, {}, lookalike), alertDeliveryOf(8, {}, lookalike)],
		...[alertDeliveryOf(9, { receiver: 'mail', recipient: 'a@example.org' })],
	]
	const { deliveries } = fold(all, 0)
	expect(deliveries.map(number)).toEqual([1, 7, 9])
	expect(dataOf(deliveries[0] as Delivery)).toMatchObject({
		more: 7,
		folded: {
			count: 5,
			sums: [
				{ direction: 'in', asset: 'ETH', count: 1, amountRaw: '5', amount: '0.000000000000000005' },
				{ direction: 'in', asset: 'USDC', contract: payer, count: 2, amountRaw: '5000000', amount: '5' },
				{ direction: 'in', asset: null, count: 2, amountRaw: null, amount: null },
			],
		},
	})
	// A retraction of what was folded comes after the alert that told it, under whatever rank.
	const gone = removalOf(10, all[7] as Delivery)
	expect(inSendingOrder([...deliveries, gone]).map(number)).toEqual([7, 10, 1, 9])
})

test('behavior: a sum of NFTs has no amount, whatever decimals their contract has', () => {
	const token = {
		standard: 'erc721',
		address: payer,
		symbol: 'PUNK',
		decimals: 18,
		known: true,
		amountRaw: '1',
	} as const
	const nft = { kind: 'token', asset: 'PUNK', token: { ...token, amount: null, tokenId: '7' } } as const
	const { deliveries } = fold([dust(1, '0', nft), dust(2, '0', nft), dust(3, '0', nft)], 0)
	const sum = { direction: 'in', asset: 'PUNK', contract: payer, count: 2, amountRaw: '2', amount: null }
	expect(dataOf(deliveries[0] as Delivery).folded?.sums).toEqual([sum])
})

test('behavior: a failed call adds nothing to the sum, whatever it carried', () => {
	const call = (at: number, success: boolean) => dust(at, '1000000000000000000', { kind: 'call', success })
	const { deliveries } = fold([call(1, false), call(2, false), call(3, true)], 0)
	expect(dataOf(deliveries[0] as Delivery).folded).toMatchObject({ count: 2, sums: [{ count: 2, amount: '1' }] })
})

test('behavior: coins that a call carried are summed once, as its transfer or as the call alone', () => {
	const txHash = `0x${'7'.repeat(64)}` as const
	const [first, second] = [1, 2].map((at) => ({ txHash, traceAddress: [at] }))
	const call = { kind: 'call', success: true } as const
	const all = [
		...[dust(1, '5', first), dust(2, '5', { ...first, ...call }), dust(3, '7', { ...second, ...call })],
		...[dust(4, '7', second), dust(5, '9', { txHash, traceAddress: [3], ...call })],
	]
	const sums = { direction: 'in', asset: 'ETH', count: 4, amountRaw: '16', amount: '0.000000000000000016' }
	expect(dataOf(fold(all, 0).deliveries[0] as Delivery).folded?.sums).toEqual([sums])
})

test('behavior: the headline of a folded alert says how many more there are, and their sums', async () => {
	const { headline } = await import('../../../src/notify/text/sentence.js')
	const all = Array.from({ length: 3 }, (_, at) => dust(at + 1, '150000000000000000'))
	const [head] = fold(all, 0).deliveries
	expect(headline((head as Delivery).message)).toMatch(/, and 2 more alerts \(0\.3 ETH in\)$/)
	expect(alertData().folded).toBeUndefined()
})

test('behavior: a flood is folded in steps, between which other work continues', () => {
	const all = Array.from({ length: 5_000 }, (_, at) => dust(at + 1, '1'))
	const steps = foldOverflow(all, { roomOf: () => 0, decimals: 18 })
	let count = 0
	while (steps.next().done !== true) count += 1
	// Each of its three passes over the deliveries stops after at most 500 of them.
	expect(count).toBeGreaterThanOrEqual(3 * 9)
})
