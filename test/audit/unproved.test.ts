// What the books cannot prove is said, for as long as the state is kept, and never passed over.
import { expect, onTestFinished, test } from 'vitest'
import { booksInWords, unprovedInWords } from '../../src/core/ledger/booksInWords.js'
import { nothingUnproved, withUnproved } from '../../src/core/ledger/unproved.js'
import type { Address } from '../../src/model/glossary.js'
import { openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'

const newcomer: Address = '0x00000000000000000000000000000000000c0fee'

/** A node that tells balances of blocks from `first` on only. */
function forgetful(dialect: Dialect): { dialect: Dialect; first: bigint | null } {
	const memory = { first: 0n as bigint | null, dialect }
	const asked = ['eth_call', 'eth_getBalance']
	return Object.assign(memory, {
		dialect: {
			...dialect,
			twist(method: string, params: readonly unknown[], result: unknown) {
				if (!asked.includes(method)) return dialect.twist?.(method, params, result)
				const [, at] = params as [unknown, string | { blockHash: string }]
				const number = typeof at === 'string' ? BigInt(at) : numbers.get(at.blockHash)
				if (number === undefined || memory.first === null || number < memory.first) return null
				return undefined
			},
		},
	})
}

const numbers = new Map<string, bigint>()

async function open() {
	const { dialect, hide } = hideTransactions()
	const memory = forgetful(dialect)
	const node = await startTestAnvil([])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const gateway = await startDialectGateway(node.url, memory.dialect)
	const bench = await openBench({ urls: [gateway.url], watches: [watchOf(alice)] })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	async function mine() {
		const block = await node.mine()
		const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])
		numbers.set(hash, block)
		await bench.settle()
		return block
	}
	const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['0x0', false])
	numbers.set(hash, 0n)
	await bench.settle()
	await mine()
	const books = async () => (await bench.store.summary()).networks.get('local')?.seen?.books
	const pay = () => node.send({ from: bob, to: alice, valueWei: 7n, gas: 21_000n })
	return { node, bench, memory, mine, books, pay, hide, alice }
}

test('behavior: without balances, books are said to wait for the first block, not that none are kept', async () => {
	const node = await startTestAnvil([])
	const [alice] = (await node.accounts()) as [Address]
	const gateway = await startDialectGateway(node.url, { lacks: ['eth_call', 'eth_getBalance'] })
	const bench = await openBench({ urls: [gateway.url], watches: [watchOf(alice)] })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await bench.poll()
	const books = (await bench.store.summary()).networks.get('local')?.seen?.books
	expect(books).toMatchObject({ closedTo: null, closed: 0, kept: 1, open: [alice], openCount: 1, reason: null })
	expect(booksInWords(books)).toBe('not closed yet: 0 of 1 watches')
})

test('behavior: blocks whose state was forgotten in time are said not to be proved, and stay so', async () => {
	const { bench, memory, mine, books, pay, hide, alice } = await open()
	const closed = await mine()
	expect(await books()).toMatchObject({ closedTo: Number(closed), open: [], unproved: [], unprovedCount: 0 })
	memory.first = null
	hide(await pay())
	const first = await mine()
	await mine()
	expect(await books()).toMatchObject({ closedTo: Number(closed), reason: expect.stringContaining('balance') })
	const last = first + 2n
	memory.first = last
	bench.pass(60_000)
	await mine()
	const why = expect.stringContaining('state')
	const unproved = [{ fromBlock: Number(first), toBlock: Number(last), count: 1, addresses: [alice], why }]
	expect(await books()).toMatchObject({ closedTo: Number(last), reason: null, open: [], unproved, unprovedCount: 1 })
	expect((await bench.posted()).map(({ message }) => message.type)).not.toContain('alert.unexplained')
	await mine()
	expect(await books()).toMatchObject({ unproved, unprovedCount: 1 })
	const said = await books()
	expect(said && [...unprovedInWords(said)]).toEqual([
		`not proved: in blocks ${first} to ${last}, of ${alice}: no endpoint has the state of these blocks any more`,
	])
})

test('default: blocks proved for no watch are one entry where they adjoin, else several', () => {
	const why = 'the access list of a block was not given'
	const entry = (block: number) => ({ fromBlock: block, toBlock: block, count: 3, addresses: [], why })
	const all = [7, 8, 12, 13, 14].map(entry).reduce(withUnproved, nothingUnproved)
	expect(all.unproved).toEqual([
		{ ...entry(7), toBlock: 8, count: 6 },
		{ ...entry(12), toBlock: 14, count: 9 },
	])
	expect(all.unprovedCount).toBe(15)
	const facts = { closedTo: 14, closed: 3, kept: 3, open: [], openCount: 0, reason: null, ...all }
	expect([...unprovedInWords(facts)]).toEqual([
		`not proved: in blocks 12 to 14, of every watch: ${why}`,
		`not proved: in blocks 7 to 8, of every watch: ${why}`,
	])
})

test('behavior: a book that could be opened late only is said to be open, and then what was not proved', async () => {
	const { bench, memory, mine, books, alice } = await open()
	memory.first = null
	bench.setWatches([watchOf(alice), watchOf(newcomer)])
	const first = await mine()
	expect(await books()).toMatchObject({ kept: 2, closed: 1, open: [newcomer], unopened: 1 })
	const open_ = await books()
	expect(open_ && [...unprovedInWords(open_)]).toEqual([`open: 1 without a book yet: ${newcomer}`])
	expect(booksInWords(open_)).toContain('for 1 of 2 watches; not now:')
	await mine()
	memory.first = first + 2n
	bench.pass(60_000)
	const last = await mine()
	expect(await books()).toMatchObject({
		closed: 2,
		open: [],
		unproved: [{ toBlock: Number(last), count: 1, addresses: [newcomer], why: expect.stringContaining('opened') }],
	})
})

test('default: like unproved spans form one entry, and no more than twenty are kept', () => {
	const one = (n: number, why = 'a') =>
		({ fromBlock: n, toBlock: n, count: 1, addresses: [`0x${String(n % 3).padStart(40, '0')}`], why }) as const
	let facts = nothingUnproved
	for (let n = 1; n <= 9; n++) facts = withUnproved(facts, one(n))
	expect(facts.unproved.map(({ fromBlock, toBlock, count }) => [fromBlock, toBlock, count])).toEqual([
		[1, 7, 3],
		[2, 8, 3],
		[3, 9, 3],
	])
	for (let n = 0; n < 50; n++) facts = withUnproved(facts, one(n, `why ${n}`))
	expect(facts.unprovedCount).toBe(59)
	expect(facts.unproved).toHaveLength(20)
	expect(facts.unproved.at(-1)?.why).toBe('why 49')
})
