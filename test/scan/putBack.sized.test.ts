// A checkpoint above every head is put back by the program itself, where nothing is lost by it; an endpoint that lags
// or claims a low head cannot bring that about.
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { RpcError, StateError } from '../../src/errors.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import { openPgStore } from '../state/postgres/pgStore.js'
import { startServer } from '../state/postgres/server.js'
import { startTestAnvil } from '../support/anvil.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { reset } from '../support/faults.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { sized, testOnce } from '../support/longRun.js'
import { alertOf, openBench, watchOf } from './bench.js'

const isLong = sized(false, true)
const server = isLong ? await startServer() : null
afterAll(() => server?.stop())

const places = {
	folder: (clock: () => number) => openFileStore(temporaryFolder(), { clock }),
	database: async (clock: () => number) =>
		openPgStore((await server?.fresh('back')) ?? '', { clock, leaseMs: 300_000 }),
}

const minute = 60_000
const madeUp = `0x${'ab'.repeat(32)}` as Hash

/** A chain of five blocks, and two endpoints of it. `begin` writes what the state holds before the first poll. */
async function open(
	begin?: (store: Store, watched: Address) => Promise<void>,
	clockAheadMs = 0,
	around?: (store: Store) => Store,
	openStore: (clock: () => number) => Promise<Store> = places.folder,
) {
	const node = await startTestAnvil()
	const proxies = [await startFaultProxy(node.url), await startFaultProxy(node.url)] as const
	await node.automine(false)
	const [payer, watched] = (await node.accounts()) as [Address, Address]
	let passedMs = clockAheadMs
	const clock = () => Date.now() + passedMs
	/** Mines a block that pays the watch; resolves to the id of its alert. */
	const pay = async () => {
		const hash = await node.send({ from: payer, to: watched, valueWei: 1n })
		await node.mine(1)
		return `31337:${hash}:root:transfer:${watched}`
	}
	for (let block = 0; block < 5; block++) await pay()
	// Blocks that are mined at once are dated a second apart, into the future.
	passedMs += 10_000
	const store = await openStore(clock)
	await begin?.(store, watched)
	const bench = await openBench({
		urls: proxies.map(({ url }) => url),
		watches: [watchOf(watched)],
		network: { settle: 3 },
		clock,
		openStore: async () => store,
		...(around && { around }),
	})
	onTestFinished(async () => {
		await bench.close()
		for (const proxy of proxies) await proxy.close()
		await node.stop()
	})
	const tryPoll = async () => {
		try {
			return await bench.settle()
		} catch (error) {
			if (!(error instanceof RpcError) && !(error instanceof StateError)) throw error
			return null
		}
	}
	const messages = async () => (await bench.posted()).map(({ message }) => message)
	return {
		...{ node, proxies, bench, store, pay, tryPoll },
		/** The clock goes on, of the chain and of the program. */
		pass: async (ms: number) => {
			passedMs += ms
			await node.rpc('evm_increaseTime', [ms / 1_000])
		},
		checkpoint: async () => Number((await store.network('local'))?.checkpoint.number),
		alerts: async () =>
			(await bench.posted())
				.filter(({ message }) => message.type.startsWith('alert.'))
				.map((delivery) => `${delivery.message.type} ${alertOf(delivery).id}`),
		system: async () => (await messages()).filter(({ type }) => type.startsWith('system.')),
	}
}

/** As an endpoint left it that claimed 1,000 blocks too many when watching began. */
async function beginAt1005(store: Store, watched: Address): Promise<void> {
	const checkpoint = { number: 1_005n, hash: madeUp }
	await store.commit({ network: 'local', chainId: 31337, checkpoint, settled: checkpoint })
	const coverage = { since: 1_006n, from: 1_006n, leftAt: null, missed: [] }
	await store.enrol('local', { covered: new Map([[watched, coverage]]), backfills: null })
}

const year = 365 * 24 * 60 * minute
test.each([
	['by the time of its blocks', 0, 'folder'],
	// Its blocks are a year old by the clock here, as those of a chain that lags are: that it grows tells.
	['where the times of its blocks say nothing', year, 'folder'],
	...(server === null ? [] : [['with the state in a database', 0, 'database'] as const]),
] as const)(
	'default: a beginning that no one has is put back, and each block is reported once, %s',
	async (_, ahead, place) => {
		const opened = await open(beginAt1005, ahead, undefined, places[place])
		const { pay, tryPoll, pass, checkpoint, alerts, system, node } = opened
		await tryPoll()
		await pass(30_000)
		const due = [await pay(), await pay()]
		await tryPoll()
		expect(await checkpoint()).toBe(1_005)
		await pass(31_000)
		due.push(await pay())
		await tryPoll()
		due.push(await pay())
		await tryPoll()
		expect(await checkpoint()).toBe(Number(await node.head()))
		expect(await alerts()).toEqual(due.map((id) => `alert.transfer ${id}`))
		expect(await system()).toMatchObject([
			{
				type: 'system.recovered',
				data: {
					checkpoint: 5,
					reason: expect.stringContaining('stood at block 1005, which no endpoint has'),
				},
			},
		])
	},
)

testOnce('behavior: a watch left at it and comes back: the blocks since are reported', async () => {
	const { bench, pay, tryPoll, pass, checkpoint, alerts, node } = await open(async (store, watched) => {
		const checkpoint = { number: 1_005n, hash: madeUp }
		await store.commit({ network: 'local', chainId: 31337, checkpoint, settled: checkpoint })
		const coverage = { since: 1n, from: 1n, leftAt: 1_005n, missed: [] }
		await store.enrol('local', { covered: new Map([[watched, coverage]]), backfills: null })
	})
	const watches = [...bench.config.watches.values()].flat()
	bench.setWatches([])
	await tryPoll()
	const due: string[] = []
	for (const ms of [31_000, 31_000, 1_000]) {
		await pass(ms)
		due.push(await pay())
		await tryPoll()
	}
	expect(await checkpoint()).toBe(Number(await node.head()))
	bench.setWatches(watches)
	await tryPoll()
	expect(await alerts()).toEqual(due.map((id) => `alert.transfer ${id}`))
})

