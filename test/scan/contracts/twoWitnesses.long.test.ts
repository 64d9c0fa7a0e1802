// A contract's events and its storage tell of the same changes: one alert for each, whichever is seen first, and one
// more where storage denies an event.
import { expect, test } from 'vitest'
import type { Dialect } from '../../support/dialectGateway.js'
import { slotOf } from '../../support/ruledContract.js'
import { type Event, scribeCode } from '../../support/scribe.js'
import { watchOf } from '../bench.js'
import { a, admin, at, b, c, d, openScribed, slots, upgraded, withoutLogs } from './scribed.js'

test('behavior: storage first, then the event: one alert, which both show in the end', async () => {
	let isHiding = true
	const dialects = [withoutLogs(() => isHiding)]
	const { send, mine, bench, told, evidence, lookAgain } = await openScribed({
		storage: [[slots.implementation, a]],
		dialects,
	})
	await send([[slots.implementation, b]], upgraded(b))
	await mine()
	await bench.settle()
	const once = [['control', 'slot_implementation', 'implementation', a, b, 'storage']]
	expect(await told()).toEqual(once)
	isHiding = false
	await lookAgain()
	expect(await told()).toEqual(once)
	expect(await evidence()).toEqual(['announced both'])
})

test('behavior: an endpoint that hides an event is found out by the second look at another one', async () => {
	const dialects = [withoutLogs(() => true), {}]
	const { send, mine, bench, told, lookAgain } = await openScribed({ dialects })
	// No place shows a role.
	await send([[99n, 1n]], { event: 'RoleGranted(bytes32,address,address)', topics: [7n, b, c] })
	await mine()
	await bench.settle()
	await lookAgain()
	expect(await told()).toEqual([['control', 'log_0', 'role', null, b, 'event']])
})

test('behavior: two upgrades in one block, and one in the next: each once, with the value before it', async () => {
	let isDown = false
	const dialects: readonly Dialect[] = [
		{
			twist: (_, params) => (isDown && JSON.stringify(params).includes('747261636577a8') ? { error: 'no' } : undefined),
		},
	]
	const { send, mine, bench, told, evidence, lookAgain } = await openScribed({
		storage: [[slots.implementation, a]],
		dialects,
	})
	isDown = true
	await send([[slots.implementation, b]], upgraded(b))
	await send([[slots.implementation, c]], upgraded(c))
	await mine()
	await bench.settle()
	// Seen before storage is read after the block before it.
	await send([[slots.implementation, d]], upgraded(d))
	await mine()
	await bench.settle()
	isDown = false
	await lookAgain()
	expect(await told()).toEqual([
		['control', 'log_0', 'implementation', a, b, 'event'],
		['control', 'log_0', 'implementation', b, c, 'event'],
		['control', 'log_0', 'implementation', c, d, 'event'],
	])
	expect(await evidence()).toEqual(['announced event', 'announced both', 'announced both'])
})

test('behavior: an upgrade is logged that was not made: contradicted once, where the place is in use', async () => {
	const { send, mine, bench, told, alerts, lookAgain } = await openScribed({ storage: [[slots.implementation, a]] })
	// The rotation begins before the lie, and comes again after it.
	await mine()
	await bench.settle()
	await send([], upgraded(b))
	const block = await mine()
	await bench.settle()
	await lookAgain()
	expect(await told()).toEqual([
		['control', 'log_0', 'implementation', a, b, 'event'],
		['control', 'slot_implementation', 'implementation', a, a, 'storage'],
	])
	const [event, denial] = await alerts()
	expect(denial).toMatchObject({ blockNumber: block, contradicted: true, contradicts: event?.id })
	expect(event).not.toHaveProperty('contradicted')
	// The next upgrade says what was before it: not what the lie said.
	await send([[slots.implementation, c]], upgraded(c))
	await mine()
	await bench.settle()
	expect((await told()).slice(2)).toEqual([['control', 'log_0', 'implementation', a, c, 'event']])
})

test('behavior: an event whose place is not known to be in use is not denied', async () => {
	const { send, mine, bench, told, lookAgain } = await openScribed({ storage: [[slotOf('authority()'), a]] })
	await send([], upgraded(b))
	await send([], { event: 'AuthorityUpdated(address)', data: [c] })
	await send([], { event: 'Paused(address)', data: [c] })
	await mine()
	await bench.settle()
	await lookAgain()
	expect((await told()).map(([, ...rest]) => rest)).toEqual([
		['log_0', 'implementation', null, b, 'event'],
		['log_0', 'authority', a, c, 'event'],
		['log_0', 'paused', '0', '1', 'event'],
	])
})

test('behavior: an event, then a silent change: one alert of the event, one of what storage has', async () => {
	const { send, mine, bench, told, alerts, lookAgain } = await openScribed({ storage: [[slots.implementation, a]] })
	await send([[slots.implementation, b]], upgraded(b))
	await send([[slots.implementation, c]])
	await mine()
	await bench.settle()
	await lookAgain()
	expect(await told()).toEqual([
		['control', 'log_0', 'implementation', a, b, 'event'],
		['control', 'slot_implementation', 'implementation', a, c, 'storage'],
	])
	const [event, denial] = await alerts()
	expect(denial).toMatchObject({ contradicted: true, contradicts: event?.id })
})

test('behavior: a new owner of the ProxyAdmin is reported once, for the watch on the proxy', async () => {
	const { send, mine, bench, told, alerts, lookAgain } = await openScribed({ storage: [[slots.admin, admin]] })
	await send([[slotOf('owner()'), a]], null, admin)
	await mine()
	await bench.settle()
	expect(await told()).toEqual([['control', `slot_owner_${admin}`, 'owner', null, a, 'storage']])
	await send([[slotOf('owner()'), b]], { event: 'OwnershipTransferred(address,address)', topics: [a, b] }, admin)
	const block = await mine()
	await bench.settle()
	await lookAgain()
	expect((await told()).slice(1)).toEqual([['control', `slot_owner_${admin}`, 'owner', a, b, 'storage']])
	const last = (await alerts()).at(-1)
	expect([last?.contract?.toLowerCase(), last?.blockNumber, last?.unseen]).toEqual([admin, block, undefined])
})

test('behavior: an order that a market cancels is quiet, a call that a timelock cancels is not', async () => {
	const { anvil, send, mine, bench, told } = await openScribed()
	const cancelled: Event = { event: 'Cancelled(bytes32)', topics: [5n] }
	await send([], cancelled)
	await mine()
	await bench.settle()
	expect((await told()).map(([, , change]) => change)).toEqual(['timelock'])
	// The same without functions.
	const market = at(3)
	await anvil.rpc('anvil_setCode', [market, scribeCode.replace('36600414', '36600514')])
	bench.setWatches([watchOf(market, { kinds: ['control'] })])
	await mine()
	await bench.settle()
	await mine()
	await bench.settle()
	await send([], cancelled, market)
	await send([], { event: 'LogSetOwner(address)', topics: [b] }, market)
	await mine()
	await bench.settle()
	expect((await told()).map(([, , change]) => change)).toEqual(['timelock', 'owner'])
})
