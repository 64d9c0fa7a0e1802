// A contract's events and its storage tell of the same changes: one alert for each, whichever is seen first, and one
// more where storage denies an event.
import { expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Watch } from '../../../src/model/watch.js'
import { startTestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { slotOf, word } from '../../support/ruledContract.js'
import { type Event, type Pair, scribeCode, scribing } from '../../support/scribe.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'

const at = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const [ruled, admin] = [at(1), at(2)]
const someone = (digit: string): Address => `0x${digit.repeat(40)}`
const [a, b, c, d] = [someone('a'), someone('b'), someone('c'), someone('d')]

const slots = {
	implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
	admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
	paused: '0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300',
} as const
const upgraded = (to: Address): Event => ({ event: 'Upgraded(address)', topics: [to] })

interface Options extends Partial<BenchOptions> {
	readonly storage?: readonly Pair[]
	/** Each is an endpoint. */
	readonly dialects?: readonly Dialect[]
	readonly watch?: Partial<Watch>
}

async function open({ storage = [], dialects = [{}], watch, ...options }: Options = {}) {
	const anvil = await startTestAnvil()
	onTestFinished(() => anvil.stop())
	await anvil.automine(false)
	for (const address of [ruled, admin]) await anvil.rpc('anvil_setCode', [address, scribeCode])
	for (const [slot, value] of storage) await anvil.rpc('anvil_setStorageAt', [ruled, word(slot), word(value)])
	await anvil.mine(1)
	const [payer] = (await anvil.accounts()) as [Address]
	const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(anvil.url, dialect)))
	const watches = [watchOf(ruled, { kinds: ['control'], ...watch })]
	const urls = gateways.map(({ url }) => url)
	const bench = await openBench({ urls, watches, network: { settle: 3 }, books: false, ...options })
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
	})
	await bench.settle()
	const send = (pairs: readonly Pair[], event: Event | null = null, to = ruled) =>
		anvil.send({ from: payer, to, data: scribing(pairs, event), gas: 300_000n })
	const mine = async () => {
		await anvil.mine(1)
		return Number(await anvil.head())
	}
	const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
	/** Type, place in the id, change, previous, current, evidence. */
	const told = async () =>
		(await bench.posted()).map((delivery) => {
			const { id, change, previous, current, evidence } = alertOf(delivery)
			return [delivery.message.type.slice(6), id.split(':')[2], change, lower(previous), lower(current), evidence]
		})
	const alerts = async (): Promise<readonly AlertData[]> => (await bench.posted()).map((one) => alertOf(one))
	const evidence = async () =>
		[...((await bench.store.network('local'))?.announcements.values() ?? [])].map(
			({ alerts: [first], status }) => `${status} ${first?.data.evidence}`,
		)
	/** Second looks, and the rotation. */
	const lookAgain = async () => {
		for (let look = 0; look < 5; look++) {
			bench.pass(300_000)
			await anvil.mine(1)
			await bench.settle()
		}
	}
	return { anvil, bench, send, mine, told, alerts, evidence, lookAgain }
}

/** A node whose headers say that no block has a log. */
function withoutLogs(isHiding: () => boolean): Dialect {
	const none = `0x${'0'.repeat(512)}`
	return {
		twist(method, _params, result) {
			if (method !== 'eth_getBlockByNumber' || result === null || !isHiding()) return undefined
			return { ...(result as object), logsBloom: none }
		},
	}
}

test('behavior: storage first, then the event: one alert, which both show in the end', async () => {
	let isHiding = true
	const dialects = [withoutLogs(() => isHiding)]
	const { send, mine, bench, told, evidence, lookAgain } = await open({
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
	const { send, mine, bench, told, lookAgain } = await open({ dialects })
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
	const { send, mine, bench, told, evidence, lookAgain } = await open({
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
	const { send, mine, bench, told, alerts, lookAgain } = await open({ storage: [[slots.implementation, a]] })
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
	const { send, mine, bench, told, lookAgain } = await open({ storage: [[slotOf('authority()'), a]] })
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
	const { send, mine, bench, told, alerts, lookAgain } = await open({ storage: [[slots.implementation, a]] })
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
	const { send, mine, bench, told, alerts, lookAgain } = await open({ storage: [[slots.admin, admin]] })
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
	const { anvil, send, mine, bench, told } = await open()
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