testOnce('behavior: so is one whose blocks were made up, with headers and no transactions, at the start', async () => {
	const { pay, tryPoll, pass, checkpoint, alerts, system, proxies } = await open()
	const [first] = proxies
	Object.assign(first, { claimedBlocks: 1_000n, makesHeaders: true })
	await tryPoll()
	expect(await checkpoint()).toBe(1_005)
	Object.assign(first, { claimedBlocks: 0n, makesHeaders: false })
	await pass(30_000)
	const due = [await pay()]
	await tryPoll()
	await pass(31_000)
	due.push(await pay())
	await tryPoll()
	expect(await checkpoint()).toBe(7)
	expect(await alerts()).toEqual(due.map((id) => `alert.transfer ${id}`))
	expect(await system()).toMatchObject([{ type: 'system.recovered', data: { checkpoint: 5 } }])
})

testOnce('error: a write that fails between coverage and checkpoint is made good by the next poll', async () => {
	let failures = 0
	const { pay, tryPoll, pass, checkpoint, alerts, system } = await open(beginAt1005, 0, (store) => ({
		...store,
		commit: async (step) => {
			if (step.checkpoint !== undefined && failures++ === 0) throw new StateError('disk', 'the disk is full')
			return store.commit(step)
		},
	}))
	await tryPoll()
	await pass(61_000)
	const due = [await pay()]
	await tryPoll()
	expect([failures, await checkpoint()]).toEqual([1, 1_005])
	due.push(await pay())
	await tryPoll()
	expect(await checkpoint()).toBe(7)
	expect(await alerts()).toEqual(due.map((id) => `alert.transfer ${id}`))
	expect(await system()).toHaveLength(1)
})

testOnce('behavior: blocks that were made up later are left again, to the last settled block', async () => {
	const { pay, tryPoll, pass, checkpoint, alerts, system, node } = await open()
	await tryPoll()
	const honest = [await pay(), await pay(), await pay(), await pay()]
	await tryPoll()
	const snapshot = await node.rpc('evm_snapshot')
	const gone = [await pay(), await pay(), await pay()]
	await tryPoll()
	expect(await checkpoint()).toBe(12)
	// The endpoint had made up three blocks, and is honest from now on.
	await node.rpc('evm_revert', [snapshot])
	await pass(61_000)
	const due = [await pay()]
	await tryPoll()
	expect(await checkpoint()).toBe(10)
	expect(await system()).toMatchObject([{ type: 'system.recovered', data: { checkpoint: 9 } }])
	due.push(await pay(), await pay(), await pay())
	await tryPoll()
	expect(await checkpoint()).toBe(13)
	const told = await alerts()
	const firstTold = [...honest, ...gone].map((id) => `alert.transfer ${id}`)
	expect(told.slice(0, 7)).toEqual(firstTold)
	expect(told.slice(7).toSorted()).toEqual(
		[...gone.map((id) => `alert.removed ${id}`), ...due.map((id) => `alert.transfer ${id}`)].toSorted(),
	)
})

testOnce('behavior: endpoints that lag, or claim a low head, put nothing back', async () => {
	const { pay, tryPoll, pass, checkpoint, alerts, system, proxies } = await open()
	await tryPoll()
	const due = [await pay(), await pay(), await pay(), await pay()]
	await tryPoll()
	// Both lag, and their chain grows by nothing.
	for (const proxy of proxies) proxy.lagBlocks = 3n
	await pass(2 * minute)
	await tryPoll()
	await pass(20 * minute)
	await tryPoll()
	expect(await checkpoint()).toBe(9)
	// One claims a low head; the other has the block, is asked first from then on, and the chain is followed.
	const [first, second] = proxies
	second.lagBlocks = 0n
	first.lagBlocks = 6n
	due.push(await pay())
	await tryPoll()
	await tryPoll()
	expect(await checkpoint()).toBe(10)
	expect(await system()).toEqual([])
	expect(await alerts()).toEqual(due.map((id) => `alert.transfer ${id}`))
})

testOnce(
	'behavior: an endpoint that does not answer may have the block: for ten minutes nothing is put back',
	async () => {
		const { pay, tryPoll, pass, checkpoint, proxies } = await open(beginAt1005)
		proxies[1].next = () => reset
		await tryPoll()
		for (let minutes = 0; minutes < 9; minutes += 3) {
			await pass(3 * minute)
			await pay()
			await tryPoll()
			expect(await checkpoint()).toBe(1_005)
		}
		await pass(2 * minute)
		await pay()
		await tryPoll()
		await tryPoll()
		expect(await checkpoint()).toBeLessThan(20)
	},
)

testOnce('behavior: another chain is not taken for this one', async () => {
	const { pay, tryPoll, pass, checkpoint, system, node } = await open()
	const snapshot = await node.rpc('evm_snapshot')
	await tryPoll()
	for (let block = 0; block < 20; block++) await pay()
	await tryPoll()
	// It began anew below all that is remembered, with other blocks.
	await node.rpc('evm_revert', [snapshot])
	await pass(61_000)
	for (let block = 0; block < 8; block++) {
		await pay()
		await pass(61_000)
		await tryPoll()
	}
	expect(await checkpoint()).toBe(25)
	expect(await system()).toEqual([])
})
