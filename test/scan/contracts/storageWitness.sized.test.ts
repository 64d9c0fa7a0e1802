// What rules a contract changes without an event: storage shows it, once, in its block, with both values.
import { keccak256 } from 'ox/Hash'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Address, Hex } from '../../../src/model/glossary.js'
import type { Kind } from '../../../src/model/kind.js'
import { startTestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { divided, testInFull } from '../../support/longRun.js'
import { linked, mapped, ruledCode, safeStorage, slotOf, word, writing } from '../../support/ruledContract.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'

const place = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const [ruled, other] = [place(1), place(2)]
const someone = (digit: string): Address => `0x${digit.repeat(40)}`

interface Options extends Partial<BenchOptions> {
	readonly dialect?: Dialect
	readonly reads?: readonly string[]
	readonly kinds?: readonly Kind[]
	readonly storage?: readonly (readonly [Hex | bigint, Hex | bigint])[]
}

async function open({ dialect = {}, reads, storage = [], kinds = ['control'], ...options }: Options = {}) {
	const anvil = await startTestAnvil()
	await anvil.automine(false)
	for (const address of [ruled, other]) await anvil.rpc('anvil_setCode', [address, ruledCode])
	for (const [slot, value] of storage) await anvil.rpc('anvil_setStorageAt', [ruled, word(slot), word(value)])
	await anvil.mine(1)
	const [payer] = (await anvil.accounts()) as [Address]
	const gateway = await startDialectGateway(anvil.url, dialect)
	const watch = watchOf(ruled, { kinds, ...(reads && { reads }) })
	const bench = await openBench({ urls: [gateway.url], watches: [watch], network: { settle: 3 }, ...options })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await anvil.stop()
	})
	await bench.settle()
	/** One transaction, mined in a block of its own. */
	const write = async (...pairs: readonly (readonly [Hex | bigint, Hex | bigint])[]) => {
		const hash = await anvil.send({ from: payer, to: ruled, data: writing(...pairs) })
		await anvil.mine(1)
		return { hash, block: Number(await anvil.head()) }
	}
	/** Of each alert: id without its chain and address, type, and what changed. */
	const told = async () =>
		(await bench.posted()).map((delivery) => {
			const { id, change, action, previous, current, evidence, txHash, blockNumber } = alertOf(delivery)
			const [, anchor, at] = id.split(':')
			const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
			const values = [lower(previous), lower(current)]
			return { type: delivery.message.type, anchor, at, change, action, values, evidence, txHash, blockNumber }
		})
	const contract = async () => (await bench.store.network('local'))?.contracts.get(ruled)
	return { anvil, gateway, bench, payer, write, told, contract }
}

const implementation = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

const ways = [
	{ books: true, source: 'trace_block' },
	{ books: false, source: 'trace_block' },
	{ books: false, source: 'trace_filter' },
	{ books: false, source: 'debug_traceBlockByNumber' },
] as const

test.each(divided<(typeof ways)[number]>(ways, (_, at) => at % 2 === 0))(
	'default: the implementation is replaced without an event; %o',
	async (options) => {
		const { write, told, bench, contract, anvil } = await open({
			...options,
			storage: [[implementation, someone('a')]],
		})
		expect((await contract())?.values).toMatchObject({ implementation: someone('a') })
		const { hash, block } = await write([implementation, someone('b')])
		await bench.settle()
		const expected = {
			type: 'alert.control',
			anchor: String(block),
			at: 'slot_implementation',
			change: 'implementation',
			action: 'set',
			values: [someone('a'), someone('b')],
			evidence: 'storage',
			txHash: hash,
			blockNumber: block,
		}
		expect(await told()).toEqual([expected])
		for (let look = 0; look < 5; look++) {
			await anvil.mine(1)
			await bench.settle()
		}
		expect(await told()).toEqual([expected])
	},
)

