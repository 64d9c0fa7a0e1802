// A watch that is removed and comes back before its book was taken away: with many books they are taken away some at a
// time. Its book is closed over the time between, and what that finds is told.
import { expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'

/** More than is looked through over one part. */
const OTHERS = 21_000
/** Books are looked through in the order of this: the last digits of their addresses. */
const SHARDS = 1_024n

async function open() {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const accounts = (await node.accounts()) as readonly Address[]
	const [payer] = accounts as [Address]
	const [shown, unseen] = accounts.filter((each) => each !== payer && BigInt(each) % SHARDS >= SHARDS / 2n) as [
		Address,
		Address,
	]
	const { dialect, hide } = hideTransactions()
	const gateway = await startDialectGateway(node.url, dialect)
	// All of them are looked at before the two that come back.
	const others = Array.from({ length: OTHERS }, (_, at) => {
		const [row, place] = [BigInt(Math.floor(at / 512)), BigInt(at % 512)]
		return watchOf(`0x${((0xabc0n + row) * SHARDS + place).toString(16).padStart(40, '0')}`)
	})
	const bench = await openBench({ urls: [gateway.url], watches: others })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	const books = async () => (await bench.store.network('local'))?.books ?? new Map()
	const block = async () => {
		const number = await node.mine(1)
		await bench.settle()
		return number
	}
	for (; (await books()).size < OTHERS; ) await block()
	const all = [...others, watchOf(shown), watchOf(unseen)]
	bench.setWatches(all)
	for (; (await books()).size < all.length; ) await block()
	const alertsAbout = async (address: Address, type: string): Promise<readonly AlertData[]> =>
		(await bench.posted())
			.filter(({ message }) => message.type === type)
			.map(alertOf)
			.filter(({ watch }) => watch.address.toLowerCase() === address.toLowerCase())
	const transfers = async (address: Address) =>
		(await alertsAbout(address, 'alert.transfer')).map(({ valueWei }) => valueWei)
	const unexplained = async (address: Address) =>
		(await alertsAbout(address, 'alert.unexplained')).map(
			({ fromBlock, toBlock, differenceWei }) => `${fromBlock}-${toBlock}: ${differenceWei}`,
		)
	const pay = (to: Address, valueWei: bigint) => node.send({ from: payer, to, valueWei, gas: 21_000n })
	return { node, bench, block, books, transfers, unexplained, hide, pay, shown, unseen, others, all }
}

// One that comes back is given what it missed: that is told once, as what it was.
test('behavior: payments while a watch is away, one shown and one hidden, and a later hidden one', async () => {
	const { node, bench, block, books, transfers, unexplained, hide, pay, shown, unseen, others, all } = await open()
	const both = [shown, unseen]
	const bothHaveBooks = async () => {
		const kept = await books()
		return both.map((address) => kept.has(address))
	}
	bench.setWatches(others)
	await pay(shown, 5n)
	hide(await pay(unseen, 5n))
	const first = await block()
	expect(await bothHaveBooks()).toEqual([true, true])
	bench.setWatches(all)
	await block()
	expect(await bothHaveBooks()).toEqual([true, true])
	for (const address of both) await pay(address, 3n)
	await block()
	expect(await transfers(shown)).toEqual(['5', '3'])
	expect(await transfers(unseen)).toEqual(['3'])
	expect(await unexplained(shown)).toEqual([])
	expect(await unexplained(unseen)).toEqual([`${first}-${first}: 5`])

	for (const address of both) {
		hide(await pay(address, 7n))
		await pay(address, 11n)
	}
	const last = await block()
	expect(await unexplained(shown)).toEqual([`${last}-${last}: 7`])
	expect(await unexplained(unseen)).toEqual([`${first}-${first}: 5`, `${last}-${last}: 7`])
	expect(await transfers(shown)).toEqual(['5', '3', '11'])
	expect(await transfers(unseen)).toEqual(['3', '11'])
	for (const address of both) {
		const balanceWei = await node.balanceWei(address, last)
		expect((await books()).get(address)).toMatchObject({ block: last, balanceWei, movedWei: 0n })
	}
	expect(await bench.posted()).toHaveLength(8)
})
