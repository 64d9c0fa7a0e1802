// One watched contract is hard to read: a long list, or an endpoint that refuses it. The others are read all the same.
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { linked, mapped, ruledCode, safeStorage, word, writing } from '../../support/ruledContract.js'
import { soaked } from '../../support/soak.js'
import { startStrained } from '../../support/strained.js'
import { alertOf, openBench, watchOf } from '../bench.js'

type Pairs = readonly (readonly [Hex | bigint, Hex | bigint])[]

const place = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const member = (n: number): Address => `0x${(0xa11ce00000 + n).toString(16).padStart(40, '0')}`
const members = (count: number) => Array.from({ length: count }, (_, n) => member(n))
const [hard, ruled, third] = [place(1), place(2), place(3)]
const [a, b] = [member(901), member(902)]
const implementation = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const safe = (owners: number, modules = 0) =>
	safeStorage(members(owners), { singleton: a, threshold: 2n, modules: members(modules) })

const noOverrides: Dialect = {
	twist: (method, params) => (method === 'eth_call' && params.length > 2 ? { error: 'no overrides here' } : undefined),
}

async function open(storage: Pairs, dialect: Dialect = {}, delayMs = soaked(60, 300)) {
	const anvil = await startTestAnvil()
	await anvil.automine(false)
	for (const address of [hard, ruled, third]) await anvil.rpc('anvil_setCode', [address, ruledCode])
	/** Of two values of one slot the later one counts, in whatever order the node takes them. */
	const store = (at: Address, pairs: Pairs) => {
		const bySlot = new Map(pairs.map(([slot, value]) => [word(slot), word(value)]))
		return Promise.all(Array.from(bySlot, ([slot, value]) => anvil.rpc('anvil_setStorageAt', [at, slot, value])))
	}
	await store(hard, storage)
	await store(ruled, [[implementation, a]])
	await anvil.mine(1)
	const [payer] = (await anvil.accounts()) as [Address]
	const gateway = await startDialectGateway(anvil.url, dialect)
	const strained = await startStrained(gateway.url, null)
	const watches = [hard, ruled, third].map((address) => watchOf(address, { kinds: ['control'] }))
	const bench = await openBench({ urls: [strained.url], watches, network: { settle: 3 }, books: false })
	onTestFinished(async () => {
		await bench.close()
		await strained.close()
		await gateway.close()
		await anvil.stop()
	})
	strained.delayMs = delayMs
	const turn = async () => {
		await anvil.mine(1)
		await bench.settle()
	}
	return {
		bench,
		turn,
		write: (to: Address, ...pairs: Pairs) => anvil.send({ from: payer, to, data: writing(...pairs), gas: 500_000n }),
		contract: async (at: Address) => (await bench.store.network('local'))?.contracts.get(at),
		told: async () =>
			(await bench.posted()).map((delivery) => {
				const { id, change, action, current, previous } = alertOf(delivery)
				return [id.split(':').at(-1), change, action, String(current ?? previous).toLowerCase()]
			}),
	}
}

const upgraded = [ruled, 'implementation', 'set', b]

test.each<[string, Pairs, Dialect?]>([
	['balances in mapping 1 and 2 that form a chain of 201', [...linked(members(201), 1n), ...linked(members(201), 2n)]],
	['a chain of 201, and slots that speak of 3 owners', [...safe(3), ...linked(members(201), 2n)]],
	['the same, of a node without overrides', [...safe(3), ...linked(members(201), 2n)], noOverrides],
])('behavior: a token with %s: no list is read, another contract is', async (...row) => {
	const [, storage, dialect] = row
	const { bench, write, turn, told, contract } = await open(storage, dialect)
	await turn()
	expect(await contract(hard)).toMatchObject({ isSafe: false })
	await write(hard, [9n, 1n])
	await write(ruled, [implementation, b])
	await turn()
	expect(await told()).toEqual([upgraded])
	expect(bench.ports.audit?.reads.unread()).toEqual([])
})

test.each<[string, number, number, Dialect?]>([
	['30 owners', 1, 30],
	['200 owners, and as many modules', 1, 200],
	// One link of each list a round.
	['12 owners, of a node without overrides', 2, 12, noOverrides],
])('behavior: a Safe with %s: read within %d polls, as are others', async (...row) => {
	const [, polls, owners, dialect] = row
	const { write, turn, told, contract, bench } = await open(safe(owners, owners === 200 ? 200 : 0), dialect)
	for (let poll = 0; poll < polls; poll++) await turn()
	expect(await contract(hard)).toMatchObject({
		isSafe: true,
		values: { [`safe.owner ${member(owners - 1)}`]: member(owners - 1) },
	})
	expect(bench.ports.audit?.reads.unread()).toEqual([])
	// The middle owner is swapped without an event.
	const [before, old, next] = [member(owners / 2), member(owners / 2 + 1), member(owners / 2 + 2)]
	await write(hard, [mapped(before, 2n), b], [mapped(b, 2n), next], [mapped(old, 2n), 0n])
	await write(ruled, [implementation, b])
	await turn()
	const swapped = ['removed', 'added'].map((action, at) => [hard, 'safe.owner', action, [old, b][at]])
	expect(new Set(await told())).toEqual(new Set([upgraded, ...swapped]))
})

test('behavior: a Safe gets more modules than are read: the first are reported, and the list is named', async () => {
	const { write, turn, told, contract, bench } = await open(safe(3, 200))
	await turn()
	expect(await contract(hard)).toMatchObject({ isSafe: true })
	await write(hard, ...linked([b, a, ...members(1)], 1n).slice(0, 3))
	await write(ruled, [implementation, b])
	await turn()
	const added = [b, a].map((one) => [hard, 'safe.module', 'added', one])
	expect(new Set(await told())).toEqual(new Set([upgraded, ...added]))
	expect(bench.ports.audit?.reads.unread()).toMatchObject([{ address: hard, why: expect.stringContaining('200') }])
	await turn()
	expect(await told()).toHaveLength(3)
})

test('behavior: an endpoint refuses one contract: others are read, it is named, and read later', async () => {
	let isRefused = false
	const names = (params: readonly unknown[]) => JSON.stringify(params).includes(hard.slice(2))
	const refuses: Dialect = {
		twist: (method, params) =>
			isRefused && /eth_(?:call|get(?:StorageAt|Code))/.test(method) && names(params)
				? { error: 'refused' }
				: undefined,
	}
	const { write, turn, told, bench } = await open([[implementation, a]], refuses, 0)
	await turn()
	isRefused = true
	await write(hard, [implementation, b])
	await write(ruled, [implementation, b])
	await turn()
	for (let poll = 0; poll < 4; poll++) {
		await write(hard, [9n, 1n])
		await turn()
	}
	expect(await told()).toEqual([upgraded])
	expect(bench.ports.audit?.reads.unread()).toMatchObject([
		{ address: hard, why: expect.stringContaining('cannot tell the state') },
	])
	bench.pass(61_000)
	expect((await bench.poll()).unreadContracts?.map(({ address }) => address)).toEqual([hard])
	isRefused = false
	await turn()
	expect(await told()).toEqual([upgraded, [hard, 'implementation', 'set', b]])
	expect(bench.ports.audit?.reads.unread()).toEqual([])
	expect((await bench.store.network('local'))?.audit?.touched ?? []).toEqual([])
})