test.each(divided([true, false], (books) => books))(
	'behavior: own code that changed is reported once; books %s',
	async (books) => {
		const { anvil, bench, write, contract } = await open({ books, kinds: ['code'] })
		const before = (await contract())?.codeHash
		expect(before).toBe(keccak256(ruledCode))
		const newCode: Hex = `${ruledCode}00`
		await anvil.rpc('anvil_setCode', [ruled, newCode])
		const { block } = await write([9n, 1n])
		await bench.settle()
		for (let look = 0; look < 5; look++) {
			await bench.settle()
			await anvil.mine(1)
		}
		const told = (await bench.posted()).map((one) => [one.message.type, alertOf(one)] as const)
		expect(
			told.map(([type, { id, ownCode, codeHash, previousHash }]) => [type, id, ownCode, codeHash, previousHash]),
		).toEqual([['alert.code', `31337:${block}:code:code:${ruled}`, true, keccak256(newCode), before]])
		expect((await contract())?.codeHash).toBe(keccak256(newCode))
	},
)

test('behavior: silent changes of two contracts in a block have their transactions asked at once', async () => {
	// On a slow node, ten contracts one after the other would take longer than a poll may.
	const asked = new Set<unknown>()
	let isHeld = false
	const twist = async (method: string, [hash]: readonly unknown[]) => {
		if (!isHeld || method !== 'eth_getTransactionReceipt') return undefined
		asked.add(hash)
		await vi.waitUntil(() => asked.size === 2, { timeout: 60_000 })
		return undefined
	}
	const watches = [ruled, other].map((address) => watchOf(address, { kinds: ['control'] }))
	const { anvil, payer, bench, told } = await open({ source: 'trace_block', dialect: { twist }, watches })
	const data = writing([implementation, someone('b')])
	const hashes = [
		await anvil.send({ from: payer, to: ruled, data }),
		await anvil.send({ from: payer, to: other, data }),
	]
	await anvil.mine(1)
	isHeld = true
	await bench.settle()
	expect((await told()).map(({ txHash, evidence }) => [txHash, evidence]).toSorted()).toEqual(
		hashes.map((hash) => [hash, 'storage']).toSorted(),
	)
})

test.each([
	[
		'breaks, and leaves out one who still has a link and one who has none',
		// The first owner names somebody without a link, whom a Safe does not accept.
		[
			[mapped(1n, 2n), someone('9')],
			[mapped(someone('9'), 2n), someone('1')],
			[mapped(someone('1'), 2n), someone('7')],
			[mapped(someone('3'), 2n), 0n],
		],
		['removed 3', 'added 9'],
	],
	[
		'becomes a ring that leaves out others, who still have links',
		[
			[mapped(someone('1'), 2n), someone('9')],
			[mapped(someone('9'), 2n), someone('1')],
		],
		['added 9'],
	],
] as const)('behavior: a Safe whose list of owners %s', async (_, pairs, expected) => {
	const owners = [someone('1'), someone('2'), someone('3')]
	const { write, told, bench } = await open({ storage: safeStorage(owners, { singleton: someone('a') }) })
	await write(...pairs)
	await bench.settle()
	const found = (await told()).map(({ change, action, values: [previous, current] }) => [
		change,
		`${action} ${String(current ?? previous).at(-1)}`,
	])
	expect(found.toSorted()).toEqual(expected.map((words) => ['safe.owner', words]).toSorted())
})

testInFull('behavior: an ERC-20 whose slots 0, 3 and 4 move is quiet', async () => {
	const { write, told, bench } = await open({
		storage: [
			[0n, someone('a')],
			[3n, 1_000n],
			[4n, 2n],
		],
	})
	await write([0n, someone('b')], [3n, 999n], [4n, 1n])
	await bench.settle()
	expect(await told()).toEqual([])
})

