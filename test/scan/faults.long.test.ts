import { describe, expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/errors.js'
import type { Address } from '../../src/model/glossary.js'
import { type Hand, hex, startTestAnvil } from '../support/anvil.js'
import { type FaultProxy, startFaultProxy } from '../support/faultProxy.js'
import {
	body,
	both,
	cutBody,
	cutJson,
	hang,
	html,
	oversize,
	reset,
	rpcError,
	status,
	wrongId,
} from '../support/faults.js'
import type { Fault } from '../support/faultyNode.js'
import { randomOf } from '../support/random.js'
import { soaked } from '../support/soak.js'
import { alertOf, openBench, watchOf } from './bench.js'

/** Everything that an endpoint was seen to do instead of answering. */
const faults: readonly Fault[] = [
	status(429, 'slow down', { 'retry-after': '2' }),
	status(429, 'slow down', { 'retry-after': new Date(Date.now() + 30_000).toUTCString() }),
	status(429, { error: { message: 'slow down', data: { retry_after: 3 } } }),
	status(500, 'oops'),
	status(502, '<html>bad gateway</html>'),
	status(503),
	html,
	cutJson,
	cutBody,
	both,
	wrongId,
	reset,
	hang,
	oversize(3_000_000),
	body({}),
	body([]),
	rpcError(-32000, 'nonce too high'),
	rpcError(-32603, 'internal error'),
	rpcError(-32005, 'query returned more than 10000 results'),
]

describe('an endpoint with every fault, and a second one that lags', () => {
	test.each(soaked([1], [1, 2, 3]))(
		'seed %i: what was reported, less what was retracted, is the chain, and nothing is sent twice',
		async (seed) => {
			const node = await startTestAnvil()
			const proxies: FaultProxy[] = [await startFaultProxy(node.url), await startFaultProxy(node.url)]
			onTestFinished(async () => {
				for (const proxy of proxies) await proxy.close()
				await node.stop()
			})
			const [faulty, lagging] = proxies as [FaultProxy, FaultProxy]
			await node.automine(false)
			await node.mine(25)
			// Each request draws a fault, and how many there are is not the same in each run: what happens draws elsewhere.
			const [random, story] = [randomOf(seed), randomOf(seed + 1_000)]
			const below = (draw: () => number, n: number) => Math.floor(draw() * n)
			const [pick, pickOfStory] = [(n: number) => below(random, n), (n: number) => below(story, n)]
			lagging.lagBlocks = 20n
			const accounts = await node.accounts()
			const watched = accounts.slice(0, 3)
			let movedMs = 0
			const bench = await openBench({
				urls: proxies.map(({ url }) => url),
				watches: watched.map((address) => watchOf(address)),
				network: { settle: 12 },
				clock: () => Date.now() + movedMs,
				// A wait that an endpoint asks for passes at once.
				wait: async (ms) => {
					movedMs += ms
				},
				timeoutMs: 250,
				// As with two endpoints; fewer tries, so that more is left to the endpoints and the polls.
				retry: { tries: 3, withinMs: 3_000 },
				maxBodyBytes: 2_000_000,
			})
			onTestFinished(() => bench.close())
			const from = (await node.head()) + 1n
			await bench.settle()

			let failures = 0
			const pollOnce = async () => {
				// Rests end: time goes by between polls.
				try {
					return (await bench.settle()).checkpoint
				} catch (error) {
					if (!(error instanceof RpcError)) throw error
					failures++
					return null
				} finally {
					movedMs += 3_600_000
				}
			}
			const everyFault = () => (random() < 0.35 ? (faults[pick(faults.length)] ?? null) : null)
			for (let round = 0; round < 60; round++) {
				for (let n = pickOfStory(3); n > 0; n--) {
					await node.send({
						from: accounts[pickOfStory(5)] as Address,
						to: accounts[pickOfStory(5)] as Address,
						valueWei: BigInt(1 + pickOfStory(1000)),
					})
				}
				await node.mine(1 + pickOfStory(3))
				// Now and then the first one's head goes back by a few blocks too.
				faulty.lagBlocks = random() < 0.15 ? BigInt(pick(8)) : 0n
				if (random() < 0.5) lagging.next = () => (random() < 0.2 ? (faults[pick(faults.length)] ?? null) : null)
				faulty.next = everyFault
				// Both at once, so that whole polls fail, whatever becomes of single requests.
				const areDown = round % 10 === 9
				if (areDown) for (const proxy of proxies) proxy.next = () => status(503)
				if (areDown || random() < 0.7) await pollOnce()
				if (areDown) lagging.next = () => null
			}
			expect(failures).toBeGreaterThanOrEqual(3)

			faulty.next = () => null
			faulty.lagBlocks = 0n
			await node.mine(30)
			for (let tries = 0; tries < 5; tries++) await pollOnce()
			// On a busy machine an answer may still take longer than this test's requests have.
			await expect.poll(pollOnce, { timeout: 120_000 }).toBe(await node.head())
			const told = (await bench.posted()).map(({ message }) => [message.type, message.data.id])
			expect(told.filter(([type]) => type === 'alert.removed')).toEqual([])
			const ids = (await bench.posted()).map((delivery) => alertOf(delivery).id)
			expect(new Set(ids).size).toBe(ids.length)
			expect(ids.toSorted()).toEqual((await paymentsOf(node, from, new Set(watched))).toSorted())
			expect(ids.length).toBeGreaterThan(20)
		},
	)
})

/** Alert ids of the payments since a block, read from the blocks themselves. */
async function paymentsOf(node: Hand, from: bigint, watched: ReadonlySet<Address>): Promise<string[]> {
	const ids: string[] = []
	for (let number = from; number <= (await node.head()); number++) {
		const block = await node.rpc<{ transactions: { hash: string; from: Address; to: Address }[] }>(
			'eth_getBlockByNumber',
			[hex(number), true],
		)
		for (const tx of block.transactions) {
			for (const address of new Set([tx.from, tx.to]))
				if (watched.has(address)) ids.push(`31337:${tx.hash}:root:transfer:${address}`)
		}
	}
	return ids
}
