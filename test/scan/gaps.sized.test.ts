// A block that no source of any endpoint gives: the rest of the chain goes on, and what the block held is told late.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { SourceSetting } from '../../src/chain/capabilities/probe.js'
import { unprovedLogsInWords } from '../../src/core/ledger/unprovedLogs.js'
import type { Message } from '../../src/model/alert.js'
import type { Part } from '../../src/model/chain.js'
import type { Address } from '../../src/model/glossary.js'
import type { Log, Store } from '../../src/model/ports.js'
import type { Commit } from '../../src/model/state.js'
import { poll } from '../../src/scan/poll.js'
import { ether, hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Dialect, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { type FailingBlocks, failingBlocks } from '../support/failingBlock.js'
import { type FaultProxy, startFaultProxy } from '../support/faultProxy.js'
import { status } from '../support/faults.js'
import { sendJson } from '../support/faultyNode.js'
import { divided, inFull, testInFull, testOnce } from '../support/longRun.js'
import { START_MS } from '../support/standingClock.js'
import { type Bench, type BenchOptions, openBench, watchOf } from './bench.js'

/** One chain for all: each test watches it from where it stands. */
let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

async function open(options: Partial<BenchOptions> & { readonly endpoints?: number } = {}) {
	const failing = failingBlocks()
	const { endpoints = 1, ...rest } = options
	const gateways = await Promise.all(
		Array.from({ length: endpoints }, () => startDialectGateway(node.url, { twist: failing.twist })),
	)
	const [from, to, other, another] = (await node.accounts()) as [Address, Address, Address, Address]
	const said: string[] = []
	const note = (_facts: object, message: string) => void said.push(message)
	const log: Log = { debug() {}, info: note, warn: note, error: note, child: () => log }
	const bench = await openBench({
		urls: gateways.map(({ url }) => url),
		watches: [watchOf(to)],
		network: { settle: 6 },
		retry: { tries: 1 },
		log,
		...rest,
	})
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
	})
	/** Resolves to the payment's block. */
	const pay = async () => {
		const txHash = await node.send({ from, to, valueWei: ether })
		const { blockNumber } = await node.receipt(txHash)
		return { number: BigInt(blockNumber), txHash }
	}
	/** A block with a transaction that is no one's. */
	const stir = async () => node.receipt(await node.send({ from: other, to: another, valueWei: 1n }))
	const fail = ({ number, txHash }: Awaited<ReturnType<typeof pay>>) => {
		failing.numbers.add(number)
		failing.hashes.add(txHash)
	}
	await stir()
	await node.mine(3)
	await bench.settle()
	return { stir, gateways, failing, bench, pay, fail, said, from, to }
}

/** An endpoint of the same node that does as it is told. */
async function secondToNode(): Promise<FaultProxy> {
	const proxy = await startFaultProxy(node.url)
	onTestFinished(() => proxy.close())
	return proxy
}

/** The second of three payments stands in a block that cannot be read, and this was reported. */
async function openWithGap() {
	const scene = await open()
	const { bench, pay, fail } = scene
	await pay()
	await bench.settle()
	const bad = await pay()
	fail(bad)
	await pay()
	await node.mine(2)
	await polls(bench)
	return { ...scene, bad }
}

function heal({ numbers, hashes }: FailingBlocks): void {
	numbers.clear()
	hashes.clear()
}

/** Polls every 20 s, or at this interval, until nothing fails, or so often; resolves to how many failed. */
async function polls(bench: Bench, most = 12, everyMs = 20_000): Promise<number> {
	for (let failed = 0; failed < most; failed++) {
		try {
			await bench.settle()
			return failed
		} catch {
			bench.pass(everyMs)
		}
	}
	return most
}

async function told(bench: Bench): Promise<readonly Message[]> {
	return (await bench.posted()).map(({ message }) => message)
}

const range = (number: bigint) => ({ fromBlock: Number(number), toBlock: Number(number) })

