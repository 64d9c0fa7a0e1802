// Code that a watch ran, in a transaction that the node does not give when it is to be judged.

import { keccak256 } from 'ox/Hash'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StateError } from '../../../src/errors.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import type { Commit } from '../../../src/model/state.js'
import { startTestAnvil } from '../../support/anvil.js'
import { assemble } from '../../support/assembler.js'
import { type Dialect, Refused, startDialectGateway } from '../../support/dialectGateway.js'
import { failingBlocks } from '../../support/failingBlock.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../bench.js'
import { lower } from './codeBench.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
/** Runs the code that the first 20 bytes of its input name. */
const walletCode = assemble(`
	20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL @ok JUMPI
	0 0 REVERT
	ok: STOP`)
const helperCode = assemble('7 0 CALLDATALOAD SSTORE STOP')
const [wallet, helper, other] = [at('a1'), at('b1'), at('b2')]
const runs = (code: Address, value = 3): Hex => `${code}${value.toString(16).padStart(64, '0')}`
const hashOf = keccak256(helperCode)

/** A watched wallet behind a gateway; each bench goes on with the state of the one before. */
async function open(dialect: Dialect, options: Partial<BenchOptions> = {}) {
	const node = await startTestAnvil()
	const gateway = await startDialectGateway(node.url, dialect)
	const [sender] = (await node.accounts()) as [Address]
	await node.rpc('anvil_setCode', [wallet, walletCode])
	for (const code of [helper, other]) await node.rpc('anvil_setCode', [code, helperCode])
	const folder = temporaryFolder()
	const benchOf = () =>
		openBench({
			urls: [gateway.url],
			watches: [watchOf(wallet, { kinds: ['code'] })],
			books: false,
			retry: { tries: 1 },
			openStore: (clock) => openFileStore(folder, { clock }),
			...options,
		})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	await node.mine(2)
	const first = await benchOf()
	await first.settle()
	await first.close()
	const send = (data: Hex) => node.send({ from: sender, to: wallet, data, gas: 8_000_000n })
	return { node, send, benchOf }
}

const told = async (bench: Bench) =>
	(await bench.posted()).map(alertOf).map(({ codeAddress, codeHash }) => [lower(codeAddress), codeHash])
const waiting = async (bench: Bench) => (await bench.store.network('local'))?.audit?.ran ?? []

/** Receipts that the node does not find by the hash of their transaction. */
function unindexed() {
	const hidden = { isOn: false, dialect: {} as Dialect }
	hidden.dialect = {
		twist: (method) => (hidden.isOn && method === 'eth_getTransactionReceipt' ? null : undefined),
	}
	return hidden
}

/** A method that fails at these transactions. */
function failing(method: string) {
	const hashes = new Set<unknown>()
	const dialect: Dialect = {
		twist(asked, [hash]) {
			if (asked === method && hashes.has(hash)) throw refused()
		},
	}
	return { hashes, dialect }
}

const refused = () => new Refused({ error: { code: -32000, message: 'cannot be read' } })

describe('a transaction that the node says is in no block', () => {
	test('behavior: the node is behind: the code is reported by the next poll', async () => {
		const receipts = unindexed()
		const { send, benchOf } = await open(receipts.dialect)
		const bench = await benchOf()
		onTestFinished(() => bench.close())
		await send(runs(helper))
		receipts.isOn = true
		await bench.poll()
		expect(await told(bench)).toEqual([])
		receipts.isOn = false
		await bench.poll()
		expect(await told(bench)).toEqual([[helper, hashOf]])
	})

	test('behavior: the node has no index of transactions: it is reported after five polls', async () => {
		const receipts = unindexed()
		const { send, benchOf } = await open(receipts.dialect)
		const bench = await benchOf()
		onTestFinished(() => bench.close())
		receipts.isOn = true
		await send(runs(helper))
		for (let polls = 0; polls < 5; polls++) await bench.poll()
		expect(await told(bench)).toEqual([[helper, hashOf]])
		expect(await waiting(bench)).toEqual([])
	})

	test('behavior: far from the head: it is reported at once', async () => {
		const receipts = unindexed()
		const { node, send, benchOf } = await open(receipts.dialect)
		const bench = await benchOf()
		onTestFinished(() => bench.close())
		receipts.isOn = true
		for (let times = 0; times < 3; times++) await send(runs(helper, times))
		await node.mine(150)
		await bench.settle()
		expect(await told(bench)).toHaveLength(3)
	})

	test('behavior: a block that was replaced: nothing is reported, and nothing waits', async () => {
		const receipts = failing('eth_getTransactionReceipt')
		const { node, send, benchOf } = await open(receipts.dialect)
		const bench = await benchOf()
		onTestFinished(() => bench.close())
		const before = await node.rpc('evm_snapshot')
		receipts.hashes.add(await send(runs(helper)))
		await bench.poll()
		expect(await waiting(bench)).toHaveLength(1)
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await node.mine(3)
		for (let polls = 0; polls < 2; polls++) await bench.poll()
		expect([await told(bench), await waiting(bench)]).toEqual([[], []])
	})
})

