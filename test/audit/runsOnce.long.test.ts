// `tracewatch once` starts anew for each poll: what an earlier run waited for is forgotten.
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { status } from '../support/faults.js'
import { openFileStore } from '../support/fileStore.js'
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

test('behavior: a single run checks every unexplained change again, not the same first three each time', async () => {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const { dialect, hide, show } = hideTransactions()
	const gateway = await startDialectGateway(node.url, dialect)
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const folder = temporaryFolder()
	const run = async () => {
		const bench = await openBench({
			urls: [gateway.url],
			watches: [watchOf(alice, { kinds: ['unexplained'] })],
			network: { settle: 2 },
			openStore: (clock) => openFileStore(folder, { clock }),
			runsOnce: true,
		})
		await bench.settle()
		const told = await bench.posted()
		await bench.close()
		return told.map((delivery) => [delivery.message.type, alertOf(delivery).differenceWei])
	}
	await node.mine(1)
	await run()
	const hidden: Hash[] = []
	for (const valueWei of [1n, 2n, 3n, 4n, 5n]) {
		hidden.push(await node.send({ from: bob, to: alice, valueWei, gas: 21_000n }))
		hide(hidden.at(-1) as Hash)
		await node.mine(1)
		await run()
	}
	await node.mine(4)
	const unexplained = ['1', '2', '3', '4', '5'].map((wei) => ['alert.unexplained', wei])
	expect(await run()).toEqual(unexplained)
	// The node finds the last two again. The first three still cannot be explained.
	for (const txHash of hidden.slice(3)) show(txHash)
	await node.mine(1)
	let told = await run()
	// On a slow machine the time of one run may end before the last check.
	for (let runs = 0; told.length < 7 && runs < 5; runs++) told = await run()
	expect(told.toSorted()).toEqual([...unexplained, ['alert.removed', '4'], ['alert.removed', '5']].toSorted())
})