const allSources: readonly SourceSetting[] = ['auto', 'trace_filter', 'trace_block', 'debug_traceBlockByNumber']
const types = async (bench: Bench) => (await told(bench)).map(({ type }) => type)

describe('a block that fails by every way', () => {
	test.each(divided(allSources, (name) => name === 'auto'))(
		'default: source %s: the rest continues, and it is reported late when it could be read',
		async (source) => {
			const { failing, bench, pay, fail, said } = await open({ source, books: false })
			const bad = await pay()
			fail(bad)
			const next = await pay()
			await node.mine(2)
			// In the third; in the second where polls take their time; never in the first.
			expect([1, 2]).toContain(await polls(bench))
			expect(await types(bench)).toEqual(['system.gap', 'alert.transfer'])
			const [gap, alert] = await told(bench)
			expect(gap?.data).toMatchObject({
				fromBlock: Number(bad.number),
				toBlock: Number(bad.number),
				reason: expect.stringMatching(/internal error/),
			})
			expect(alert?.data).toMatchObject({ blockNumber: Number(next.number), txHash: next.txHash })
			const summary = (await bench.store.summary()).networks.get('local')
			expect(summary?.gaps).toMatchObject([{ block: { number: bad.number }, addresses: null }])

			// It is asked for again, without success, and told no more.
			bench.pass(60_000)
			await polls(bench)
			expect(await types(bench)).toHaveLength(2)
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			const [late, recovered] = (await told(bench)).slice(2)
			expect(late).toMatchObject({
				type: 'alert.transfer',
				data: { txHash: bad.txHash, late: true, lateReason: 'its block could not be read before' },
			})
			expect(recovered).toMatchObject({ type: 'system.recovered', data: { fromBlock: Number(bad.number) } })
			expect((await bench.store.network('local'))?.gaps.size).toBe(0)
			await node.mine(20)
			await bench.settle()
			expect(await types(bench)).toHaveLength(4)
			expect(said.filter((line) => line.startsWith('no source of any endpoint gives this block'))).toHaveLength(1)
		},
	)

	testInFull('behavior: also where no one reports its header', async () => {
		const { failing, bench, pay, fail } = await open({ books: false })
		failing.headersToo = true
		const bad = await pay()
		fail(bad)
		await pay()
		await node.mine(2)
		await polls(bench)
		expect(await types(bench)).toEqual(['system.gap', 'alert.transfer'])
		const gaps = (await bench.store.network('local'))?.gaps
		const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', [hex(bad.number), false])
		expect(gaps?.get(bad.number)?.block.hash).toBe(hash)
		await node.mine(20)
		// An endpoint that fails at the gap alone may rest for a second.
		await polls(bench)
		expect(await types(bench)).toHaveLength(2)
		heal(failing)
		bench.pass(3_600_000)
		await bench.settle()
		expect((await types(bench)).slice(2)).toEqual(['alert.transfer', 'system.recovered'])
	})

	testInFull('behavior: a filter that was not shown to tell everything does not stand in for it', async () => {
		const young = await startTestAnvil()
		const failing = failingBlocks()
		const gateway = await startDialectGateway(young.url, {
			twist: (method, params, result) => (method === 'trace_filter' ? [] : failing.twist(method, params, result)),
		})
		const [from, to] = (await young.accounts()) as [Address, Address]
		const bench = await openBench({
			urls: [gateway.url],
			watches: [watchOf(to)],
			network: { settle: 6 },
			retry: { tries: 1 },
			books: false,
		})
		onTestFinished(async () => {
			await bench.close()
			await gateway.close()
			await young.stop()
		})
		const pay = async (isBad: boolean) => {
			const txHash = await young.send({ from, to, valueWei: ether })
			const { blockNumber } = await young.receipt(txHash)
			if (!isBad) return
			failing.numbers.add(BigInt(blockNumber))
			failing.hashes.add(txHash)
		}
		// The only block that the filter could be tried on.
		await pay(true)
		await young.mine(3)
		await bench.settle()
		await pay(false)
		await bench.settle()
		await pay(true)
		await pay(false)
		await young.mine(2)
		await polls(bench)
		expect(await types(bench)).toEqual(['alert.transfer', 'system.gap', 'alert.transfer'])
	})

	testInFull('behavior: an endpoint that gives it is enough', async () => {
		const { gateways, bench, pay, fail, failing } = await open({ endpoints: 2, books: false })
		const [, second] = gateways
		if (second !== undefined) second.dialect = {}
		const bad = await pay()
		fail(bad)
		await pay()
		await polls(bench)
		expect(failing.numbers.size).toBe(1)
		expect(await types(bench)).toEqual(['alert.transfer', 'alert.transfer'])
	})

	inFull(() => {
		test('behavior: an endpoint that cannot be heard does not hold it up', async () => {
			const { gateways, bench, pay, fail } = await open({ endpoints: 2, books: false })
			const [, second] = gateways
			const down = { code: -32000, message: 'the backend is down' }
			if (second !== undefined) {
				second.dialect = {
					twist() {
						throw new Refused({ error: down, status: 503 })
					},
				}
			}
			fail(await pay())
			await pay()
			expect(await polls(bench, 12)).toBeLessThanOrEqual(2)
			expect(await types(bench)).toEqual(['system.gap', 'alert.transfer'])
		})

		test('behavior: while blocks with transactions are only before it, it is waited for five minutes', async () => {
			const { bench, pay, fail } = await open({ books: false })
			fail(await pay())
			expect(await polls(bench, 14)).toBe(14)
			expect(await types(bench)).toEqual([])
			// Five minutes after it first failed the blocks before it show that the source works.
			await node.mine(3)
			expect(await polls(bench, 15)).toBeLessThanOrEqual(2)
			expect(await types(bench)).toEqual(['system.gap'])
			const { txHash } = await pay()
			await bench.settle()
			expect((await told(bench)).at(-1)?.data).toMatchObject({ txHash })
		})

		test.each([
			['busy', { code: -32005, message: 'rate limit exceeded' }],
			['used up', { code: 402, message: 'monthly capacity limit exceeded' }],
		])('behavior: an endpoint that is %s is no reason', async (_name, error) => {
			const { bench, pay, fail, failing } = await open({ books: false })
			failing.error = error
			fail(await pay())
			await pay()
			expect(await polls(bench, 9, 60_000)).toBe(9)
			expect(await types(bench)).toEqual([])
		})

		test('behavior: a node that keeps no state of an old block does not turn the block into a gap', async () => {
			const { bench, pay, fail, failing } = await open({ books: false })
			failing.error = { code: -32000, message: 'missing trie node' }
			const first = await pay()
			for (let number = 1n; number <= first.number; number++) failing.numbers.add(number)
			fail(first)
			await pay()
			await node.mine(3)
			expect(await polls(bench, 9, 60_000)).toBe(9)
			expect(await types(bench)).toEqual([])
		})
	})

	testInFull('behavior: a reorganisation that replaces it closes it', async () => {
		const { bench, pay, fail, failing } = await open({ books: false })
		const snapshot = await node.rpc<string>('evm_snapshot')
		const bad = await pay()
		fail(bad)
		await pay()
		await node.mine()
		await polls(bench)
		expect(await types(bench)).toEqual(['system.gap', 'alert.transfer'])
		await node.rpc('evm_revert', [snapshot])
		heal(failing)
		await node.rpc('evm_increaseTime', [5])
		await node.mine(5)
		await polls(bench)
		const after = await told(bench)
		expect(
			after
				.slice(2)
				.map(({ type }) => type)
				.sort(),
		).toEqual(['alert.removed', 'system.recovered'])
		expect((await bench.store.network('local'))?.gaps.size).toBe(0)
	})

	inFull(() => {
		test('behavior: a reorganisation after it changes nothing of it', async () => {
			const { bench, pay, fail, stir } = await open({ books: false })
			fail(await pay())
			await stir()
			await polls(bench)
			const snapshot = await node.rpc<string>('evm_snapshot')
			await pay()
			await bench.settle()
			await node.rpc('evm_revert', [snapshot])
			await node.rpc('evm_increaseTime', [5])
			await node.mine(3)
			await polls(bench)
			expect(await types(bench)).toEqual(['system.gap', 'alert.transfer', 'alert.removed'])
			expect((await bench.store.network('local'))?.gaps.size).toBe(1)
		})

		test('behavior: a gap read again when the checkpoint is back before it is not reported', async () => {
			const { bench, pay, fail, failing } = await open({ books: false })
			await node.mine(4)
			await bench.settle()
			const snapshot = await node.rpc<string>('evm_snapshot')
			const bad = await pay()
			fail(bad)
			await pay()
			await node.mine()
			await polls(bench)
			expect(await types(bench)).toEqual(['system.gap', 'alert.transfer'])
			heal(failing)
			bench.pass(3_600_000)
			const { gaps } = bench.ports
			if (gaps === undefined) throw new Error('no gaps')
			const { keeper } = gaps
			// The answer to the first poll comes with the second.
			let came: Part | null = null
			const reread: typeof keeper.reread = async (...asked) => {
				const before = came
				came = await keeper.reread(...asked)
				return before
			}
			const late = { ...bench.ports, gaps: { ...gaps, keeper: { ...keeper, reread } } }
			const { signal } = new AbortController()
			await poll(bench.config, late, signal)
			expect(came).not.toBeNull()
			await node.rpc('evm_revert', [snapshot])
			await node.rpc('evm_increaseTime', [5])
			await node.mine(5)
			// The time of the poll ends with the first block after the settled one.
			const { checkpoint } = await poll({ ...bench.config, budgetMs: -1 }, late, signal)
			expect(checkpoint).toBeLessThan(bad.number)
			await bench.follower.idle()
			await polls(bench)
			const since = (await told(bench)).slice(2)
			expect(since.map(({ type }) => type).toSorted()).toEqual(['alert.removed', 'system.recovered'])
		})

		test('behavior: a watch added while the gap is open gets its alerts once it is read', async () => {
			const { bench, pay, fail, failing, from, to, stir } = await open({ books: false })
			const before = await pay()
			await bench.settle()
			const bad = await pay()
			fail(bad)
			await stir()
			await polls(bench)
			bench.setWatches([watchOf(to), watchOf(from, { fromBlock: before.number })])
			await polls(bench)
			const own = async () => (await told(bench)).filter(({ data }) => 'watch' in data && data.direction === 'out')
			expect((await own()).map(({ data }) => 'txHash' in data && data.txHash)).toEqual([before.txHash])
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			expect((await own()).map(({ data }) => 'txHash' in data && data.txHash)).toEqual([before.txHash, bad.txHash])
			expect(await types(bench)).toEqual([
				'alert.transfer',
				'system.gap',
				'alert.transfer',
				'alert.transfer',
				'alert.transfer',
				'system.recovered',
			])
		})

		test('behavior: a watch added while the gap is being read gets its alerts, too', async () => {
			let gate: Promise<void> | null = null
			let isRead = false
			const aroundFallback: BenchOptions['aroundFallback'] = (own) => ({
				...own,
				async tryAll(...asked) {
					const came = await own.tryAll(...asked)
					isRead = gate !== null && 'span' in came
					await gate
					return came
				},
			})
			const { bench, fail, failing, from, to, stir } = await open({ books: false, gapWaitMs: 0, aroundFallback })
			const [, , other, another] = (await node.accounts()) as [Address, Address, Address, Address]
			await node.automine(false)
			const txHash = await node.send({ from, to, valueWei: ether })
			const own = await node.send({ from: other, to: another, valueWei: 1n })
			const number = await node.mine()
			await node.automine(true)
			fail({ number, txHash })
			await stir()
			await polls(bench)
			// No second look comes to it any more.
			await node.mine(20)
			await polls(bench)
			// The block is read for the first watch, and the answer takes long.
			heal(failing)
			bench.pass(3_600_000)
			let letThrough = () => {}
			gate = new Promise<void>((resolve) => {
				letThrough = resolve
			})
			const begun = async () => {
				await bench.settle()
				return isRead
			}
			await expect.poll(begun).toBe(true)
			fail({ number, txHash })
			bench.setWatches([watchOf(to), watchOf(other, { fromBlock: number })])
			gate = null
			await polls(bench)
			expect((await bench.store.network('local'))?.backfills).toEqual([])
			heal(failing)
			letThrough()
			const last = async () => {
				bench.pass(3_600_000)
				await polls(bench)
				return (await types(bench)).at(-1)
			}
			await expect.poll(last).toBe('system.recovered')
			const said = (await told(bench)).flatMap(({ data }) => ('txHash' in data ? data.txHash : []))
			expect(said).toContain(txHash)
			expect(said).toContain(own)
		})

		test('behavior: a bad block met only by a backfill is read for the addresses of the backfill alone', async () => {
			const { bench, pay, fail, failing, from, to } = await open({ books: false })
			const bad = await pay()
			const next = await pay()
			await bench.settle()
			await node.mine(300)
			await bench.settle()
			fail(bad)
			bench.setWatches([watchOf(to), watchOf(from, { fromBlock: bad.number })])
			await polls(bench)
			const since = async () => (await told(bench)).slice(2)
			const brief = async () => (await since()).map(({ type, data }) => ('txHash' in data ? data.txHash : type))
			expect(await brief()).toEqual(['system.gap', next.txHash])
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			expect(await brief()).toEqual(['system.gap', next.txHash, bad.txHash, 'system.recovered'])
		})

		test('behavior: a watch removed and added again meanwhile gets its alerts once it is read', async () => {
			const { bench, pay, fail, failing, from, to, stir } = await open({ books: false })
			const bad = await pay()
			fail(bad)
			await stir()
			await polls(bench)
			bench.setWatches([watchOf(from)])
			await bench.settle()
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			bench.setWatches([watchOf(from), watchOf(to)])
			await bench.settle()
			const into = (await told(bench)).filter(({ data }) => 'direction' in data && data.direction === 'in')
			expect(into.map(({ data }) => 'txHash' in data && data.txHash)).toEqual([bad.txHash])
		})

		test('behavior: a bad block that could be read once does not hold up the settling of later blocks', async () => {
			const { bench, pay, fail, said, stir } = await open({ books: false, source: 'trace_block' })
			const once = await pay()
			await bench.settle()
			fail(once)
			await stir()
			await node.mine(20)
			await polls(bench)
			const { settled, checkpoint } = (await bench.store.network('local')) ?? {}
			expect([settled?.number, await types(bench)]).toEqual([(checkpoint?.number ?? 0n) - 6n, ['alert.transfer']])
			expect(said).toContain('a block could be read once and not a second time')
			const logs = (await bench.store.summary()).networks.get('local')?.seen?.logs
			expect(logs?.runs).toEqual([{ ...range(once.number), blocks: 1, why: 'second look' }])
			expect([...unprovedLogsInWords(logs ?? { runs: [], blocks: 0 })]).toEqual([
				expect.stringMatching(
					new RegExp(`^not read a second time: block ${once.number}: .*what was sent of it stands$`),
				),
			])
		})
	})

	testInFull(
		'behavior: a payment in a gap is not unexplained while the gap is open, nor once it was read',
		async () => {
			const { bench, failing, to, bad } = await openWithGap()
			for (let n = 0; n < 3; n++) {
				bench.pass(60_000)
				await node.mine(2)
				await polls(bench)
			}
			expect(await types(bench)).toEqual(['alert.transfer', 'system.gap', 'alert.transfer'])
			const waiting = await bench.store.network('local')
			expect(waiting?.books.get(to)).toMatchObject({ block: bad.number - 1n, movedWei: ether })
			expect(waiting?.booksSeen).toMatchObject({ openCount: 1, closedTo: Number(bad.number) - 1 })
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			expect((await types(bench)).slice(3)).toEqual(['alert.transfer', 'system.recovered'])
			await node.mine(10)
			await bench.settle()
			expect(await types(bench)).toHaveLength(5)
			const head = await node.head()
			const { books } = (await bench.store.network('local')) ?? {}
			expect([...(books ?? [])].map(([, { block, movedWei }]) => [block, movedWei])).toEqual([[head, 0n]])
		},
	)
})

