import { expect, onTestFinished, test } from 'vitest'
import { RpcError } from '../../src/errors.js'
import type { Address } from '../../src/model/glossary.js'
import { openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'

test('behavior: the auditor follows a poll that fails after some blocks', async () => {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	let last: bigint | null = null
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(alice)],
		network: { settle: 6 },
		gaps: false,
		around: (store) => ({
			...store,
			async commit(change) {
				if (last !== null && (change.checkpoint?.number ?? 0n) > last)
					throw new RpcError('no answer in time', { kind: 'timeout', endpoint: 'node' })
				return await store.commit(change)
			},
		}),
	})
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	await node.mine(3)
	await bench.settle()
	await node.send({ from: bob, to: alice, valueWei: 5n, gas: 21_000n })
	await node.mine(1)
	await node.mine(15)
	// The blocks that have settled are committed before those after them.
	last = (await node.head()) - 6n
	await expect(bench.poll()).rejects.toThrow('no answer in time')
	const state = await bench.store.network('local')
	expect([state?.checkpoint.number, state?.audit?.taken]).toEqual([last, last])
})
