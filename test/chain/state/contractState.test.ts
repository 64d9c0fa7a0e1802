import { keccak256 } from 'ox/Hash'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { createContractState } from '../../../src/chain/state/contractState.js'
import type { BlockRef } from '../../../src/model/chain.js'
import type { Address, Hash, Hex } from '../../../src/model/glossary.js'
import { hex, startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { assemble } from '../../support/assembler.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

const signal = new AbortController().signal
const place = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const delegate: Hex = `0xef0100${place(1).slice(2)}`

describe('code hashes', () => {
	let anvil: TestAnvil
	beforeAll(async () => {
		anvil = await startTestAnvil()
		await anvil.rpc('anvil_setCode', [place(1), '0x600035545f5260205ff3'])
		await anvil.rpc('anvil_setCode', [place(2), delegate])
		await anvil.mine(1)
	})
	afterAll(() => anvil.stop())

	async function open(dialect: Dialect) {
		const gateway = await startDialectGateway(anvil.url, dialect)
		const rpc = createRpc({ url: gateway.url })
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		onTestFinished(async () => {
			await endpoints.close()
			await gateway.close()
		})
		return { gateway, state: createContractState({ endpoints }) }
	}

	async function head(): Promise<BlockRef> {
		const number = await anvil.head()
		const { hash } = await anvil.rpc<{ hash: Hash }>('eth_getBlockByNumber', [hex(number), false])
		return { number, hash }
	}

	const expected = () =>
		new Map([
			[place(1), keccak256('0x600035545f5260205ff3')],
			[place(2), keccak256(delegate)],
		])
	const lends = (method: string, params: readonly unknown[]) => method === 'eth_call' && params.length > 2

	test.each<[string, Dialect]>([
		['default', {}],
		[
			'behavior: a node that takes numbers only',
			{ twist: (_, [, at]) => (typeof at === 'object' ? { error: 'no' } : undefined) },
		],
		[
			'behavior: a node that refuses state overrides',
			{ twist: (method, params) => (lends(method, params) ? { error: 'no' } : undefined) },
		],
		[
			'behavior: a node that does not look at state overrides',
			{ twist: (method, params) => (lends(method, params) ? '0x' : undefined) },
		],
		[
			'behavior: a node that answers made-up hashes',
			{ twist: (method, params) => (lends(method, params) ? `0x${'1'.repeat(64 * 5)}` : undefined) },
		],
	])('%s', async (_name, dialect) => {
		const { state } = await open(dialect)
		const addresses = [place(0), place(1), place(2), place(3)]
		for (let turn = 0; turn < 2; turn++)
			expect(await state.codeHashes(addresses, await head(), signal)).toEqual(expected())
	})

	test('behavior: 5,000 addresses take three calls', async () => {
		const { gateway, state } = await open({})
		const addresses = Array.from({ length: 5_000 }, (_, n) => place(n))
		expect(await state.codeHashes(addresses, await head(), signal)).toEqual(expected())
		expect(gateway.count('eth_call')).toBe(3)
	})

	test('error: a block that is not there is no data, and the next question is asked as before', async () => {
		const { state } = await open({})
		const gone = { number: 1n, hash: `0x${'f'.repeat(64)}` } as const
		await expect(state.codeHashes([place(1)], gone, signal)).rejects.toMatchObject({
			kind: expect.stringMatching(/no-data|unsettled/),
		})
		expect((await state.codeHashes([place(1)], await head(), signal)).size).toBe(1)
	})
})

describe('slots and getters', () => {
	let anvil: TestAnvil
	const word = (value: bigint): Hash => `0x${value.toString(16).padStart(64, '0')}`
	/** owner() gives slot 0, paused() slot 1, admin() burns all gas, beacon() answers two words; else it reverts. */
	const code = assemble(`
		0 CALLDATALOAD 224 SHR
		DUP1 0x8da5cb5b EQ @owner JUMPI DUP1 0x5c975abb EQ @paused JUMPI
		DUP1 0xf851a440 EQ @admin JUMPI DUP1 0x59659e90 EQ @beacon JUMPI 0 0 REVERT
		owner: 0 SLOAD 0 MSTORE 32 0 RETURN
		paused: 1 SLOAD 0 MSTORE 32 0 RETURN
		admin: @admin JUMP
		beacon: 64 0 RETURN`)
	beforeAll(async () => {
		anvil = await startTestAnvil()
		for (let n = 0; n < 130; n++) {
			await anvil.rpc('anvil_setCode', [place(n), code])
			await anvil.rpc('anvil_setStorageAt', [place(n), word(0n), word(BigInt(1_000 + n))])
			await anvil.rpc('anvil_setStorageAt', [place(n), word(77n), word(BigInt(2_000 + n))])
		}
		await anvil.mine(1)
	})
	afterAll(() => anvil.stop())

	async function open(dialect: Dialect) {
		const gateway = await startDialectGateway(anvil.url, dialect)
		const rpc = createRpc({ url: gateway.url })
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		onTestFinished(async () => {
			await endpoints.close()
			await gateway.close()
		})
		const number = await anvil.head()
		const { hash } = await anvil.rpc<{ hash: Hash }>('eth_getBlockByNumber', [hex(number), false])
		return { gateway, state: createContractState({ endpoints }), block: { number, hash } }
	}
	const signatures = ['owner()', 'paused()', 'admin()', 'beacon()', 'governor()']
	const lends = (method: string, params: readonly unknown[]) => method === 'eth_call' && params.length > 2

	test('default: common slots and own ones, 130 contracts in two calls', async () => {
		const { gateway, state, block } = await open({})
		const questions = Array.from({ length: 130 }, (_, n) => ({
			address: place(n),
			slots: n === 3 ? [word(77n), word(78n)] : [],
		}))
		const found = await state.slots([word(0n), word(1n)], questions, block, signal)
		expect(found.size).toBe(130)
		expect(found.get(place(129))).toEqual(
			new Map([
				[word(0n), word(1_129n)],
				[word(1n), word(0n)],
			]),
		)
		expect(found.get(place(3))).toEqual(
			new Map([
				[word(0n), word(1_003n)],
				[word(1n), word(0n)],
				[word(77n), word(2_003n)],
				[word(78n), word(0n)],
			]),
		)
		expect(gateway.count('eth_call')).toBe(2)
	})

	test('default: an account without code has empty slots, and no function', async () => {
		const { state, block } = await open({})
		const stranger = place(5_000)
		expect(await state.slots([word(0n)], [{ address: stranger, slots: [] }], block, signal)).toEqual(
			new Map([[stranger, new Map([[word(0n), word(0n)]])]]),
		)
		expect(await state.getters([{ address: stranger, signatures }], block, signal)).toEqual(
			new Map([[stranger, new Map()]]),
		)
	})

	test('behavior: a node that refuses state overrides is asked for each slot', async () => {
		const { gateway, state, block } = await open({
			twist: (method, params) => (lends(method, params) ? { error: 'no' } : undefined),
		})
		const questions = [place(1), place(2)].map((address) => ({ address, slots: [word(77n)] }))
		expect(await state.slots([word(0n)], questions, block, signal)).toEqual(
			new Map(
				[1, 2].map((n) => [
					place(n),
					new Map([
						[word(0n), word(BigInt(1_000 + n))],
						[word(77n), word(BigInt(2_000 + n))],
					]),
				]),
			),
		)
		expect(gateway.count('eth_getStorageAt')).toBe(4)
	})

	test.each<[string, Dialect]>([
		['default', {}],
		[
			'behavior: without overrides',
			{ twist: (method, params) => (lends(method, params) ? { error: 'no' } : undefined) },
		],
	])('getters: %s', async (_name, dialect) => {
		const { state, block } = await open(dialect)
		await state.codeHashes([place(1)], block, signal)
		const questions = [place(1), place(2)].map((address) => ({ address, signatures }))
		expect(await state.getters(questions, block, signal)).toEqual(
			new Map(
				[1, 2].map((n) => [
					place(n),
					new Map([
						['owner()', word(BigInt(1_000 + n))],
						['paused()', word(0n)],
					]),
				]),
			),
		)
	})
})