inFull(() => {
	describe('a payment in a gap that a person accepted', () => {
		test('behavior: is unexplained and names it, and is retracted when it was read after all', async () => {
			const { bench, failing, to, bad } = await openWithGap()
			expect(await types(bench)).toEqual(['alert.transfer', 'system.gap', 'alert.transfer'])
			await bench.store.markGaps('local', [bad.number], { act: 'accept', atMs: Date.UTC(2030, 0, 2) })
			await node.mine(2)
			await polls(bench)
			await polls(bench)
			const since = (await told(bench)).slice(3)
			expect(since.map(({ type }) => type).toSorted()).toEqual(['alert.unexplained', 'system.gap'])
			const unexplained = since.find(({ type }) => type === 'alert.unexplained')
			expect(unexplained?.data).toMatchObject({
				fromBlock: Number(bad.number),
				toBlock: Number(bad.number),
				differenceWei: String(ether),
				reason: expect.stringMatching(new RegExp(`^block ${bad.number} is a gap: `)),
			})
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			const after = (await told(bench)).slice(5)
			expect(after.map(({ type }) => type).toSorted()).toEqual(['alert.removed', 'alert.transfer', 'system.recovered'])
			expect(after.find(({ type }) => type === 'alert.removed')?.data.id).toBe(unexplained?.data.id)
			await node.mine(10)
			await bench.settle()
			expect(await types(bench)).toHaveLength(8)
			const { books } = (await bench.store.network('local')) ?? {}
			expect(books?.get(to)).toMatchObject({ block: await node.head(), movedWei: 0n })
		})
	})
})

