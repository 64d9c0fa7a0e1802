// A node whose state is changed under a block that stands, as the operator of a test node does.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import type { Watch } from '../../src/model/watch.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { ether, hex, startTestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'

const purse: Address = '0x00000000000000000000000000000000000f00d5'

async function open(dialect: Dialect = {}, part: Partial<Watch> = {}) {
	const node = await startTestAnvil([])
	await node.automine(false)
	await node.mine(3)
	const gateway = await startDialectGateway(node.url, dialect)
	const bench = await openBench({ urls: [gateway.url], watches: [watchOf(purse, part)] })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	const [alice] = (await node.accounts()) as [Address]
	const block = async () => {
		const number = await node.mine()
		await bench.settle()
		return Number(number)
	}
	const pay = (valueWei: bigint) => node.send({ from: alice, to: purse, valueWei, gas: 21_000n })
	const set = (wei: bigint) => node.rpc('anvil_setBalance', [purse, hex(wei)])
	const told = async () =>
		(await bench.posted())
			.map(({ message, ...rest }) => ({ type: message.type, ...alertOf({ message, ...rest }) }))
			.filter(({ kind, type }) => ['unexplained', 'balance'].includes(kind) || type === 'alert.removed')
	const books = async () => (await bench.store.summary()).networks.get('local')?.seen?.books
	return { node, bench, block, pay, set, told, books }
}

test('behavior: a balance that is set on the node is sent as unexplained, once, and the book runs on', async () => {
	const { bench, block, pay, set, told, books } = await open()
	await bench.settle()
	await pay(2n * ether)
	await block()
	// Anvil changes the state of its newest block, which the book was closed at.
	await set(5n * ether)
	await pay(1n)
	const at = await block()
	const [alert, ...others] = await told()
	expect(others).toEqual([])
	expect(alert).toMatchObject({
		id: `31337:${at}-${at}:balance:unexplained:${purse}`,
		openingWei: String(2n * ether),
		closingWei: String(5n * ether + 1n),
		explainedWei: '1',
		differenceWei: String(3n * ether),
		reason: expect.stringContaining('answered otherwise than when its book was closed'),
	})
	await pay(3n)
	await block()
	await set(4n * ether)
	const next = await block()
	// More than the blocks that are looked at a second time.
	for (let more = 0; more < 14; more++) await block()
	expect((await told()).map(({ type, toBlock, differenceWei }) => [type, toBlock, differenceWei])).toEqual([
		['alert.unexplained', at, String(3n * ether)],
		['alert.unexplained', next, String(-ether - 4n)],
	])
	expect(await books()).toMatchObject({ open: [], unprovedCount: 0 })
})

test('behavior: books are opened at first sight; what is set before the next block comes is reported', async () => {
	const { bench, block, set, told, books } = await open()
	await bench.poll()
	expect(await books()).toMatchObject({ closedTo: 3, closed: 1, kept: 1, open: [] })
	await set(ether / 4n)
	const at = await block()
	await block()
	expect((await told()).map(({ blockNumber, kind, valueWei }) => [blockNumber, kind, valueWei])).toEqual([
		[at, 'unexplained', String(ether / 4n)],
	])
})

test('behavior: a node that heeds no block, or an old replica, makes nothing unexplained', async () => {
	let stale = false
	const { bench, block, pay, told } = await open({
		twist: (method, params) => (stale && method === 'eth_getBalance' && params[0] === purse ? '0x0' : undefined),
		lacks: ['eth_call'],
	})
	await bench.settle()
	await pay(2n)
	await block()
	stale = true
	await block()
	stale = false
	await block()
	expect(await told()).toEqual([])
})

test('behavior: an opening balance that was reported wrong makes nothing unexplained', async () => {
	let lie = true
	const { bench, block, pay, told, books } = await open({
		twist(method, params, result) {
			if (!lie || method !== 'eth_getBalance' || params[0] !== purse) return undefined
			return hex(BigInt(result as string) + 7n)
		},
		lacks: ['eth_call'],
	})
	await bench.settle()
	await block()
	lie = false
	await pay(2n)
	await block()
	expect(await told()).toEqual([])
	expect(await books()).toMatchObject({ open: [], unprovedCount: 1 })
})
