/**
 * A private network whose access lists come late: alerts do not wait for them, and what the lists show is found once
 * they come, though blocks were replaced and the program was stopped in between.
 */

import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { hideTransactions } from '../support/hiding.js'
import { createStateGate } from '../support/stateGate.js'

const lag = 20

test('behavior: findings of late audits are true, through a reorganisation and a restart', async () => {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const gate = createStateGate()
	const { dialect, hide } = hideTransactions()
	const gateway = await startDialectGateway(node.url, {
		...dialect,
		accessLists: true,
		twist: (method, params, result) => gate.twist(method, params, result) ?? dialect.twist?.(method, params, result),
	})
	const folder = temporaryFolder()
	let passedMs = 0
	const open = () =>
		openBench({
			urls: [gateway.url],
			watches: [watchOf(alice)],
			network: { settle: 6 },
			isPrivate: true,
			retry: { tries: 1 },
			clock: () => Date.now() + passedMs,
			openStore: (clock) => openFileStore(folder, { clock }),
		})
	let bench = await open()
	onTestFinished(async () => {
		gate.release()
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	const pay = (valueWei: bigint) => node.send({ from: bob, to: alice, valueWei, gas: 21_000n })
	const told = async () =>
		(await bench.posted()).map((delivery) => {
			const { valueWei, differenceWei, toBlock } = alertOf(delivery)
			const type = delivery.message.type.replace('alert.', '')
			return type === 'unexplained' ? `${type} ${differenceWei} in ${toBlock}` : `${type} ${valueWei}`
		})
	/** A block with a payment of so much, and one of so much that no trace shows; scanned before any list has come. */
	const block = async (valueWei: bigint, hiddenWei?: bigint) => {
		await pay(valueWei)
		if (hiddenWei !== undefined) hide(await pay(hiddenWei))
		const number = await node.mine(1)
		await bench.scan()
		expect((await told()).at(-1)).toBe(`transfer ${valueWei}`)
		return number
	}
	await node.mine(3)
	await bench.settle()
	await pay(1n)
	await node.mine(1)
	await bench.settle()

	gate.hold()
	const early = await block(100n, 7_001n)
	for (let blocks = 1; blocks < lag; blocks++) await block(100n + BigInt(blocks))
	const before = await node.rpc<string>('evm_snapshot')
	await block(500n, 7_002n)
	await bench.close()
	bench = await open()
	await block(501n)
	await node.rpc('evm_revert', [before])
	await node.rpc('evm_increaseTime', [100])
	await pay(502n)
	hide(await pay(7_003n))
	const replaced = await node.mine(1)
	await pay(503n)
	await node.mine(1)
	await pay(504n)
	await node.mine(1)
	await bench.scan()
	const due = ['transfer 1', 'removed 500', 'removed 501']
	for (let blocks = 0; blocks < lag; blocks++) due.push(`transfer ${100 + blocks}`)
	for (const amount of [500, 501, 502, 503, 504]) due.push(`transfer ${amount}`)
	expect((await told()).toSorted()).toEqual(due.toSorted())

	gate.release()
	await bench.follower.idle()
	for (let polls = 0; polls < 4; polls++) {
		// After a failure the auditor rests.
		passedMs += 60_000
		await node.mine(1)
		await bench.settle()
	}
	due.push(`unexplained 7001 in ${early}`, `unexplained 7003 in ${replaced}`)
	expect((await told()).toSorted()).toEqual(due.toSorted())
	const head = await node.head()
	const state = await bench.store.network('local')
	expect(state?.audit?.taken).toBe(head)
	expect(state?.books.get(alice)?.balanceWei).toBe(await node.balanceWei(alice, head))
	expect(state?.booksSeen?.unprovedCount ?? 0).toBe(0)
})
