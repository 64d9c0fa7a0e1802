// Changes that no event tells, on chains that are reorganised, and through endpoints that lie or disagree.
import { expect, test } from 'vitest'
import type { Address } from '../../../src/model/glossary.js'
import type { Dialect } from '../../support/dialectGateway.js'
import { slotOf } from '../../support/ruledContract.js'
import { a, admin, b, c, openScribed, ruled, slots, upgraded } from './scribed.js'

const moved = [['control', 'slot_implementation', 'implementation', a, b, 'storage']]
const beacon = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'

/** A node that shows other addresses in the storage of contracts, while it lies. */
function shows(from: Address, to: Address, isLying: () => boolean): Dialect {
	return {
		twist(method, params, result) {
			const isRead = method === 'eth_getStorageAt' || (method === 'eth_call' && params.length > 2)
			if (!isLying() || !isRead || typeof result !== 'string') return undefined
			return result.replaceAll(from.slice(2), to.slice(2))
		},
	}
}

/** A node without the frames that call an address. */
function withoutFrames(to: Address): Dialect {
	return {
		lacks: ['trace_filter', 'debug_traceBlockByNumber'],
		twist(method, _params, result) {
			if (!method.startsWith('trace_') || !Array.isArray(result)) return undefined
			return result.filter(({ action }) => action?.to !== to)
		},
	}
}

test('behavior: a silent change leaves the chain and comes again in a later block', async () => {
	const { anvil, bench, send, mine, told } = await openScribed({ storage: [[slots.implementation, a]] })
	await mine()
	await bench.settle()
	const snapshot = await anvil.rpc('evm_snapshot')
	await send([[slots.implementation, b]])
	const first = await mine()
	await bench.settle()
	expect(await told()).toEqual(moved)
	await anvil.rpc('evm_revert', [snapshot])
	await anvil.mine(2)
	await send([[slots.implementation, b]])
	const second = await mine()
	await bench.settle()
	const ids = (await bench.posted()).map(({ message: { type, data } }) => [type, 'id' in data && data.id])
	const id = (block: number) => `31337:${block}:slot_implementation:control:${ruled}`
	expect(second).toBe(first + 2)
	expect(ids).toEqual([
		['alert.control', id(first)],
		['alert.removed', id(first)],
		['alert.control', id(second)],
	])
})

test('behavior: a silent change whose block is replaced by one of the same number that has it, too', async () => {
	const { anvil, bench, send, mine, told, lookAgain } = await openScribed({ storage: [[slots.implementation, a]] })
	await mine()
	await bench.settle()
	const snapshot = await anvil.rpc('evm_snapshot')
	await send([[slots.implementation, b]])
	const first = await mine()
	await bench.settle()
	await anvil.rpc('evm_revert', [snapshot])
	await anvil.rpc('evm_setNextBlockTimestamp', [Math.floor(Date.now() / 1000) + 1000])
	await send([[slots.implementation, b]])
	expect(await mine()).toBe(first)
	await anvil.mine(2)
	await bench.settle()
	await lookAgain()
	const types = (await told()).map(([type]) => type)
	expect(types).toEqual(['control', 'removed', 'control'])
	expect(new Set((await told()).map(([, place]) => place))).toEqual(new Set(['slot_implementation']))
	const held = (await bench.store.network('local'))?.announcements.values() ?? []
	expect([...held].map(({ status, block }) => [status, block.number])).toEqual([['announced', BigInt(first)]])
	expect((await bench.store.network('local'))?.contracts.get(ruled)?.values.implementation).toBe(b)
})

test('behavior: an endpoint that hides a change of a slot: the rotation asks another one', async () => {
	const dialects = [shows(b, a, () => true), {}]
	const { bench, send, mine, told, alerts, lookAgain } = await openScribed({
		storage: [[slots.implementation, a]],
		dialects,
	})
	await mine()
	await bench.settle()
	await send([[slots.implementation, b]])
	await mine()
	await bench.settle()
	expect(await told()).toEqual([])
	await lookAgain()
	expect(await told()).toEqual(moved)
	const [alert] = await alerts()
	// A frame was there, and the first endpoint still says otherwise.
	expect(alert).not.toHaveProperty('unseen')
	expect(alert?.disputed).toBe(true)
})

test('behavior: an endpoint that invents a change of a slot: reported as disputed', async () => {
	let isLying = false
	const dialects = [shows(a, c, () => isLying), {}]
	const { bench, send, mine, told, alerts } = await openScribed({ storage: [[slots.implementation, a]], dialects })
	isLying = true
	await send([[99n, 1n]])
	await mine()
	await bench.settle()
	expect(await told()).toEqual([['control', 'slot_implementation', 'implementation', a, c, 'storage']])
	expect((await alerts())[0]?.disputed).toBe(true)
})

test('behavior: where both endpoints show a change, nothing is disputed', async () => {
	const { bench, send, mine, told, alerts, lookAgain } = await openScribed({
		storage: [[slots.implementation, a]],
		dialects: [{}, {}],
	})
	await send([[slots.implementation, b]])
	await mine()
	await bench.settle()
	await lookAgain()
	expect(await told()).toEqual(moved)
	expect((await alerts())[0]).not.toHaveProperty('disputed')
})

test('behavior: an endpoint that hides the frame of a silent change, and the frames of an honest one', async () => {
	const { bench, send, mine, told, alerts, lookAgain } = await openScribed({
		storage: [[slots.implementation, a]],
		dialects: [withoutFrames(ruled), {}],
	})
	await mine()
	await bench.settle()
	await send([[slots.implementation, b]])
	await mine()
	await bench.settle()
	await lookAgain()
	expect(await told()).toEqual(moved)
	expect((await alerts())[0]).not.toHaveProperty('disputed')
})

test('behavior: the auditor is cut off between two changes, one with its event: each is reported once', async () => {
	let isDown = false
	const down: Dialect = {
		twist: (_, params) => (isDown && JSON.stringify(params).includes('747261636577a8') ? { error: 'no' } : undefined),
	}
	const { bench, send, mine, told, lookAgain } = await openScribed({
		storage: [
			[slots.implementation, a],
			[beacon, admin],
		],
		dialects: [down],
	})
	await mine()
	await bench.settle()
	isDown = true
	await send([[slots.implementation, b]], upgraded(b))
	await mine()
	await bench.settle()
	await send([[slots.implementation, c]])
	await mine()
	await send([[slotOf('implementation()'), c]], null, admin)
	await mine()
	await bench.settle()
	isDown = false
	await lookAgain()
	expect(await told()).toEqual([
		['control', 'log_0', 'implementation', a, b, 'event'],
		['control', 'slot_implementation', 'implementation', b, c, 'storage'],
		['control', `slot_implementation_${admin}`, 'implementation', null, c, 'storage'],
	])
})