testInFull.each(['the scanner writes what was in it', 'the auditor takes it in'])(
	'behavior: a kill when %s: it is taken into the books once, and judged',
	async (when) => {
		let kill = (_: Commit) => false
		const around = (store: Store): Store => ({
			...store,
			async commit(change) {
				const state = await store.commit(change)
				if (kill(change)) throw new Error('killed')
				return state
			},
		})
		const { bench, pay, fail, failing, to } = await open({ around })
		await pay()
		await bench.settle()
		const bad = await pay()
		fail(bad)
		await pay()
		await node.mine(2)
		await polls(bench)
		expect(await types(bench)).toEqual(['alert.transfer', 'system.gap', 'alert.transfer'])
		heal(failing)
		bench.pass(3_600_000)
		const isRead = ({ gaps }: Commit) => gaps?.get(bad.number)?.readAtMs !== undefined
		const isClosed = ({ gaps }: Commit) => gaps?.get(bad.number) === null
		kill = when === 'the auditor takes it in' ? isClosed : isRead
		await expect(bench.settle()).rejects.toThrow('killed')
		const gap = (await bench.store.network('local'))?.gaps.get(bad.number)
		expect(gap?.readAtMs !== undefined).toBe(when !== 'the auditor takes it in')
		expect((await bench.store.summary()).networks.get('local')?.gaps).toEqual([])
		kill = () => false
		for (let n = 0; n < 3; n++) {
			bench.pass(3_600_000)
			await node.mine(10)
			await bench.settle()
		}
		expect((await types(bench)).slice(3)).toEqual(['alert.transfer', 'system.recovered'])
		const state = await bench.store.network('local')
		const head = await node.head()
		expect(state?.gaps.size).toBe(0)
		expect(state?.books.get(to)).toMatchObject({ movedWei: 0n, balanceWei: await node.balanceWei(to, head) })
		expect(state?.booksSeen?.unprovedCount ?? 0).toBe(0)
	},
)

