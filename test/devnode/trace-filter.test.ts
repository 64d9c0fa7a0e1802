import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address, Hash } from '../../src/model/glossary.js'
import { ether, hex, startTestDevnode, type TestDevnode } from '../support/anvil.js'

/** Payments a -> b -> c -> a in these blocks, and none in the others. */
const busy = [1, 2, 150, 299, 300, 301, 302, 599, 600, 601, 900, 902] as const
const head = 905

interface Trace {
	readonly blockNumber: number
	readonly transactionHash: Hash
	readonly action: { readonly from: Address; readonly to: Address }
}

let devnode: TestDevnode
let a: Address
let b: Address
let c: Address

beforeAll(async () => {
	devnode = await startTestDevnode({ anvilArgs: ['--no-mining', '--order', 'fifo', '--slots-in-an-epoch', '1'] })
	;[a, b, c] = (await devnode.accounts()) as [Address, Address, Address]
	let mined = 0
	for (const block of busy) {
		if (block - 1 > mined) await devnode.mine(block - 1 - mined)
		for (const [from, to] of [
			[a, b],
			[b, c],
			[c, a],
		] as const) {
			await devnode.send({ from, to, valueWei: ether / 1000n })
		}
		await devnode.mine()
		mined = block
	}
	await devnode.mine(head - mined)
})
afterAll(() => devnode.stop())

async function ask(filter: unknown, more: readonly unknown[] = []) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter, ...more] })
	const response = await fetch(devnode.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
	return (await response.json()) as { result?: Trace[]; error?: { code: number; message: string } }
}

async function blocks(filter: object): Promise<number[]> {
	const { result } = await ask(filter)
	return [...new Set(result?.map((trace) => trace.blockNumber))]
}

describe('the range', () => {
	test('default: from the earliest block to the latest', async () => {
		const { result } = await ask({})
		expect(result?.length).toBe(busy.length * 3)
		expect(await blocks({})).toEqual(busy)
		expect(await blocks({ fromBlock: 'earliest', toBlock: 'latest' })).toEqual(busy)
		expect(await blocks({ fromBlock: hex(900n) })).toEqual([900, 902])
		expect(await blocks({ toBlock: '0x2' })).toEqual([1, 2])
	})

	const ranges = [
		[0, 0],
		[1, 1],
		[0, 299],
		[0, 300],
		[0, 301],
		[1, 301],
		[2, 302],
		[299, 300],
		[300, 600],
		[300, 601],
		[0, 599],
		[0, 600],
		[3, 902],
		[902, 905],
		[903, 905],
		[0, 905],
	] as const
	for (const [from, to] of ranges) {
		test(`behavior: both ends of ${from} to ${to} are included, and no block comes twice`, async () => {
			const { result } = await ask({ fromBlock: hex(BigInt(from)), toBlock: hex(BigInt(to)) })
			const expected = busy.filter((block) => block >= from && block <= to)
			expect(result?.map((trace) => trace.blockNumber)).toEqual(expected.flatMap((block) => [block, block, block]))
			expect(new Set(result?.map((trace) => trace.transactionHash)).size).toBe(expected.length * 3)
		})
	}

	test('behavior: hex digits of either case, and leading zeros, are numbers', async () => {
		expect(await blocks({ fromBlock: '0x12C', toBlock: '0x012d' })).toEqual([300, 301])
	})

	for (const tag of ['safe', 'finalized'] as const) {
		test(`behavior: ${tag} is the block that the node calls so`, async () => {
			const { number } = await devnode.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])
			expect(Number(number)).toBeGreaterThan(300)
			expect(await blocks({ toBlock: tag })).toEqual(busy.filter((block) => block <= Number(number)))
			expect(await blocks({ fromBlock: tag })).toEqual(busy.filter((block) => block >= Number(number)))
		})
	}

	test('behavior: pending is the newest block', async () => {
		expect(await blocks({ fromBlock: hex(900n), toBlock: 'pending' })).toEqual([900, 902])
		expect(await blocks({ fromBlock: 'pending' })).toEqual([])
		expect((await ask({ fromBlock: 'latest', toBlock: hex(BigInt(head)) })).error).toBeUndefined()
	})

	test('behavior: blocks beyond the head have no traces', async () => {
		expect(await blocks({ fromBlock: hex(902n), toBlock: '0xffffffffffff' })).toEqual([902])
		expect((await ask({ fromBlock: hex(5000n), toBlock: hex(6000n) })).result).toEqual([])
	})

	test('error: from after to is -32602', async () => {
		for (const filter of [
			{ fromBlock: '0x2', toBlock: '0x1' },
			{ fromBlock: 'latest', toBlock: 'earliest' },
			{ fromBlock: '0xffff' },
		]) {
			expect((await ask(filter)).error).toEqual({ code: -32602, message: expect.stringContaining('is after toBlock') })
		}
	})
})