testInFull(
	'behavior: a Safe: the middle owner is swapped by raw storage, then threshold, a module, singleton',
	async () => {
		const owners = [someone('1'), someone('2'), someone('3')]
		const storage = safeStorage(owners, { singleton: someone('a'), threshold: 2n })
		const { write, told, bench, contract } = await open({ storage })
		expect(await contract()).toMatchObject({ isSafe: true })
		await write(...linked([someone('1'), someone('9'), someone('3')], 2n), [mapped(someone('2'), 2n), 0n])
		await write([4n, 1n])
		await write(...linked([someone('7')], 1n))
		await write([0n, someone('b')])
		await bench.settle()
		expect((await told()).map(({ at, action, values }) => [at, action, ...values])).toEqual([
			[`slot_safe-owner_${someone('2')}`, 'removed', someone('2'), null],
			[`slot_safe-owner_${someone('9')}`, 'added', null, someone('9')],
			['slot_safe-threshold', 'set', '2', '1'],
			[`slot_safe-module_${someone('7')}`, 'added', null, someone('7')],
			['slot_safe-singleton', 'set', someone('a'), someone('b')],
		])
	},
)

testInFull(
	'behavior: two changes in one block, each by its own transaction, and one that is set and set back',
	async () => {
		const { anvil, payer, told, bench } = await open()
		const send = (...pairs: readonly (readonly [Hex | bigint, Hex | bigint])[]) =>
			anvil.send({ from: payer, to: ruled, data: writing(...pairs), gas: 200_000n })
		await send([implementation, someone('b')])
		await send([slotOf('owner()'), someone('c')])
		await anvil.mine(1)
		await send([slotOf('admin()'), someone('d')])
		await send([slotOf('admin()'), 0n])
		await anvil.mine(1)
		await bench.settle()
		const found = (await told()).map(({ change, values, txHash }) => [change, ...values, txHash.length])
		// Two transactions entered the contract: which of them did it is not said.
		expect(found).toEqual([
			['implementation', null, someone('b'), 66],
			['owner', null, someone('c'), 66],
		])
	},
)

testInFull('behavior: `reads`: a slot and a function; the first look reports neither', async () => {
	const { write, told, bench } = await open({ reads: ['governor()', 'slot 7'], storage: [[7n, 5n]] })
	await write([7n, 6n], [slotOf('governor()'), someone('e')])
	await bench.settle()
	expect((await told()).map(({ at, change, values }) => [at, change, ...values])).toEqual([
		['slot_value_slot-7', 'value', '5', '6'],
		['slot_value_governor--', 'value', '0', someone('e')],
	])
	bench.setWatches([watchOf(ruled, { kinds: ['control'], reads: ['slot 7', 'slot 8'] })])
	await write([8n, 1n])
	await bench.settle()
	expect(await told()).toHaveLength(2)
	await write([8n, 2n])
	await bench.settle()
	expect((await told()).at(-1)).toMatchObject({ at: 'slot_value_slot-8', values: ['1', '2'] })
})

testInFull(
	'behavior: a call that is undone, a staticcall and other contracts change nothing and are quiet',
	async () => {
		const { anvil, payer, told, bench, gateway } = await open()
		await anvil.send({ from: payer, to: other, data: writing([implementation, someone('b')]) })
		await anvil.mine(1)
		await bench.settle()
		expect(await told()).toEqual([])
		expect(
			gateway.asked('eth_call').filter(([, , state]) => state !== undefined && ruled in (state as object)),
		).toHaveLength(2)
	},
)

testInFull(
	'behavior: a reorganisation: the change leaves the chain with its block, and comes in another one',
	async () => {
		const { anvil, write, told, bench, contract } = await open({ storage: [[implementation, someone('a')]] })
		await anvil.mine(1)
		await bench.settle()
		const snapshot = await anvil.rpc('evm_snapshot')
		await write([implementation, someone('b')])
		await bench.settle()
		expect((await contract())?.values.implementation).toBe(someone('b'))
		await anvil.rpc('evm_revert', [snapshot])
		await anvil.mine(2)
		await bench.settle()
		expect((await told()).map(({ type }) => type)).toEqual(['alert.control', 'alert.removed'])
		expect((await contract())?.values.implementation).toBe(someone('a'))
		const { block } = await write([implementation, someone('c')])
		await bench.settle()
		expect((await told()).at(-1)).toMatchObject({ blockNumber: block, values: [someone('a'), someone('c')] })
	},
)

