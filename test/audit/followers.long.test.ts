/**
 * What must stay true when scanning and auditing have a commit each, stated from outside by what is posted. Held
 * elsewhere: a gap is judged again when it was read (`gaps.sized.test.ts`), an unexplained block is read again until it
 * is answered (`books.sized.test.ts`), delegations with and without books (`delegation.sized.test.ts`), the lease
 * (`test/state/postgres`).
 */

import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import { alertOf, type Bench, openBench, watchOf } from '../scan/bench.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { hideTransactions } from '../support/hiding.js'

const thresholds = { belowWei: 9_999n * ether, aboveWei: null }

async function chain() {
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob, carol] = (await node.accounts()) as [Address, Address, Address]
	const { dialect, hide } = hideTransactions()
	const gateway = await startDialectGateway(node.url, dialect)
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	await node.mine(3)
	const pay = (from: Address, to: Address, valueWei: bigint) => node.send({ from, to, valueWei, gas: 21_000n })
	const open = async (
		around: (store: Store) => Store = (store) => store,
		folder = temporaryFolder(),
		others: readonly Address[] = [],
	) => {
		const openStore = (clock: () => number) => openFileStore(folder, { clock })
		const own = watchOf(alice, { kinds: ['transfer', 'unexplained', 'balance'], thresholds })
		const bench = await openBench({
			urls: [gateway.url],
			watches: [own, watchOf(carol), ...others.map((address) => watchOf(address))],
			around,
			openStore,
		})
		return { bench, folder }
	}
	return { node, gateway, alice, bob, carol, hide, pay, open }
}

const idsOf = async (bench: Bench) =>
	(await bench.posted()).map((delivery) => `${delivery.message.type} ${alertOf(delivery).id}`).sort()

describe('a kill at each commit repeats an id and makes no second alert', () => {
	test.each(['before', 'after'])('behavior: %s it', async (when) => {
		const { node, alice, bob, hide, pay, open } = await chain()
		const first = await open()
		await first.bench.settle()
		await node.mine(1)
		await first.bench.settle()
		await first.bench.close()
		await pay(bob, alice, 5n)
		await pay(alice, bob, 2n * ether)
		hide(await pay(bob, alice, 7n))
		await node.mine(1)
		await node.mine(2)

		// Each life dies at one commit more than the one before, until one has no commit left to die at.
		let lives = 0
		for (let isKilled = true; isKilled; ) {
			lives++
			let commits = 0
			const { bench } = await open(
				(store) => ({
					...store,
					async commit(change) {
						commits++
						if (commits === lives && when === 'before') throw new Error('killed')
						const state = await store.commit(change)
						if (commits === lives && when === 'after') throw new Error('killed')
						return state
					},
				}),
				first.folder,
			)
			isKilled = await bench.settle().then(
				() => false,
				() => true,
			)
			await bench.close()
			await node.mine(1)
		}
		expect(lives).toBeGreaterThan(1)
		const last = await open(undefined, first.folder)
		await last.bench.settle()
		await node.mine(1)
		await last.bench.settle()
		const ids = await idsOf(last.bench)
		await last.bench.close()
		expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
		expect(ids.map((id) => id.replace(/ .*:(\w+):0x/, ' $1 0x').replace(alice, 'alice'))).toEqual([
			'alert.balance balance alice',
			'alert.transfer transfer alice',
			'alert.transfer transfer alice',
			'alert.unexplained unexplained alice',
		])
	})
})

test('behavior: payments hidden in replacing blocks are found, even of watches that did not move', async () => {
	const { node, alice, bob, carol, hide, pay, open } = await chain()
	const { bench } = await open()
	onTestFinished(() => bench.close())
	await bench.settle()
	await node.mine(2)
	await bench.settle()
	const before = await node.rpc<string>('evm_snapshot')
	await pay(bob, alice, 5n)
	await node.mine(2)
	await bench.settle()
	await node.rpc('evm_revert', [before])
	await node.rpc('evm_increaseTime', [100])
	hide(await pay(bob, carol, 11n))
	const number = await node.mine(1)
	await node.mine(3)
	await bench.settle()
	const told = (await bench.posted()).map((delivery) => {
		const { watch, toBlock, differenceWei, valueWei } = alertOf(delivery)
		return [delivery.message.type, watch.address.toLowerCase(), toBlock ?? null, differenceWei ?? valueWei]
	})
	expect(told.toSorted()).toEqual([
		['alert.removed', alice, null, '5'],
		['alert.transfer', alice, null, '5'],
		['alert.unexplained', carol, Number(number), '11'],
	])
})

