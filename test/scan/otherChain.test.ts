// An endpoint whose URL leads to another chain from one request to the next, as behind a proxy or a name that changes.
import { expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/errors.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { askNode } from '../support/askNode.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { sendJson } from '../support/faultyNode.js'
import { START_MS } from '../support/standingClock.js'
import { alertOf, openBench, watchOf } from './bench.js'

/** Two chains with the same accounts and ten blocks each, and endpoints that can be led from one to the other. */
async function open(endpoints: number) {
	const nodes = [await startTestAnvil(), await startTestAnvil(['--chain-id', '31338'])] as const
	const [ours, other] = nodes
	const proxies = await Promise.all(Array.from({ length: endpoints }, () => startFaultProxy(ours.url)))
	const [payer, watched] = (await ours.accounts()) as [Address, Address]
	const pay = (node: typeof ours) => node.send({ from: payer, to: watched, valueWei: 1n })
	for (const node of nodes) await node.mine(10)
	let passedMs = 0
	const bench = await openBench({
		urls: proxies.map(({ url }) => url),
		watches: [watchOf(watched)],
		network: { settle: 3 },
		clock: () => START_MS + passedMs,
	})
	onTestFinished(async () => {
		await bench.close()
		await Promise.all([...proxies, ...nodes].map((each) => ('stop' in each ? each.stop() : each.close())))
	})
	await bench.settle()
	const sent = [await pay(ours), await pay(ours)]
	await bench.settle()
	return {
		...{ ours, other, pay, bench, sent },
		watchFrom: (fromBlock: bigint) => bench.setWatches([watchOf(watched, { fromBlock })]),
		pass(ms: number) {
			passedMs += ms
		},
		/** The first endpoint leads to that chain from now on. */
		lead(isOther: boolean) {
			const [first] = proxies
			if (first === undefined) throw new Error('no endpoint')
			const wrong = async (calls: unknown) => await askNode<unknown>(other.url, calls)
			first.next = () =>
				isOther
					? ({ batch, calls }, response) =>
							void wrong(batch ? calls : calls[0]).then((answer) => sendJson(response, answer))
					: null
		},
		/** Type and transaction of each message. */
		told: async () => (await bench.posted()).map((delivery) => `${delivery.message.type} ${alertOf(delivery).txHash}`),
	}
}

const announced = (hashes: readonly string[]) => hashes.map((hash) => `alert.transfer ${hash}`)

test.each([
	['higher', 9],
	['as high', 2],
	['one block higher', 3],
	['lower', 0],
])('error: another chain whose head is %s: nothing is retracted or reported', async (_, payments) => {
	const { other, pay, bench, sent, ours, lead, pass, told, watchFrom } = await open(1)
	for (let count = 0; count < payments; count++) await pay(other)
	lead(true)
	watchFrom(1n)
	for (let poll = 0; poll < 3; poll++) {
		const failure = await bench.poll().catch((error: unknown) => error)
		if (poll > 0) expect((failure as RpcError).facts).toMatchObject({ wrongChainId: '31338' })
		pass(1_000)
	}
	expect(await told()).toEqual(announced(sent))

	lead(false)
	sent.push(await pay(ours))
	pass(3_600_000)
	await bench.settle()
	expect(await told()).toEqual(announced(sent))
})

test('behavior: another endpoint takes over from the one that leads to another chain', async () => {
	const { other, pay, bench, sent, ours, lead, told } = await open(2)
	for (let count = 0; count < 9; count++) await pay(other)
	lead(true)
	sent.push(await pay(ours))
	await bench.poll().catch((error: unknown) => {
		if (!(error instanceof RpcError)) throw error
	})
	await bench.settle()
	expect(await told()).toEqual(announced(sent))
})