describe('`once`, a run for each poll', () => {
	test('behavior: nothing waits for a transaction that cannot be read, which is reported after five runs', async () => {
		const receipts = failing('eth_getTransactionReceipt')
		const { send, benchOf } = await open(receipts.dialect, { runsOnce: true })
		receipts.hashes.add(await send(runs(helper)))
		await send(runs(other))
		const reported: unknown[] = []
		for (let times = 0; times < 5; times++) {
			const bench = await benchOf()
			await bench.settle()
			reported.push((await told(bench)).map(([code]) => code))
			await bench.close()
		}
		expect(reported).toEqual([...Array(4).fill([other]), [other, helper]])
	})

	test('error: a transaction whose block seems replaced ends each audit, and another is given up', async () => {
		const blocks = new Map<unknown, unknown>()
		const receipts = failing('eth_getTransactionReceipt')
		const twist: Dialect['twist'] = (method, params, ...rest) => {
			if (method === 'eth_getTransactionReceipt' && blocks.has(params[0])) return blocks.get(params[0])
			return receipts.dialect.twist?.(method, params, ...rest)
		}
		const { node, send, benchOf } = await open({ twist }, { runsOnce: true })
		const moved = await send(runs(other))
		const unread = await send(runs(helper))
		const failures: unknown[] = []
		for (let times = 0; times < 5; times++) {
			const bench = await benchOf()
			await bench.scan()
			// From now on, since the scanner asks for receipts, too.
			blocks.set(moved, { ...(await node.receipt(moved)), blockHash: `0x${'11'.repeat(32)}` })
			receipts.hashes.add(unread)
			await bench.settle().catch((error: unknown) => failures.push(error))
			if (times === 4) expect(await told(bench)).toContainEqual([helper, hashOf])
			await bench.close()
		}
		expect(failures.length).toBeGreaterThan(0)
	})
})

describe('a transaction that is given up', () => {
	test('error: the disk is full: it is said to be not covered once it can be written', async () => {
		const unread = failingBlocks()
		let isFull = false
		const isGivenUp = ({ seen }: Commit) => seen?.logs?.runs.some(({ why }) => why === 'code') === true
		const around = (store: Store): Store => ({
			...store,
			async commit(change) {
				if (isFull && isGivenUp(change)) throw new StateError('disk', 'no space is left')
				return await store.commit(change)
			},
		})
		const { node, send, benchOf } = await open({ twist: unread.twist }, { around })
		const bench = await benchOf()
		onTestFinished(() => bench.close())
		const txHash = await send(runs(helper))
		const { blockNumber } = await node.receipt(txHash)
		await bench.scan()
		unread.hashes.add(txHash)
		unread.numbers.add(BigInt(blockNumber))
		await bench.follower.idle()
		isFull = true
		const later = () => {
			bench.pass(20_000)
			return bench.poll()
		}
		for (let polls = 0; polls < 3; polls++) await later()
		await expect(later()).rejects.toThrow('no space is left')
		isFull = false
		await node.mine()
		for (let polls = 0; polls < 5; polls++) await later()
		expect([await told(bench), await waiting(bench)]).toEqual([[], []])
		const logs = (await bench.store.summary()).networks.get('local')?.seen?.logs
		expect(logs?.runs).toMatchObject([{ why: 'code', blocks: 1 }])
	})
})
