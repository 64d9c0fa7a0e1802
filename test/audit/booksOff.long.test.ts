/** Without books the auditor has no position on disk. What it is handed and cannot hold must be read again even so. */

import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { poll } from '../../src/scan/poll.js'
import { openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { createAddress, puppetInit } from '../support/puppet.js'

test('behavior: a contract that was created before more blocks than are held is looked at', async () => {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [bob] = (await node.accounts()) as [Address]
	const made = createAddress(bob, 0n)
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(made, { kinds: ['transfer', 'control'] })],
		books: false,
	})
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	const { audit, ...rest } = bench.ports
	if (audit === undefined) throw new Error('no audit')
	/** The auditor does not come to its turn. */
	const scan = async () => {
		const follower = { ...audit.follower, begin: () => undefined }
		await poll(bench.config, { ...rest, audit: { ...audit, follower } }, new AbortController().signal)
	}
	const entries = async () => [...((await bench.store.network('local'))?.contracts.keys() ?? [])]
	await node.mine(3)
	await bench.settle()
	await node.mine(1)
	await bench.settle()
	await node.send({ from: bob, data: puppetInit, gas: 1_000_000n })
	await node.mine(1)
	for (let polls = 0; polls < 7; polls++) {
		await node.mine(100)
		await scan()
	}
	expect(await entries()).toEqual([])
	await node.mine(1)
	await bench.settle()
	expect(await entries()).toEqual([made])
})