test('behavior: books of watches that did not move in replaced blocks are set back, none is opened late', async () => {
	const { node, alice, bob, carol, hide, pay, open } = await chain()
	const others = Array.from({ length: 4_000 }, (_, n): Address => `0x${(n + 4_096).toString(16).padStart(40, '0')}`)
	const { bench } = await open(undefined, undefined, others)
	onTestFinished(() => bench.close())
	const seen = async () => (await bench.store.network('local'))?.booksSeen
	for (let polls = 0; polls < 4; polls++) {
		await node.mine(1)
		await bench.settle()
	}
	await node.mine(20)
	await bench.settle()
	const opened = await seen()
	expect(opened).toMatchObject({ closed: 4_002, openCount: 0 })
	const before = await node.rpc<string>('evm_snapshot')
	await pay(bob, alice, 5n)
	await node.mine(2)
	await bench.settle()
	await node.rpc('evm_revert', [before])
	await node.rpc('evm_increaseTime', [100])
	hide(await pay(bob, carol, 11n))
	const number = Number(await node.mine(1))
	await node.mine(3)
	await bench.settle()
	expect(await seen()).toMatchObject({ closed: 4_002, openCount: 0 })
	expect((await seen())?.unprovedCount).toBe(opened?.unprovedCount)
	// The rotation reaches each book within 64 blocks.
	for (let polls = 0; polls < 7; polls++) {
		await node.mine(10)
		await bench.settle()
	}
	const unexplained = (await bench.posted()).filter(({ message }) => message.type === 'alert.unexplained').map(alertOf)
	expect(unexplained).toMatchObject([{ differenceWei: '11', fromBlock: number, toBlock: number }])
})

test('behavior: a catch-up that is stopped at a commit is read again from where the auditor stood', async () => {
	const { node, gateway, alice, bob, pay, open } = await chain()
	const first = await open()
	await first.bench.settle()
	await node.mine(1)
	await first.bench.settle()
	await first.bench.close()
	const from = await node.head()
	for (let blocks = 0; blocks < 12; blocks++) {
		await pay(bob, alice, 5n)
		await node.mine(100)
	}
	const traced = () => gateway.count('trace_filter') + gateway.count('trace_block')
	/** Dies after this many commits of the scanner. */
	const dying = (most: number) => (store: Store) => {
		let commits = 0
		return {
			...store,
			async commit(change: Parameters<Store['commit']>[0]) {
				const state = await store.commit(change)
				if (change.checkpoint !== undefined && ++commits === most) throw new Error('killed')
				return state
			},
		}
	}
	const killed = await open(dying(2), first.folder)
	await expect(killed.bench.settle()).rejects.toThrow('killed')
	const { checkpoint, audit } = (await killed.bench.store.network('local')) ?? {}
	await killed.bench.close()
	expect(audit?.taken).toBeGreaterThanOrEqual(from)
	expect(audit?.taken).toBeLessThan(checkpoint?.number ?? 0n)
	const before = traced()
	const last = await open(undefined, first.folder)
	onTestFinished(() => last.bench.close())
	await last.bench.settle()
	expect(traced()).toBeGreaterThan(before)
	const head = await node.head()
	const state = await last.bench.store.network('local')
	expect([state?.checkpoint.number, state?.audit?.taken]).toEqual([head, head])
	expect(state?.books.get(alice)).toMatchObject({ movedWei: 0n, balanceWei: await node.balanceWei(alice, head) })
	const told = (await last.bench.posted()).map(({ message }) => message.type)
	expect(told).toEqual(Array.from({ length: 12 }, () => 'alert.transfer'))
	expect(state?.booksSeen?.unprovedCount ?? 0).toBe(0)
})

test('behavior: a backfill does not touch the book of its watch', async () => {
	const { node, alice, bob, pay, open } = await chain()
	const other: Address = '0x00000000000000000000000000000000000abcde'
	const { bench } = await open()
	onTestFinished(() => bench.close())
	await pay(bob, other, 3n)
	const paid = await node.mine(1)
	await node.mine(5)
	await bench.settle()
	bench.setWatches([watchOf(alice), watchOf(other, { fromBlock: 1n })])
	await bench.settle()
	const joined = await node.head()
	await pay(bob, other, 4n)
	const head = await node.mine(1)
	await bench.settle()
	const state = await bench.store.network('local')
	expect(state?.backfills).toEqual([])
	expect(state?.books.get(other)).toMatchObject({ block: head, balanceWei: 7n, movedWei: 0n })
	expect(head).toBe(joined + 1n)
	const told = (await bench.posted()).map((delivery) => [delivery.message.type, alertOf(delivery).blockNumber])
	expect(told).toEqual([
		['alert.transfer', Number(paid)],
		['alert.transfer', Number(head)],
	])
})
