import { describe, expect, test } from 'vitest'
import { alertId } from '../../../src/core/alerts/alertId.js'
import { eventsOf } from '../../../src/core/events/events.js'
import { match } from '../../../src/core/matching/match.js'
import type { Frame } from '../../../src/model/chain.js'
import type { Watch } from '../../../src/model/watch.js'
import { address, blockRef, frame, hash, indexOf, tx, watch } from '../build.js'

const found = (frames: readonly Frame[], ...watches: readonly Watch[]) =>
	match(eventsOf(tx(frames)), indexOf(...watches), () => true).map(
		({ event, direction, watch: { address }, receivers }) => [event.kind, direction, address, ...receivers],
	)

describe('match', () => {
	test('sender and recipient each get their own view', () => {
		expect(found([frame({})], watch(), watch({ address: address(2) }))).toEqual([
			['transfer', 'out', address(1), 'mail'],
			['transfer', 'in', address(2), 'mail'],
		])
	})

	test('behavior: a transfer to itself is reported once, and only to watches of both directions', () => {
		const self = frame({ to: address(1) })
		expect(found([self], watch())).toEqual([['transfer', 'self', address(1), 'mail']])
		expect(found([self], watch({ direction: 'in' }))).toEqual([])
		expect(found([self], watch({ direction: 'out' }))).toEqual([])
	})

	test.each([
		['in', address(2), 1],
		['in', address(1), 0],
		['out', address(1), 1],
		['out', address(2), 0],
	] as const)('args: direction %s on %s', (direction, watched, times) => {
		expect(found([frame({})], watch({ address: watched, direction }))).toHaveLength(times)
	})

	test('args: min_value lets through what equals it', () => {
		expect(found([frame({ valueWei: 5n })], watch({ minValueWei: 5n }))).toHaveLength(1)
		expect(found([frame({ valueWei: 4n })], watch({ minValueWei: 5n }))).toHaveLength(0)
	})

	test('behavior: a deployment is reported whatever it carries, to creator and created', () => {
		const create = frame({ type: 'create', valueWei: 0n })
		expect(found([create], watch({ minValueWei: 9n }), watch({ address: address(2) }))).toEqual([
			['deployment', 'out', address(1), 'mail'],
			['deployment', 'in', address(2), 'mail'],
		])
	})

	test('behavior: an endowment is a transfer only to a watch that gets no alert of the deployment', () => {
		const create = frame({ type: 'create2', valueWei: 7n })
		expect(found([create], watch())).toEqual([['deployment', 'out', address(1), 'mail']])
		expect(found([create], watch({ kinds: ['transfer'] }))).toEqual([['transfer', 'out', address(1), 'mail']])
	})

	test('behavior: a receiver named by two watchlists is reported once, by the first', () => {
		const first = watch({ receivers: ['mail'], watchlist: 'a.yaml', label: 'first' })
		const second = watch({ receivers: ['mail', 'hook'], watchlist: 'b.yaml', label: 'second' })
		const matches = match(eventsOf(tx([frame({})])), indexOf(first, second), () => true)
		expect(matches.map((one) => [one.watch.label, one.receivers])).toEqual([
			['first', ['mail']],
			['second', ['hook']],
		])
	})

	test('behavior: two payments of one transaction to one address are two', () => {
		const frames = [frame({ valueWei: 0n }), frame({ traceAddress: [0] }), frame({ traceAddress: [1] })]
		expect(found(frames, watch({ address: address(2) }))).toHaveLength(2)
	})

	test('behavior: rewards of one block get ids of their own, under the block', () => {
		const reward = { type: 'reward', from: null, to: address(1), callType: null } as const
		const events = eventsOf(tx([frame({ ...reward }), frame({ ...reward })], { txHash: null, txIndex: null }))
		expect(events.map((event) => alertId(1, event, address(1)))).toEqual([
			`1:${blockRef(10).hash}:reward_0:transfer:${address(1)}`,
			`1:${blockRef(10).hash}:reward_1:transfer:${address(1)}`,
		])
	})

	test('the id names chain, transaction, trace, kind and address, without a full stop', () => {
		const [event] = eventsOf(tx([frame({ traceAddress: [0, 1, 2] })]))
		if (event === undefined) throw new Error('no event')
		expect(alertId(5, event, address(1))).toBe(`5:${hash(0xabc)}:0_1_2:transfer:${address(1)}`)
	})
})
