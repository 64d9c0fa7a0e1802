// What someone could do to the books: an endpoint that lies in balances only, coins on odd ways, and old rules.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { type Bench, openBench, watchOf } from '../scan/bench.js'
import { ether, hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Dialect, startDialectGateway } from '../support/dialectGateway.js'
import { listening } from '../support/listening.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'

const author: Address = '0x00000000000000000000000000000000c01bba5e'

async function alertsOf(bench: Bench, type: string): Promise<readonly AlertData[]> {
	return (await bench.posted()).flatMap(({ message }) => (message.type === type ? [message.data as AlertData] : []))
}

/** With a price as before London, which all hardforks take. */
function legacy(node: TestAnvil): TestAnvil {
	return {
		...node,
		send: ({ from, to, valueWei = 0n, data, gas = 1_000_000n }) => {
			const tx = { from, ...(to && { to }), ...(data && { data }), value: hex(valueWei), gas: hex(gas) }
			return node.rpc('eth_sendTransaction', [{ ...tx, gasPrice: hex(10n ** 10n) }])
		},
	}
}

async function open(dialects: readonly Dialect[], { anvilArgs = [] as string[], more = [] as Address[] } = {}) {
	const node = legacy(await startTestAnvil(anvilArgs))
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const puppet = createAddress(bob, 0n)
	await node.send({ from: bob, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
	await node.mine(3)
	const gateways = await Promise.all(dialects.map((one) => startDialectGateway(node.url, one)))
	const watched = [alice, puppet, ...more]
	const { log, said } = listening()
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: watched.map((one) => watchOf(one)),
		log,
	})
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
		await node.stop()
	})
	const block = async () => {
		const number = await node.mine()
		await bench.settle()
		return number
	}
	await bench.settle()
	await block()
	const expectClosed = async () => {
		const head = await node.head()
		const state = await bench.store.network('local')
		for (const address of watched) {
			const balanceWei = await node.balanceWei(address, head)
			expect(state?.books.get(address), address).toMatchObject({ block: head, balanceWei, movedWei: 0n })
		}
	}
	return { node, bench, said, alice, bob, puppet, gateways, block, expectClosed }
}

/** From a block on, and up to another, it says of one address that it has 5 wei more than it has. */
function liar() {
	const lie = { of: author, from: 1n << 60n, to: 1n << 60n }
	const dialect: Dialect = {
		lacks: ['eth_call'],
		twist(method, params, result) {
			if (method !== 'eth_getBalance') return undefined
			// By number only, so that the lie knows its block.
			if (typeof params[1] !== 'string') return 'no'
			const block = BigInt(params[1])
			const isLie = params[0] === lie.of && lie.from <= block && block < lie.to
			return isLie ? hex(BigInt(result as string) + 5n) : undefined
		},
	}
	return { lie, dialect }
}

/** On a busy machine the first endpoint, which lies, may be too slow and rest; then another is asked for that block. */
const whenAsked = { timeout: 120_000 }

describe('books under attack', () => {
	test('behavior: a false balance from one endpoint of two is sent as not proved, not as unexplained', async () => {
		const { lie, dialect } = liar()
		const { node, bench, said, alice, bob, block } = await open([dialect, {}])
		Object.assign(lie, { of: alice, from: (await node.head()) + 1n })
		const saidOnceMore = async () => {
			await node.send({ from: alice, to: bob, valueWei: 7n, gas: 21_000n })
			await block()
			await block()
			return said.filter((line) => line.includes('nothing can be proved')).join()
		}
		await expect.poll(saidOnceMore, whenAsked).toContain('endpoints tell different')
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
	})

	test('behavior: of three endpoints the one that lies in balances is named, and stands alone', async () => {
		const { lie, dialect } = liar()
		const { node, bench, alice, bob, gateways, block } = await open([dialect, {}, {}])
		Object.assign(lie, { of: alice, from: (await node.head()) + 1n })
		const unprovedOnceMore = async () => {
			await node.send({ from: alice, to: bob, valueWei: 7n, gas: 21_000n })
			await block()
			const seen = (await bench.store.summary()).networks.get('local')?.seen?.books
			return seen?.unproved?.map(({ why }) => why)
		}
		const [liars, one, two] = gateways.map(({ url }) => new URL(url).host)
		await expect
			.poll(unprovedOnceMore, whenAsked)
			.toEqual([`endpoints tell different balances: ${liars} against ${one}, ${two}`])
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
	})

	test('behavior: the only endpoint lies in balances: it is reported, and so is the way back', async () => {
		const { lie, dialect } = liar()
		const { node, bench, alice, block } = await open([dialect])
		const from = (await node.head()) + 1n
		Object.assign(lie, { of: alice, from, to: from + 1n })
		await block()
		await block()
		const told = await alertsOf(bench, 'alert.unexplained')
		expect(told.map(({ toBlock, differenceWei }) => [toBlock, differenceWei])).toEqual([
			[Number(from), '5'],
			[Number(from) + 1, '-5'],
		])
	})

	test('behavior: the author of a block is paid inside of a trace, besides its fees', async () => {
		const { node, bench, said, bob, puppet, block, expectClosed } = await open([{}], { more: [author] })
		await node.rpc('anvil_setCoinbase', [author])
		const data = encodeActions([{ do: 'call', to: author, valueWei: 3n * ether }])
		const txHash = await node.send({ from: bob, to: puppet, data, gas: 200_000n })
		await block()
		await block()
		expect((await alertsOf(bench, 'alert.transfer')).map(({ id }) => id).sort()).toEqual(
			[author, puppet].map((address) => `31337:${txHash}:0:transfer:${address}`).sort(),
		)
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect(said).toEqual([])
		await expectClosed()
	})

	test('behavior: a contract comes to be where coins lay already, in the block of their coming too', async () => {
		const { node, bench, said, bob, alice, block, expectClosed } = await open([{}], {
			more: [
				createAddress('0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', 0n),
				createAddress('0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', 1n),
			],
		})
		const carol: Address = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
		const [one, two] = [createAddress(carol, 0n), createAddress(carol, 1n)]
		await node.send({ from: alice, to: one, valueWei: 7n, gas: 21_000n })
		await block()
		await node.send({ from: carol, data: puppetInit, valueWei: 5n, gas: 1_000_000n })
		await node.send({ from: bob, to: two, valueWei: 11n, gas: 21_000n })
		await block()
		await node.send({ from: carol, data: puppetInit, valueWei: 1n, gas: 1_000_000n })
		await block()
		await block()
		expect(await node.balanceWei(one, await node.head())).toBe(12n)
		expect(await node.balanceWei(two, await node.head())).toBe(12n)
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect(said).toEqual([])
		await expectClosed()
	})

	test.each(['frontier', 'homestead', 'byzantium', 'osaka'])('behavior: under the rules of %s', async (hardfork) => {
		const { node, bench, said, alice, bob, puppet, block, expectClosed } = await open([{}], {
			anvilArgs: ['--hardfork', hardfork],
		})
		await node.send({ from: alice, to: bob, valueWei: 5n, gas: 21_000n })
		await node.send({ from: alice, data: puppetInit, gas: 60_000n })
		await node.send({
			from: bob,
			to: puppet,
			valueWei: 9n,
			data: encodeActions([{ do: 'call', to: alice, valueWei: 3n }]),
			gas: 300_000n,
		})
		await block()
		await block()
		expect(await alertsOf(bench, 'alert.unexplained')).toEqual([])
		expect(said).toEqual([])
		await expectClosed()
	})
})