testInFull(
	'behavior: a gap at the checkpoint, read before the next block comes, is taken into the books once',
	async () => {
		const { bench, pay, fail, failing, to } = await open({
			around: (store) => ({
				...store,
				async commit(change) {
					const state = await store.commit(change)
					if ([...(change.gaps?.values() ?? [])].some((gap) => gap?.openedAtMs != null && gap.readAtMs === undefined))
						throw new Error('killed')
					return state
				},
			}),
		})
		await pay()
		await bench.settle()
		const bad = await pay()
		fail(bad)
		const before = await node.rpc<string>('evm_snapshot')
		await pay()
		const state = async () => await bench.store.network('local')
		while ((await state())?.checkpoint.number !== bad.number) {
			await bench.settle().catch(() => undefined)
			bench.pass(20_000)
		}
		// The block after it leaves the chain before it was read.
		await node.rpc('evm_revert', [before])
		heal(failing)
		bench.pass(3_600_000)
		await bench.settle()
		const after = await state()
		expect([after?.gaps.size, after?.audit?.taken, after?.books.get(to)?.movedWei]).toEqual([0, bad.number, ether])
	},
)

inFull(() => {
	describe('a block that only another way gives', () => {
		test('behavior: a payment that the other way leaves out is unexplained', async () => {
			const { bench, pay, fail, gateways, failing } = await open()
			await pay()
			await bench.settle()
			const bad = await pay()
			fail(bad)
			// The tracer fails at it too, when the walk asks; then it tells of the transaction, and not of what it paid.
			let failures = 1
			for (const gateway of gateways) {
				gateway.dialect = {
					twist(method, params, result) {
						const isBad = method === 'debug_traceBlockByNumber' && params[0] === hex(bad.number)
						if (!isBad || failures-- > 0) return failing.twist(method, params, result)
						return (result as { result: object }[]).map((one) => ({ ...one, result: { ...one.result, value: '0x0' } }))
					},
				}
			}
			await pay()
			await polls(bench)
			const all = await told(bench)
			expect(all.map(({ type }) => type)).toEqual(['alert.transfer', 'alert.transfer', 'alert.unexplained'])
			expect(all[2]?.data).toMatchObject({ fromBlock: Number(bad.number), differenceWei: String(ether) })
		})
	})
})

