// Blocks that were scanned, and that no endpoint gives again when the books are to take them in.
import { describe, expect, onTestFinished, test } from 'vitest'
import { unprovedLogsInWords } from '../../src/core/ledger/unprovedLogs.js'
import type { Address } from '../../src/model/glossary.js'
import type { Commit } from '../../src/model/state.js'
import { type Bench, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'

/** The program is killed after the scanner's commit of a payment's block, and starts again so many blocks later. */
async function openAfterKill({ runsOnce = false, later = 140 } = {}) {
	const failing = failingBlocks()
	const node = await startTestAnvil()
	const gateway = await startDialectGateway(node.url, { twist: failing.twist })
	const [alice, bob] = (await node.accounts()) as [Address, Address]
	const folder = temporaryFolder()
	let isKilled = (_: Commit) => false
	const benchOf = () =>
		openBench({
			urls: [gateway.url],
			watches: [watchOf(alice)],
			retry: { tries: 1 },
			openStore: (clock) => openFileStore(folder, { clock }),
			around: (store) => ({
				...store,
				async commit(change) {
					if (isKilled(change)) throw new Error('killed')
					return await store.commit(change)
				},
			}),
			runsOnce,
		})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const pay = async () => {
		const txHash = await node.send({ from: bob, to: alice, valueWei: 7n, gas: 21_000n })
		return { txHash, number: BigInt((await node.receipt(txHash)).blockNumber) }
	}
	const before = await benchOf()
	await node.mine(3)
	await before.settle()
	await pay()
	await before.settle()
	const paid = await pay()
	isKilled = ({ audit }) => audit?.taken === paid.number
	await expect(before.settle()).rejects.toThrow('killed')
	isKilled = () => false
	await before.close()
	const bench = await benchOf()
	onTestFinished(() => bench.close())
	const { checkpoint, audit } = (await bench.store.network('local')) ?? {}
	expect([checkpoint?.number, audit?.taken]).toEqual([paid.number, paid.number - 1n])
	await node.mine(later)
	failing.numbers.add(paid.number)
	failing.hashes.add(paid.txHash)
	return { node, bench, failing, paid, pay, alice }
}

/** Polls every 20 s until no audit fails, or so often; resolves to how many failed. The second look may fail too. */
async function polls(bench: Bench, most: number): Promise<number> {
	for (let failed = 0; failed < most; failed++) {
		try {
			await bench.poll()
			return failed
		} catch {
			bench.pass(20_000)
		}
	}
	return most
}

const types = async (bench: Bench) => (await bench.posted()).map(({ message }) => message.type)
const pruned = { code: -32000, message: 'missing trie node' }

describe('a block that was scanned and that no endpoint gives again', () => {
	test('behavior: after a minute the audit goes on without it, and says so', async () => {
		const { node, bench, failing, paid, pay, alice } = await openAfterKill()
		failing.error = pruned
		expect(await polls(bench, 12)).toBe(4)
		const state = await bench.store.network('local')
		expect(state?.audit?.taken).toBe(state?.checkpoint.number)
		const logs = (await bench.store.summary()).networks.get('local')?.seen?.logs
		const only = { fromBlock: Number(paid.number), toBlock: Number(paid.number), blocks: 1 }
		expect(logs?.runs).toContainEqual({ ...only, why: 'audit' })
		expect([...unprovedLogsInWords(logs ?? { runs: [], blocks: 0 })]).toContainEqual(
			expect.stringMatching(new RegExp(`^not audited: block ${paid.number}: no endpoint gives it again`)),
		)
		// Balances show what the block moved, and nothing is read that explains it.
		await pay()
		for (let n = 0; n < 40; n++) {
			bench.pass(3_000)
			await node.mine()
			await bench.poll()
		}
		expect(await types(bench)).toEqual(Array(3).fill('alert.transfer'))
		const books = (await bench.store.network('local'))?.booksSeen
		const why = 'what happened in these blocks could not be read again'
		expect(books?.unproved).toMatchObject([
			{ fromBlock: only.fromBlock, toBlock: only.toBlock, addresses: [alice], why },
		])
		expect((await bench.store.network('local'))?.books.get(alice)).toMatchObject({ movedWei: 0n })
	})

	test('behavior: `once` goes on at once', async () => {
		const { bench, failing, paid } = await openAfterKill({ runsOnce: true })
		failing.error = pruned
		await bench.poll()
		const state = await bench.store.network('local')
		expect(state?.audit?.taken).toBe(state?.checkpoint.number)
		const logs = (await bench.store.summary()).networks.get('local')?.seen?.logs
		expect(logs?.runs).toContainEqual(
			expect.objectContaining({ fromBlock: Number(paid.number), blocks: 1, why: 'audit' }),
		)
	})

	test('behavior: near the head its traces may be yet to come: it is waited for', async () => {
		const { bench, failing, paid } = await openAfterKill({ later: 100 })
		failing.error = pruned
		expect(await polls(bench, 12)).toBe(12)
		expect((await bench.store.network('local'))?.audit?.taken).toBe(paid.number - 1n)
	})

	test('behavior: the endpoint may give it later: it is waited for', async () => {
		const { bench, failing, paid } = await openAfterKill()
		expect(await polls(bench, 12)).toBe(12)
		expect((await bench.store.network('local'))?.audit?.taken).toBe(paid.number - 1n)
		failing.numbers.clear()
		failing.hashes.clear()
		bench.pass(60_000)
		await bench.settle()
		const state = await bench.store.network('local')
		expect(state?.audit?.taken).toBe(state?.checkpoint.number)
		expect((await bench.store.summary()).networks.get('local')?.seen?.logs).toBeUndefined()
	})
})
