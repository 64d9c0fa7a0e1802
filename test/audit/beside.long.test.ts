/**
 * The auditor runs beside the polls: no balance delays an alert, and what the scanner does while an audit is in flight
 * (new blocks, a reorganisation, new watches, a gap that is read) leaves the books true. Balances are held back until
 * the test lets them go, so that an audit is in flight for as long as it says; a poll that waits for one never ends.
 */

import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, type Bench, openBench, watchOf } from '../scan/bench.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { hideTransactions } from '../support/hiding.js'
import { createStateGate } from '../support/stateGate.js'

async function chain(watched: (alice: Address) => Parameters<typeof openBench>[0]['watches'] = (a) => [watchOf(a)]) {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob, carol] = (await node.accounts()) as [Address, Address, Address]
	const { dialect, hide } = hideTransactions()
	const failing = failingBlocks()
	const gate = createStateGate()
	const gateway = await startDialectGateway(node.url, {
		...dialect,
		twist(method, params, result) {
			return (
				gate.twist(method, params, result) ??
				failing.twist(method, params, result) ??
				dialect.twist?.(method, params, result)
			)
		},
	})
	const bench = await openBench({
		urls: [gateway.url],
		watches: watched(alice),
		network: { settle: 6 },
		retry: { tries: 1 },
	})
	onTestFinished(async () => {
		gate.release()
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await node.mine(3)
	await bench.settle()
	await node.mine(1)
	await bench.settle()
	const ends: string[] = []
	bench.follower.onEnd(({ result }) => ends.push(result))
	const pay = (from: Address, to: Address, valueWei: bigint) => node.send({ from, to, valueWei, gas: 21_000n })
	/** A block with a payment to alice, scanned while the auditor waits for a balance. */
	const scanned = async (valueWei = 5n) => {
		await pay(bob, alice, valueWei)
		const number = Number(await node.mine(1))
		await bench.scan()
		return number
	}
	/** Lets the auditor go on, and brings it to the head. */
	const audited = async () => {
		gate.release()
		await bench.follower.idle()
		// After a failure the auditor rests.
		bench.pass(60_000)
		await node.mine(1)
		await bench.settle()
	}
	return { node, bench, gate, ends, failing, alice, bob, carol, hide, pay, scanned, audited }
}

const toldBlocks = async (bench: Bench) => (await bench.posted()).map((one) => alertOf(one).blockNumber)
const told = async (bench: Bench) =>
	(await bench.posted()).map((one) => `${one.message.type.replace('alert.', '')} ${alertOf(one).value}`)

async function bookOf(bench: Bench, address: Address) {
	const state = await bench.store.network('local')
	const { balanceWei, movedWei } = state?.books.get(address) ?? {}
	return { balanceWei, movedWei, taken: state?.audit?.taken, unproved: state?.booksSeen?.unproved ?? [] }
}

test('behavior: each block is announced in its own poll while no balance is given', async () => {
	const { node, bench, gate, alice, bob, hide, pay, scanned, audited } = await chain()
	gate.hold()
	for (let blocks = 1; blocks <= 6; blocks++) {
		const number = await scanned(BigInt(blocks))
		expect((await toldBlocks(bench)).at(-1)).toBe(number)
		expect(await toldBlocks(bench)).toHaveLength(blocks)
		// The poll ended before the audit of its block: later ones rest once the first was given up.
		if (blocks === 1) expect((await bookOf(bench, alice)).taken).toBe(BigInt(number) - 1n)
	}
	await expect.poll(gate.waiting).toBeGreaterThan(0)
	hide(await pay(bob, alice, 77n))
	const hidden = Number(await node.mine(1))
	await bench.scan()
	expect(await toldBlocks(bench)).toHaveLength(6)
	await audited()
	const head = await node.head()
	expect(await bookOf(bench, alice)).toEqual({
		...{ balanceWei: await node.balanceWei(alice, head), movedWei: 0n },
		...{ taken: head, unproved: [] },
	})
	const last = (await bench.posted()).slice(6)
	expect(last.map((one) => [one.message.type, alertOf(one).toBlock, alertOf(one).differenceWei])).toEqual([
		['alert.unexplained', hidden, '77'],
	])
})

test('behavior: a reorganisation ends the audit in flight, and the books follow the new blocks', async () => {
	const { node, bench, gate, ends, alice, bob, carol, hide, pay, scanned, audited } = await chain((own) => [
		watchOf(own),
		watchOf('0x00000000000000000000000000000000000abcde'),
	])
	const before = await node.rpc<string>('evm_snapshot')
	gate.hold()
	await scanned(5n)
	await scanned(6n)
	await expect.poll(gate.waiting).toBeGreaterThan(0)
	await node.rpc('evm_revert', [before])
	await node.rpc('evm_increaseTime', [100])
	await pay(carol, alice, 7n)
	hide(await pay(bob, alice, 11n))
	const number = Number(await node.mine(1))
	await node.mine(2)
	expect(ends).toEqual([])
	await bench.scan()
	expect(ends).toEqual(['halted'])
	await bench.scan()
	expect((await told(bench)).toSorted()).toEqual(
		['transfer 0.000000000000000005', 'transfer 0.000000000000000006', 'removed 0.000000000000000005']
			.concat(['removed 0.000000000000000006', 'transfer 0.000000000000000007'])
			.toSorted(),
	)
	await audited()
	const head = await node.head()
	expect(await bookOf(bench, alice)).toMatchObject({
		...{ balanceWei: await node.balanceWei(alice, head), movedWei: 0n, taken: head },
	})
	const unexplained = (await bench.posted()).filter(({ message }) => message.type === 'alert.unexplained').map(alertOf)
	expect(unexplained).toMatchObject([{ toBlock: number, differenceWei: '11' }])
})

test('behavior: watches that come while an audit is in flight have books from their first block on', async () => {
	const { node, bench, gate, ends, alice, bob, carol, pay, scanned, audited } = await chain()
	const other: Address = '0x00000000000000000000000000000000000abcde'
	gate.hold()
	await scanned(5n)
	await pay(bob, other, 3n)
	await node.mine(1)
	await bench.scan()
	bench.setWatches([watchOf(alice), watchOf(other), watchOf(carol)])
	expect(ends).toEqual([])
	await scanned(6n)
	expect(ends).toEqual(['halted'])
	await pay(bob, other, 4n)
	await node.mine(1)
	await bench.scan()
	await audited()
	const head = await node.head()
	for (const address of [alice, other, carol])
		expect(await bookOf(bench, address)).toEqual({
			...{ balanceWei: await node.balanceWei(address, head), movedWei: 0n },
			...{ taken: head, unproved: [] },
		})
	expect(await told(bench)).toEqual([5, 6, 4].map((wei) => `transfer 0.00000000000000000${wei}`))
})

test('behavior: a gap that is read while an audit is in flight is counted once', async () => {
	const { node, bench, gate, failing, alice, bob, pay, scanned, audited } = await chain()
	await scanned(1n)
	await bench.follower.idle()
	gate.hold()
	const txHash = await pay(bob, alice, 9n)
	const bad = await node.mine(1)
	failing.numbers.add(bad)
	failing.hashes.add(txHash)
	await pay(bob, alice, 2n)
	await node.mine(1)
	await node.mine(2)
	for (let polls = 0; polls < 12 && !(await toldTypes(bench)).includes('system.gap'); polls++) {
		await bench.scan().catch(() => undefined)
		bench.pass(20_000)
	}
	await bench.scan()
	expect(await toldTypes(bench)).toEqual(['alert.transfer', 'system.gap', 'alert.transfer'])
	await scanned(5n)
	failing.numbers.clear()
	failing.hashes.clear()
	bench.pass(3_600_000)
	await scanned(6n)
	await scanned(7n)
	expect((await toldTypes(bench)).toSorted()).toEqual(
		['system.gap', 'system.recovered', ...Array.from({ length: 6 }, () => 'alert.transfer')].toSorted(),
	)
	await audited()
	bench.pass(3_600_000)
	await scanned(8n)
	await audited()
	const head = await node.head()
	expect((await bench.store.network('local'))?.gaps.size).toBe(0)
	expect(await bookOf(bench, alice)).toMatchObject({
		...{ balanceWei: await node.balanceWei(alice, head), movedWei: 0n, taken: head },
	})
	expect((await toldTypes(bench)).filter((type) => type === 'alert.unexplained')).toEqual([])
})

async function toldTypes(bench: Bench): Promise<readonly string[]> {
	return (await bench.posted()).map(({ message }) => message.type)
}

test('behavior: a threshold that is crossed while an audit is in flight is announced once', async () => {
	const { node, bench, gate, alice, bob, pay, scanned, audited } = await chain((own) => [
		watchOf(own, { kinds: ['transfer', 'balance'], thresholds: { belowWei: 9_999n * ether, aboveWei: null } }),
	])
	gate.hold()
	await scanned(5n)
	await pay(alice, bob, 2n * ether)
	await node.mine(1)
	await bench.scan()
	for (let halts = 0; halts < 3; halts++) {
		await bench.follower.halt()
		await scanned(1n)
	}
	await audited()
	await audited()
	expect((await toldTypes(bench)).filter((type) => type === 'alert.balance')).toHaveLength(1)
})
