// 20,000 logs to a watch, which fill a block of Ethereum: what they cost, and that nobody else waits for them.
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { flood, wordOf } from '../support/tokenContracts.js'
import { openBench, watchOf } from './bench.js'

/**
 * The longest that one turn of the loop takes, in milliseconds of processor: of this process, its collector of garbage
 * included, since others may use the machine too.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
	let longest = 0
	let isOver = false
	let before = process.cpuUsage()
	const tick = () => {
		const { user, system } = process.cpuUsage(before)
		longest = Math.max(longest, user + system)
		before = process.cpuUsage()
		if (!isOver) setImmediate(tick)
	}
	setImmediate(tick)
	await work()
	isOver = true
	return longest / 1_000
}

test.each([1, 10, 50])('behavior: 20,000 logs, in %i transactions', { timeout: 120_000 }, async (txs) => {
	const node = await startTestAnvil(['--gas-limit', '20000000000'])
	onTestFinished(() => node.stop())
	const [stranger, alice] = (await node.accounts()) as [Address, Address]
	const { contractAddress } = await node.receipt(await node.send({ from: stranger, data: flood() }))
	const to = contractAddress as Address
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(alice, { kinds: ['transfer', 'token'], tokens: 'all', label: 'Treasury' })],
		books: false,
		timeoutMs: 120_000,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	await node.automine(false)
	const data: Hex = `0x${wordOf(BigInt(20_000 / txs))}${wordOf(alice)}`
	for (let n = 0; n < txs; n++) await node.send({ from: stranger, to, data, gas: 300_000_000n })
	await node.mine(1)
	// 27 to 135 ms with a load of 14 on two cores, where all of it in one breath takes some 700 ms.
	expect(await longestTurn(() => bench.settle())).toBeLessThan(350)
	expect(await bench.posted()).toHaveLength(100)
})
