// `tracewatch once` starts anew for each poll: what an earlier run waited for is forgotten.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { openFileStore } from '../../src/state/file/store.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { status } from '../support/faults.js'
import { temporaryFolder } from '../support/folder.js'
import { hideTransactions } from '../support/hiding.js'

test('behavior: `once` reports what no frame explains even if the second endpoint never answers', async () => {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const { dialect, hide } = hideTransactions()
	const gateway = await startDialectGateway(node.url, dialect)
	const second = await startFaultProxy(node.url)
	onTestFinished(async () => {
		await gateway.close()
		await second.close()
		await node.stop()
	})
	const folder = temporaryFolder()
	const run = async () => {
		const bench = await openBench({
			urls: [gateway.url, second.url],
			watches: [watchOf(alice, { kinds: ['transfer', 'unexplained'] })],
			openStore: (clock) => openFileStore(folder, { clock }),
			retry: { tries: 1 },
			runsOnce: true,
		})
		await bench.settle().catch(() => undefined)
		const told = await bench.posted()
		await bench.close()
		return told.map((delivery) => [delivery.message.type, alertOf(delivery).differenceWei])
	}
	await node.mine(3)
	await run()
	await node.mine(1)
	await run()
	second.next = () => status(503)
	hide(await node.send({ from: bob, to: alice, valueWei: 7n, gas: 21_000n }))
	await node.mine(1)
	const told = []
	for (let runs = 0; runs < 3; runs++) {
		told.push(await run())
		await node.mine(1)
	}
	expect(told.at(-1)).toEqual([['alert.unexplained', '7']])
})
