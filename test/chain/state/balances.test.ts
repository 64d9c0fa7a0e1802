import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEndpoints } from '../../../src/chain/endpoints/endpoints.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { createAccounts } from '../../../src/chain/state/accounts.js'
import { createBalanceReader } from '../../../src/chain/state/balances.js'
import type { RpcError } from '../../../src/errors.js'
import type { BlockRef } from '../../../src/model/chain.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { ether, hex, startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, Refused, startDialectGateway } from '../../support/dialectGateway.js'
import { multicallAt, multicallCode } from '../../support/multicall.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

const signal = new AbortController().signal
/** Any number of addresses that no one has a key of. */
const stranger = (n: number): Address => `0x${(0xabc000000 + n).toString(16).padStart(40, '0')}`

describe('balances', () => {
	let anvil: TestAnvil
	let accounts: readonly Address[]
	beforeAll(async () => {
		anvil = await startTestAnvil()
		await anvil.automine(true)
		accounts = await anvil.accounts()
		for (let n = 0; n < 5; n++) {
			const txHash = await anvil.send({
				from: accounts[0] as Address,
				to: stranger(n),
				valueWei: BigInt(n + 1) * ether,
			})
			await anvil.receipt(txHash)
		}
	})
	afterAll(() => anvil.stop())

	async function open(dialect: Dialect) {
		const gateway = await startDialectGateway(anvil.url, dialect)
		const rpc = createRpc({ url: gateway.url })
		onTestFinished(async () => {
			await rpc.close()
			await gateway.close()
		})
		return { gateway, rpc, reader: createBalanceReader({ log: silent }) }
	}

	async function refOf(number: bigint): Promise<BlockRef> {
		const { hash } = await anvil.rpc<{ hash: Hash }>('eth_getBlockByNumber', [hex(number), false])
		return { number, hash }
	}

	async function expected(addresses: readonly Address[], number: bigint) {
		return new Map(await Promise.all(addresses.map(async (one) => [one, await anvil.balanceWei(one, number)] as const)))
	}

	const noOverride = (method: string, params: readonly unknown[]) => method === 'eth_call' && params.length > 2
	const refused = { error: 'no' }

	test.each<[string, Dialect, object]>([
		['default', {}, { ask: 'together', by: 'hash' }],
		['behavior: without eth_call each is asked', { lacks: ['eth_call'] }, { ask: 'each', by: 'hash' }],
		[
			'behavior: lent code that is not looked at answers nothing',
			{ twist: (method, params) => (noOverride(method, params) ? '0x' : undefined) },
			{ ask: 'each', by: 'hash' },
		],
		[
			'behavior: lent code that answers wrongly',
			{ twist: (method, params) => (noOverride(method, params) ? `0x${'1'.padStart(128, '0')}` : undefined) },
			{ ask: 'each', by: 'hash' },
		],
		[
			'behavior: a node that takes numbers only',
			{ twist: (_method, params) => (typeof params[1] === 'object' ? refused : undefined) },
			{ ask: 'together', by: 'number' },
		],
		['behavior: no batches', { batch: 1 }, { ask: 'together', by: 'hash' }],
	])('%s', async (_name, dialect, way) => {
		const { rpc, reader } = await open(dialect)
		const head = await anvil.head()
		const addresses = [...accounts, ...Array.from({ length: 8 }, (_, n) => stranger(n))]
		for (const number of [head, head - 2n, 0n]) {
			const told = await reader.read(rpc, addresses, await refOf(number), signal)
			expect(told).toEqual(await expected(addresses, number))
		}
		expect(reader.strategyOf(rpc)).toEqual(way)
	})

	describe('Multicall3, where code cannot be lent', () => {
		const noLoan: Dialect['twist'] = (method, params) => (noOverride(method, params) ? refused : undefined)
		const byNumber: Dialect['twist'] = (_method, params) => (typeof params[1] === 'object' ? refused : undefined)
		const bent =
			(bend: (answer: string) => string): Dialect['twist'] =>
			(method, params, result) => {
				if (noOverride(method, params)) return refused
				return method === 'eth_call' ? bend(result as string) : undefined
			}
		beforeAll(() => anvil.rpc('anvil_setCode', [multicallAt, multicallCode]))
		afterAll(() => anvil.rpc('anvil_setCode', [multicallAt, '0x']))

		test.each<[string, Dialect['twist'], object]>([
			['default', noLoan, { ask: 'multicall', by: 'hash' }],
			[
				'behavior: by number',
				(...args) => noLoan?.(...args) ?? byNumber?.(...args),
				{ ask: 'multicall', by: 'number' },
			],
			['error: one balance too few', bent((answer) => answer.slice(0, -64)), { ask: 'each', by: 'hash' }],
			[
				'error: a balance of nothing',
				bent((answer) => `${answer.slice(0, 386)}${'0'.repeat(64)}${answer.slice(450)}`),
				{ ask: 'each' },
			],
			['error: the list is said to be elsewhere', bent((answer) => answer.replace('40', '60')), { ask: 'each' }],
		])('%s', async (_name, twist, way) => {
			const { rpc, reader, gateway } = await open({ ...(twist && { twist }) })
			// More than one question holds; the code stands at the head only.
			const addresses = [...accounts, ...Array.from({ length: 510 }, (_, n) => stranger(n))]
			const head = await anvil.head()
			const told = await reader.read(rpc, addresses, await refOf(head), signal)
			expect(reader.strategyOf(rpc)).toMatchObject(way)
			const some = [...accounts, ...Array.from({ length: 8 }, (_, n) => stranger(n))]
			expect(new Map(some.map((one) => [one, told.get(one)]))).toEqual(await expected(some, head))
			expect(told.size).toBe(addresses.length)
			expect(told.codes).toBeUndefined()
			if (reader.strategyOf(rpc)?.ask === 'multicall') expect(gateway.count('eth_getBalance')).toBe(4)
		})

		test('behavior: a node that takes its place and cannot do it is learnt anew', async () => {
			const { rpc, reader, gateway } = await open({ twist: noLoan })
			const head = await refOf(await anvil.head())
			await reader.read(rpc, accounts, head, signal)
			gateway.dialect = { lacks: ['eth_call'] }
			await expect(reader.read(rpc, accounts, head, signal)).rejects.toMatchObject({ facts: { kind: 'no-data' } })
			expect(await reader.read(rpc, accounts, head, signal)).toEqual(await expected(accounts, head.number))
			expect(reader.strategyOf(rpc)).toEqual({ ask: 'each', by: 'hash' })
		})
	})

	test('behavior: five thousand addresses in three calls of one request', async () => {
		const { gateway, rpc, reader } = await open({})
		const head = await refOf(await anvil.head())
		await reader.read(rpc, accounts, head, signal)
		const before = gateway.count('eth_call')
		const many = Array.from({ length: 5_000 }, (_, n) => stranger(n))
		const told = await reader.read(rpc, many, head, signal)
		expect(gateway.count('eth_call') - before).toBe(3)
		expect(gateway.count('eth_getBalance')).toBe(4)
		expect([...told.values()].filter((wei) => wei > 0n)).toEqual([1n, 2n, 3n, 4n, 5n].map((n) => n * ether))
	})

	test('error: a state that is gone is no-data, and the endpoint is not blamed for it', async () => {
		const { gateway, rpc } = await open({ lacks: ['eth_call', 'eth_getBalance'] })
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		const told = createAccounts({ endpoints, rpcs: [rpc], chainId: 31337, witnesses: [], log: silent })
		const head = await refOf(await anvil.head())
		await expect(told.balances(accounts, head, signal)).rejects.toMatchObject({ facts: { kind: 'no-data' } })
		expect(endpoints.states()).toMatchObject([{ healthy: true, restingUntilMs: null }])
		gateway.dialect = { twist: (method) => (method === 'eth_getBalance' || method === 'eth_call' ? 'soon' : undefined) }
		await expect(told.balances(accounts, head, signal)).rejects.toMatchObject({ facts: { kind: 'no-data' } })
		expect(endpoints.states()).toMatchObject([{ healthy: true, restingUntilMs: null }])
	})

	test('error: a state that geth has dropped is gone for good, and the endpoint is not asked twice', async () => {
		const message = `historical state ${'4f'.repeat(32)} is not available`
		const { gateway, rpc } = await open({
			twist(method) {
				if (/^eth_(?:call|getBalance)$/.test(method)) throw new Refused({ error: { code: -32000, message } })
				return undefined
			},
		})
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		const told = createAccounts({ endpoints, rpcs: [rpc], chainId: 31337, witnesses: [], log: silent })
		const head = await refOf(await anvil.head())
		const thrown = await told.balances(accounts, head, signal).catch((one: unknown) => one)
		expect(thrown).toMatchObject({ facts: { kind: 'no-data' } })
		expect((thrown as RpcError).facts.forNow).toBeUndefined()
		expect(gateway.count('eth_getBalance')).toBe(4)
	})

	test.each([
		[
			'PublicNode',
			-32602,
			'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
		],
		['Infura', -32002, 'project ID does not have access to archive state'],
	])('error: %s refuses old state with 403, and the endpoint serves everything else', async (_who, code, message) => {
		const { rpc } = await open({
			twist(method) {
				if (/^eth_(?:call|getBalance)$/.test(method)) throw new Refused({ error: { code, message }, status: 403 })
				return undefined
			},
		})
		const endpoints = createEndpoints({ rpcs: [rpc], chainId: 31337, clock: standingClock, log: silent })
		const told = createAccounts({ endpoints, rpcs: [rpc], chainId: 31337, witnesses: [], log: silent })
		const head = await refOf(await anvil.head())
		await expect(told.balances(accounts, head, signal)).rejects.toMatchObject({ facts: { kind: 'no-data' } })
		expect(endpoints.states()).toMatchObject([{ healthy: true, restingUntilMs: null }])
	})

	test('error: a block that is not on the chain has no balances', async () => {
		const { rpc, reader } = await open({})
		const left = { number: await anvil.head(), hash: `0x${'77'.repeat(32)}` as Hash }
		await expect(reader.read(rpc, accounts, left, signal)).rejects.toThrow()
	})

	test('error: asked by number, another block of that number is found out', async () => {
		const { rpc, reader } = await open({
			twist: (_method, params) => (typeof params[1] === 'object' ? refused : undefined),
		})
		const head = await refOf(await anvil.head())
		await reader.read(rpc, accounts, head, signal)
		const left = { number: head.number, hash: `0x${'77'.repeat(32)}` as Hash }
		await expect(reader.read(rpc, accounts, left, signal)).rejects.toMatchObject({ facts: { kind: 'unsettled' } })
	})
})