inFull(() =>
	describe('many such blocks, one after the other', () => {
		test('behavior: blocks after bad ones are reported, and each bad one when it could be read', async () => {
			const { bench, pay, fail, failing } = await open({ books: false })
			const hostile = []
			for (let count = 0; count < 6; count++) hostile.push(await pay())
			for (const one of hostile) fail(one)
			const next = await pay()
			// Polls are 20 s apart: a minute and three rounds for the first, and one for each of the others.
			expect(await polls(bench, 40)).toBeLessThan(14)
			const all = await told(bench)
			expect(all.filter(({ type }) => type === 'system.gap')).toHaveLength(6)
			expect(all.at(-1)?.data).toMatchObject({ txHash: next.txHash })
			heal(failing)
			for (let count = 0; count < 12; count++) {
				bench.pass(300_000)
				await bench.settle()
			}
			const late = (await told(bench)).slice(all.length).filter(({ type }) => type === 'alert.transfer')
			expect(new Set(late.map(({ data }) => 'txHash' in data && data.txHash))).toEqual(
				new Set(hostile.map(({ txHash }) => txHash)),
			)
		})
	}),
)

inFull(() => {
	describe('a gap by the decision of a person', () => {
		const opened = async () => {
			const all = await open({ books: false })
			const bad = await all.pay()
			all.fail(bad)
			await all.pay()
			await node.mine(2)
			await polls(all.bench)
			expect(await types(all.bench)).toEqual(['system.gap', 'alert.transfer'])
			return { ...all, bad }
		}

		test('behavior: accepted, it is reported once and stays a gap; its alert comes when it is read', async () => {
			const { bench, failing, bad, said } = await opened()
			bench.pass(20_000)
			const atMs = Date.UTC(2030, 0, 2)
			expect(await bench.store.markGaps('local', [bad.number], { act: 'accept', atMs })).toBe(1)
			await polls(bench)
			await polls(bench)
			const [first, , accepted, ...more] = await told(bench)
			expect(more).toEqual([])
			expect(accepted).toMatchObject({
				type: 'system.gap',
				data: {
					fromBlock: Number(bad.number),
					toBlock: Number(bad.number),
					acceptedAt: '2030-01-02T00:00:00.000Z',
					reason: expect.stringMatching(/was accepted as not covered: what happened in it was not sent/),
				},
			})
			expect(accepted?.data.id).not.toBe(first?.data.id)
			expect(said.filter((line) => line.startsWith('a gap is accepted: '))).toHaveLength(1)
			expect((await bench.store.summary()).networks.get('local')?.gaps).toMatchObject([{ acceptedAtMs: atMs }])
			await node.mine(20)
			await polls(bench)
			heal(failing)
			bench.pass(3_600_000)
			await bench.settle()
			expect((await types(bench)).slice(3)).toEqual(['alert.transfer', 'system.recovered'])
			expect((await bench.store.network('local'))?.gaps.size).toBe(0)
		})

		test('behavior: wanted, it is asked for at once', async () => {
			const { bench, failing, bad } = await opened()
			bench.pass(40_000)
			await bench.settle()
			heal(failing)
			await bench.settle()
			expect(await types(bench)).toHaveLength(2)
			bench.pass(1_000)
			await bench.store.markGaps('local', [bad.number], { act: 'retry', atMs: START_MS + 3_600_000 })
			await bench.settle()
			expect((await types(bench)).slice(2)).toEqual(['alert.transfer', 'system.recovered'])
		})
	})
})