describe('the addresses', () => {
	const pairs = async (filter: object) =>
		new Set((await ask(filter)).result?.map(({ action }) => `${action.from}>${action.to}`))

	test('default: of any', async () => {
		expect(await pairs({})).toEqual(new Set([`${a}>${b}`, `${b}>${c}`, `${c}>${a}`]))
		expect(await pairs({ fromAddress: [], toAddress: [] })).toEqual(await pairs({}))
	})

	test('behavior: fromAddress alone, toAddress alone, several, in any case', async () => {
		expect(await pairs({ fromAddress: [a] })).toEqual(new Set([`${a}>${b}`]))
		expect(await pairs({ toAddress: [a] })).toEqual(new Set([`${c}>${a}`]))
		expect(await pairs({ fromAddress: [a, b] })).toEqual(new Set([`${a}>${b}`, `${b}>${c}`]))
		expect(await pairs({ fromAddress: [`0x${a.slice(2).toUpperCase()}`] })).toEqual(new Set([`${a}>${b}`]))
	})

	for (const toBlock of ['0x12c', 'latest']) {
		test(`behavior: both given means either, up to ${toBlock}`, async () => {
			expect(await pairs({ fromAddress: [a], toAddress: [a], toBlock })).toEqual(new Set([`${a}>${b}`, `${c}>${a}`]))
			expect(await pairs({ fromAddress: [a], toAddress: [b], toBlock })).toEqual(new Set([`${a}>${b}`]))
		})
	}
})

describe('after and count', () => {
	for (const toBlock of ['0x12c', 'latest']) {
		for (const [after, count] of [
			[0, 0],
			[0, 1],
			[0, 7],
			[2, 3],
			[4, 1000],
			[1000, 5],
			[undefined, 5],
			[3, undefined],
		]) {
			test(`behavior: after ${after} and count ${count} of what matches, up to ${toBlock}`, async () => {
				const filter = { toAddress: [a, b], toBlock }
				const all = (await ask(filter)).result ?? []
				expect(all.length).toBeGreaterThan(9)
				const { result } = await ask({ ...filter, after, count })
				expect(result).toEqual(all.slice(after ?? 0, (after ?? 0) + (count ?? Infinity)))
			})
		}
	}
})

describe('bad parameters', () => {
	const address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
	const bad: [string, unknown][] = [
		['fromBlock', 5],
		['fromBlock', '5'],
		['fromBlock', '0x'],
		['fromBlock', '0xzz'],
		['fromBlock', 'newest'],
		['toBlock', -1],
		['toBlock', `0x1${'0'.repeat(16)}`],
		['toBlock', { blockNumber: '0x1' }],
		['fromAddress', address],
		['fromAddress', [address.slice(1)]],
		['toAddress', ['0x1']],
		['toAddress', [null]],
		['after', -1],
		['after', '0x1'],
		['count', 1.5],
		['count', '5'],
		['mode', 'union'],
		['address', [address]],
	]
	for (const [field, value] of bad) {
		test(`error: ${field}: ${JSON.stringify(value)} is -32602 and named`, async () => {
			expect((await ask({ [field]: value })).error).toEqual({ code: -32602, message: expect.stringContaining(field) })
		})
	}

	test('error: anything but one object is -32602', async () => {
		for (const [filter, more] of [
			[null, []],
			['latest', []],
			[[], []],
			[{}, [{}]],
		] as const) {
			expect((await ask(filter, more)).error?.code).toBe(-32602)
		}
		const body = '{"jsonrpc":"2.0","id":1,"method":"trace_filter","params":[]}'
		const headers = { 'content-type': 'application/json' }
		const response = await fetch(devnode.url, { method: 'POST', headers, body })
		expect(((await response.json()) as { error: { code: number } }).error.code).toBe(-32602)
	})
})
