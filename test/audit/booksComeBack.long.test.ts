// A watch that is removed and comes back before its book was taken away: with many books they are taken away some at a
// time. Its book is closed over the time between, and what that finds is told.
import { expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'
import { listening } from '../support/listening.js'

/** More than is looked through over two parts. */
const OTHERS = 41_000

async function open() {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const { dialect, hide } = hideTransactions()
	const gateway = await startDialectGateway(node.url, dialect)
	const others = Array.from({ length: OTHERS }, (_, n) =>
		watchOf(`0x${(0xabc0000 + n).toString(16).padStart(40, '0')}`),
	)
	const { log, said } = listening()
	const bench = await openBench({ urls: [gateway.url], watches: others, log })
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
	// Its book is made last, and so is looked at last.
	bench.setWatches([...others, watchOf(alice)])
	for (; !(await books()).has(alice); ) await block()
	const told = async (type: string): Promise<readonly AlertData[]> =>
		(await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
	const pay = (valueWei: bigint) => node.send({ from: bob, to: alice, valueWei, gas: 21_000n })
	return { node, bench, block, books, told, hide, pay, alice, others, said }
}

// One that comes back is given what it missed: that is told once, as what it was.
test.each(['shown', 'hidden'])(
	'behavior: a payment meanwhile that is %s, and one afterwards that is hidden',
	async (how) => {
		const { node, bench, block, books, told, hide, pay, alice, others } = await open()
		const isHidden = how === 'hidden'
		bench.setWatches(others)
		const meanwhile = await pay(5n)
		if (isHidden) hide(meanwhile)
		const first = await block()
		expect((await books()).has(alice)).toBe(true)
		bench.setWatches([...others, watchOf(alice)])
		await block()
		expect((await books()).has(alice)).toBe(true)
		await pay(3n)
		await block()
		const shown = isHidden ? ['3'] : ['5', '3']
		expect((await told('alert.transfer')).map(({ valueWei }) => valueWei)).toEqual(shown)
		const inWords = ({ fromBlock, toBlock, differenceWei }: AlertData) => `${fromBlock}-${toBlock}: ${differenceWei}`
		const missed = isHidden ? [`${first}-${first}: 5`] : []
		expect((await told('alert.unexplained')).map(inWords)).toEqual(missed)
		hide(await pay(7n))
		await pay(11n)
		const last = await block()
		expect((await told('alert.unexplained')).map(inWords)).toEqual([...missed, `${last}-${last}: 7`])
		expect((await told('alert.transfer')).map(({ valueWei }) => valueWei)).toEqual([...shown, '11'])
		const balanceWei = await node.balanceWei(alice, last)
		expect((await books()).get(alice)).toMatchObject({ block: last, balanceWei, movedWei: 0n })
	},
)
