/**
 * Two instances on one database, and the one that polls is replaced while an audit of it is in flight: nothing is lost,
 * nothing is announced twice, and what the replaced one had not committed is not committed late.
 */

import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createNetworkPoller } from '../../src/daemon/polling/networkPoller.js'
import type { Address } from '../../src/model/glossary.js'
import type { Commit } from '../../src/model/state.js'
import { openPostgresStore } from '../../src/state/postgres/postgresStore.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startServer } from '../state/postgres/server.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideTransactions } from '../support/hiding.js'
import { createStateGate } from '../support/stateGate.js'

const server = await startServer()
afterAll(() => server?.stop())
const { signal } = new AbortController()
let count = 0

/** `first` and `second` poll the same network; the state is held back from the first alone. */
async function two() {
	const database = `takeover${count++}`
	const url = (await server?.fresh(database)) ?? ''
	const node = await startTestAnvil(['--order', 'fifo'])
	await node.automine(false)
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const gate = createStateGate()
	const { dialect, hide } = hideTransactions()
	onTestFinished(() => node.stop())

	async function instance(owner: string, isHeld: boolean) {
		const gateway = await startDialectGateway(node.url, {
			...dialect,
			twist: (method, params, result) =>
				(isHeld ? gate.twist(method, params, result) : undefined) ?? dialect.twist?.(method, params, result),
		})
		const commits: Commit[] = []
		const bench = await openBench({
			urls: [gateway.url],
			watches: [
				watchOf(alice, {
					kinds: ['transfer', 'unexplained', 'balance'],
					thresholds: { belowWei: 9_999n * ether, aboveWei: null },
				}),
			],
			network: { settle: 6 },
			retry: { tries: 1 },
			// No lease runs out by itself, so that the test decides who has it.
			openStore: (clock) => openPostgresStore(url, { clock, owner, leaseMs: 3_600_000 }),
			around: (store) => ({
				...store,
				async commit(change) {
					const state = await store.commit(change)
					commits.push(change)
					return state
				},
			}),
		})
		const poller = createNetworkPoller({ config: bench.config, ports: bench.ports })
		let isClosed = false
		const close = async () => {
			if (isClosed) return
			isClosed = true
			await bench.close()
			await gateway.close()
		}
		onTestFinished(async () => {
			gate.release()
			await close()
		})
		return { bench, poller, commits, close }
	}

	const first = await instance('first', true)
	const runOut = async () => {
		await server?.sql(`update tracewatch.lease set expires = '-infinity'`, [], database)
	}
	const pay = (from: Address, to: Address, valueWei: bigint) => node.send({ from, to, valueWei, gas: 21_000n })
	await node.mine(3)
	expect(await first.poller.tick(signal)).toBe('done')
	await first.poller.idle()
	await node.mine(1)
	await first.poller.tick(signal)
	await first.poller.idle()
	const second = await instance('second', false)
	expect(await second.poller.tick(signal)).toBe('standby')

	/** A payment in, one that crosses the threshold and one that no trace shows, and the first's audit of them. */
	async function inFlight() {
		gate.hold()
		await pay(bob, alice, 5n)
		await pay(alice, bob, 2n * ether)
		hide(await pay(bob, alice, 7n))
		const number = await node.mine(1)
		expect(await first.poller.tick(signal)).toBe('done')
		await expect.poll(gate.waiting, { timeout: 20_000 }).toBeGreaterThan(0)
		return number
	}
	/** A new block, and all of the second's work on it. */
	async function byOther(other = second) {
		await node.mine(1)
		expect(await other.poller.tick(signal)).toBe('done')
		await other.poller.idle()
	}
	async function told() {
		const { bench } = first
		const all = (await bench.posted()).map((delivery) => {
			const { valueWei, differenceWei } = alertOf(delivery)
			return [delivery.message.type, differenceWei ?? (delivery.message.type === 'alert.balance' ? '' : valueWei)]
		})
		return all.map((one) => one.join(' ').trim()).sort()
	}
	async function book() {
		const state = await first.bench.store.network('local')
		await state?.books.load?.([alice])
		const { block, balanceWei, movedWei } = state?.books.get(alice) ?? {}
		return { block, balanceWei, movedWei, taken: state?.audit?.taken }
	}
	return { node, gate, alice, bob, pay, first, second, runOut, inFlight, byOther, told, book }
}

const due = ['alert.balance', 'alert.transfer 2000000000000000000', 'alert.transfer 5', 'alert.unexplained 7']

describe.skipIf(server === null)('an instance that is replaced while its audit is in flight', () => {
	test('behavior: the other audits the same blocks, and the late commit is refused', async () => {
		const { node, gate, alice, first, second, runOut, inFlight, byOther, told, book } = await two()
		await inFlight()
		await runOut()
		await byOther()
		expect(await told()).toEqual(due)
		const before = await book()
		const commits = first.commits.length
		gate.release()
		await first.bench.follower.idle()
		expect(first.commits.length).toBe(commits)
		expect(await book()).toEqual(before)
		expect(await first.poller.tick(signal)).toBe('standby')
		await byOther(second)
		const head = await node.head()
		expect(await told()).toEqual(due)
		expect(await book()).toMatchObject({
			...{ balanceWei: await node.balanceWei(alice, head), movedWei: 0n, taken: head },
		})
	})

	test('behavior: with the lease again before its audit ended, it goes on from where the other stood', async () => {
		const { node, gate, alice, bob, pay, first, second, runOut, inFlight, byOther, told, book } = await two()
		await inFlight()
		await runOut()
		await byOther()
		await pay(bob, alice, 11n)
		await byOther()
		const { taken } = await book()
		// A clean end gives the lease back at once.
		await second.close()
		const commits = first.commits.length
		const ticked = first.poller.tick(signal)
		gate.release()
		expect(await ticked).toBe('done')
		await first.poller.idle()
		const positions = first.commits.slice(commits).flatMap(({ audit }) => audit?.taken ?? [])
		expect(positions.filter((position) => position < (taken ?? 0n))).toEqual([])
		await byOther(first)
		const head = await node.head()
		expect(await told()).toEqual([...due, 'alert.transfer 11'].sort())
		expect(await book()).toMatchObject({
			...{ balanceWei: await node.balanceWei(alice, head), movedWei: 0n, taken: head },
		})
		expect((await first.bench.store.network('local'))?.booksSeen?.unprovedCount ?? 0).toBe(0)
	})
})