testInFull('behavior: a node that refuses state overrides: slots in use, and one that was empty', async () => {
	const refuses: Dialect = {
		twist: (method, params) =>
			method === 'eth_call' && params.length > 2 ? { error: 'no overrides here' } : undefined,
	}
	const { write, told, bench } = await open({ dialect: refuses, storage: [[implementation, someone('a')]] })
	const guard = '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8'
	await write([implementation, someone('b')])
	await write([guard, someone('c')])
	await write(...safeStorage([someone('1')], { singleton: someone('d') }))
	await write([4n, 2n])
	await bench.settle()
	expect((await told()).map(({ at, values }) => [at, ...values])).toEqual([
		['slot_implementation', someone('a'), someone('b')],
		['slot_safe-guard', null, someone('c')],
		// It became a Safe: what it is then is learnt.
		['slot_safe-threshold', '1', '2'],
	])
})

test.each(divided([true, false], (books) => books))(
	'behavior: a kill between scanner and auditor loses no change; books: %s',
	async (books) => {
		const folder = temporaryFolder()
		const openStore = (clock: () => number) => openFileStore(folder, { clock })
		let isDown = false
		const dialect: Dialect = {
			// Nothing about contracts is answered: the auditor gets no further.
			twist: (_method, params) =>
				isDown && JSON.stringify(params).includes('747261636577a8') ? { error: 'no' } : undefined,
		}
		const { write, bench, gateway } = await open({
			books,
			openStore,
			dialect,
			storage: [[implementation, someone('a')]],
		})
		isDown = true
		const { block } = await write([implementation, someone('b')])
		await write([implementation, someone('c')])
		await bench.settle().catch(() => undefined)
		expect((await bench.store.network('local'))?.audit?.touched?.map(({ number }) => Number(number))).toEqual([
			block,
			block + 1,
		])
		expect(await bench.posted()).toEqual([])
		await bench.close()
		isDown = false
		const again = await openBench({
			urls: [gateway.url],
			watches: [watchOf(ruled, { kinds: ['control'] })],
			network: { settle: 3 },
			books,
			openStore,
		})
		onTestFinished(() => again.close())
		await again.settle()
		const told = (await again.posted()).map((delivery) => alertOf(delivery))
		expect(told.map(({ blockNumber, current }) => [blockNumber, String(current).toLowerCase()])).toEqual([
			[block, someone('b')],
			[block + 1, someone('c')],
		])
		await again.settle()
		expect((await again.store.network('local'))?.audit?.touched ?? []).toEqual([])
	},
)

testInFull(
	'behavior: a change of storage without a frame is found, and reported as a fault of the trace source',
	async () => {
		const { anvil, bench, told } = await open({ storage: [[implementation, someone('a')]] })
		await anvil.rpc('anvil_setStorageAt', [ruled, implementation, word(someone('b'))])
		await anvil.mine(1)
		await bench.settle()
		bench.pass(300_000)
		await anvil.mine(1)
		await bench.settle()
		const [alert] = (await bench.posted()).map((delivery) => alertOf(delivery))
		expect(await told()).toHaveLength(1)
		expect(alert).toMatchObject({ unseen: true, change: 'implementation' })
		await anvil.mine(1)
		bench.pass(300_000)
		await bench.settle()
		expect(await told()).toHaveLength(1)
	},
)

testInFull('behavior: an upgrade of the beacon is reported for the watch on the proxy', async () => {
	const beacon = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
	const { anvil, payer, bench, told } = await open({ storage: [[beacon, other]] })
	await anvil.mine(1)
	await bench.settle()
	await anvil.send({ from: payer, to: other, data: writing([slotOf('implementation()'), someone('b')]) })
	await anvil.mine(1)
	await bench.settle()
	const block = Number(await anvil.head())
	const [alert] = (await bench.posted()).map((delivery) => alertOf(delivery))
	expect(await told()).toEqual([
		expect.objectContaining({
			anchor: String(block),
			at: `slot_implementation_${other}`,
			values: [null, someone('b')],
		}),
	])
	expect(alert?.contract?.toLowerCase()).toBe(other)
	expect(alert).not.toHaveProperty('unseen')
})