inFull(() => {
	test('error: no block to blame: an endpoint that is down is asked little while others fail in passing', async () => {
		const [down, passing] = [await secondToNode(), await secondToNode()]
		const [from, to] = (await node.accounts()) as [Address, Address]
		const urls = [down.url, passing.url]
		const bench = await openBench({ urls, watches: [watchOf(to)], retry: { tries: 1 } })
		onTestFinished(() => bench.close())
		await node.mine(3)
		await bench.settle()
		for (let count = 0; count < 3; count++) {
			await node.receipt(await node.send({ from, to, valueWei: ether }))
			await node.mine(1)
		}
		let asked = 0
		const unavailable = status(503)
		down.next = () => {
			asked += 1
			return unavailable
		}
		passing.next = () => (ask, response, good) =>
			ask.calls.some(({ method }) => method.includes('trace'))
				? unavailable(ask, response, good)
				: sendJson(response, good)
		await expect(bench.settle()).rejects.toThrow()
		expect(asked).toBeLessThanOrEqual(8)
		passing.next = () => null
		bench.pass(3_600_000)
		await bench.settle()
		expect((await told(bench)).filter(({ type }) => type === 'alert.transfer')).toHaveLength(3)
		expect(await types(bench)).not.toContain('system.gap')
	})
})

testOnce('behavior: a transaction that only headers name, with tokens: the gap names it, others are sent', async () => {
	const unheard = `0x${'ab'.repeat(32)}`
	const { bench, gateways, pay, to } = await open({ mayLack: true, source: 'trace_block' })
	bench.setWatches([watchOf(to, { kinds: ['transfer', 'token'], tokens: 'all' })])
	const twist: Dialect['twist'] = (method, _params, result) => {
		const { transactions = [] } = Object(result) as { transactions?: readonly string[] }
		const isFull = method.startsWith('eth_getBlockBy') && transactions.length > 0
		return isFull ? { ...Object(result), transactions: [...transactions, unheard] } : undefined
	}
	for (const gateway of gateways) gateway.dialect = { twist }
	const { number, txHash } = await pay()
	await polls(bench)
	const since = (await told(bench)).map(({ type, data }) => ('txHash' in data ? data.txHash : type))
	expect(since).toEqual([txHash, 'system.gap'])
	const gap = (await bench.store.network('local'))?.gaps.get(number)
	expect(gap?.reason).toMatch(new RegExp(`^logs, and transaction ${unheard}`))
})
