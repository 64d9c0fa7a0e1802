// One block that an endpoint answers wrongly for ever, with answers that look as if the chain had moved: its header
// stays, so the block is read by another source or endpoint, or becomes a gap, and all other blocks are sent.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Message } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type BadAnswer, badAnswers, noTraces, otherHash, wrongHash } from '../support/badBlock.js'
import { type Dialect, type DialectGateway, startDialectGateway } from '../support/dialectGateway.js'
import { divided, testInFull } from '../support/longRun.js'
import { START_MS } from '../support/standingClock.js'
import { type Bench, openBench, watchOf } from './bench.js'

type SetUp = 'no other source' | 'another source' | 'another endpoint, second' | 'another endpoint, first'

/** One chain for all: each test watches it from where it stands. */
let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil()
})
afterAll(() => node.stop())

async function open(bad: BadAnswer, setUp: SetUp, isBadBefore = false) {
	const numbers = new Set<bigint>()
	const source = bad.method === 'eth_getBlockByNumber' ? 'trace_block' : bad.method
	const others = ['trace_block', 'trace_filter', 'debug_traceBlockByNumber'].filter((name) => name !== source)
	const lying: Dialect = {
		twist: bad.twist(numbers),
		// A filter is completed by the whole block, or by its receipts: it would fail alike. A transaction that can be
		// asked for alone is no bad block (test/program/oneTransaction.sized.test.ts).
		lacks: [...(setUp === 'another source' ? ['trace_filter'] : others), 'trace_transaction', 'debug_traceTransaction'],
	}
	const dialects = setUp === 'another endpoint, first' ? [{}, lying] : [lying]
	if (setUp === 'another endpoint, second') dialects.push({})
	const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(node.url, dialect)))
	const [from, to, other, another] = (await node.accounts()) as [Address, Address, Address, Address]
	let nowMs = START_MS
	const pass = (ms: number) => {
		nowMs += ms
	}
	const bench = await openBench({
		clock: () => nowMs,
		wait: async (ms) => pass(ms),
		urls: gateways.map(({ url }) => url),
		watches: [watchOf(to)],
		network: { settle: 6 },
		retry: { tries: 1 },
		books: false,
	})
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
	})
	const pay = async () => {
		const txHash = await node.send({ from, to, valueWei: ether })
		return { number: BigInt((await node.receipt(txHash)).blockNumber), txHash }
	}
	const stir = async () => node.receipt(await node.send({ from: other, to: another, valueWei: 1n }))
	const { blockNumber } = await stir()
	if (isBadBefore) numbers.add(BigInt(blockNumber))
	for (let count = 0; count < 2; count++) await stir()
	await node.mine(3)
	await bench.settle()
	return { bench, pass, pay, numbers, from, to, stir, gateways }
}

/** Polls every 20 s for seven minutes, or until all of this was sent, whatever fails. */
async function pollUntil({ bench, pass }: Opened, count: number): Promise<void> {
	for (let poll = 0; poll < 21; poll++) {
		await bench.settle().catch(() => undefined)
		if ((await told(bench)).length >= count) return
		pass(20_000)
	}
}

type Opened = Awaited<ReturnType<typeof open>>

async function told(bench: Bench): Promise<readonly string[]> {
	const messages: readonly Message[] = (await bench.posted()).map(({ message }) => message)
	return messages.map(({ type, data }) => ('txHash' in data ? `${type} ${data.txHash}` : type))
}

const setUps: readonly SetUp[] = [
	'no other source',
	'another source',
	'another endpoint, second',
	'another endpoint, first',
]
const all = badAnswers
	.flatMap((bad) => setUps.map((setUp) => [bad.name, setUp, bad] as const))
	// All sources of an endpoint read the same headers.
	.filter(([, setUp, { method }]) => setUp !== 'another source' || method !== 'eth_getBlockByNumber')
/** Each wrong answer where nothing else helps, and in one more set-up, so that each set-up meets each method. */
const some = all.filter(([, setUp, bad]) => setUp === setUps[0] || setUp === setUps[1 + (badAnswers.indexOf(bad) % 3)])
const grid = divided(some, (_, index) => index % 9 === 1)

/** Each wrong answer in one set-up, and each set-up with some of the answers. */
const inSome = all.filter(([, setUp, bad]) => setUps.indexOf(setUp) === badAnswers.indexOf(bad) % 4)
const inBackfills = divided(inSome, (_, index) => index === 0)

const kinds = badAnswers.map((bad) => [bad.name, bad] as const)
/** One of each method, and the one that another reading takes for whole. */
const few = kinds.filter(
	([, bad], index) => bad.isReadable || badAnswers.findIndex(({ method }) => method === bad.method) === index,
)

describe('a block that is answered wrongly for ever', () => {
	test.each(grid)('default: %s, %s', async (_name, setUp, bad) => {
		const opened = await open(bad, setUp)
		const { bench, pass, pay, numbers } = opened
		const first = await pay()
		numbers.add(first.number)
		const second = await pay()
		await node.mine(2)
		await pollUntil(opened, 2)
		const third = await pay()
		await bench.settle()
		const alerts = [second, third].map(({ txHash }) => `alert.transfer ${txHash}`)
		const own = `alert.transfer ${first.txHash}`
		if (setUp !== 'no other source') {
			expect(await told(bench)).toEqual([own, ...alerts])
			return
		}
		expect(await told(bench)).toEqual(['system.gap', ...alerts])
		expect((await bench.store.summary()).networks.get('local')?.gaps).toMatchObject([
			{ block: { number: first.number } },
		])
		numbers.clear()
		pass(3_600_000)
		await bench.settle()
		expect((await told(bench)).slice(3)).toEqual([own, 'system.recovered'])
	})

	testInFull.each(few)(
		'behavior: where all blocks after it are empty, it is a gap within seven minutes: %s',
		async (_name, bad) => {
			const opened = await open(bad, 'no other source')
			const { bench, pass, pay, numbers } = opened
			const first = await pay()
			numbers.add(first.number)
			await node.mine(3)
			// Four minutes and 40 seconds are too early.
			for (let poll = 0; poll < 7; poll++) {
				await bench.settle().catch(() => undefined)
				pass(40_000)
			}
			expect(await told(bench)).toEqual([])
			for (let poll = 0; poll < 4; poll++) {
				await bench.settle().catch(() => undefined)
				pass(40_000)
			}
			const own = bad.isReadable ? [`alert.transfer ${first.txHash}`, 'system.recovered'] : []
			expect(await told(bench)).toEqual(['system.gap', ...own])
			const { txHash } = await pay()
			await bench.settle()
			expect(await told(bench)).toEqual(['system.gap', ...own, `alert.transfer ${txHash}`])
		},
	)

	testInFull('traces that end before the headers for minutes: a gap, and its alert when they come', async () => {
		const { bench, pass, pay, numbers } = await open(noTraces, 'no other source')
		const { number, txHash } = await pay()
		await node.mine(3)
		for (let each = number; each < number + 10n; each++) numbers.add(each)
		for (let poll = 0; poll < 10; poll++) {
			await bench.settle().catch(() => undefined)
			pass(60_000)
		}
		expect(new Set(await told(bench))).toEqual(new Set(['system.gap']))
		numbers.clear()
		pass(3_600_000)
		await bench.settle()
		expect(new Set(await told(bench))).toEqual(new Set(['system.gap', `alert.transfer ${txHash}`, 'system.recovered']))
	})

	testInFull.each(few)('behavior: with polls ten minutes apart the second one passes it: %s', async (_name, bad) => {
		const { bench, pass, pay, numbers } = await open(bad, 'no other source')
		const first = await pay()
		numbers.add(first.number)
		const { txHash } = await pay()
		await bench.settle().catch(() => undefined)
		expect(await told(bench)).toEqual([])
		pass(600_000)
		await bench.settle()
		expect(await told(bench)).toEqual(['system.gap', `alert.transfer ${txHash}`])
	})

	testInFull('behavior: a wrong hash of an empty block makes the next one a gap, which closes', async () => {
		const opened = await open(otherHash, 'no other source')
		const { bench, pay, numbers } = opened
		numbers.add(BigInt(await node.rpc<string>('eth_blockNumber', [])) + 1n)
		await node.mine(1)
		await bench.settle()
		const { txHash } = await pay()
		await node.mine(1)
		const next = await pay()
		await pollUntil(opened, 4)
		const alerts = [next.txHash, txHash].map((hash) => `alert.transfer ${hash}`)
		expect(await told(bench)).toEqual(['system.gap', ...alerts, 'system.recovered'])
	})

	testInFull(
		'behavior: a checkpoint that leaves the chain during a poll makes no gap, even soon after another',
		async () => {
			const opened = await open(noTraces, 'no other source')
			const { bench, pay, numbers, gateways } = opened
			const bad = await pay()
			numbers.add(bad.number)
			const last = await pay()
			await pollUntil(opened, 2)
			const next = await pay()
			const later = await pay()
			await node.mine(20)
			const gateway = gateways[0] as DialectGateway
			const { dialect } = gateway
			const checkpoints: unknown[] = []
			const twist: Dialect['twist'] = (method, params, result) => {
				if (method !== 'eth_getBlockByNumber') return dialect.twist?.(method, params, result)
				const header = result as { readonly number: string }
				const number = BigInt(header.number)
				if (number === next.number) return { ...header, parentHash: wrongHash }
				if (number !== last.number || checkpoints.push(header) === 1) return undefined
				return { ...header, hash: wrongHash }
			}
			gateway.dialect = { ...dialect, twist }
			await bench.poll().catch(() => undefined)
			expect(checkpoints.length).toBeGreaterThan(1)
			gateway.dialect = dialect
			await bench.settle()
			const alerts = [last, next, later].map(({ txHash }) => `alert.transfer ${txHash}`)
			expect(await told(bench)).toEqual(['system.gap', ...alerts])
		},
	)

	testInFull.each(kinds)('behavior: when the endpoint is tried first: %s', async (_name, bad) => {
		const { bench, pay } = await open(bad, 'no other source', true)
		const { txHash } = await pay()
		await bench.settle()
		expect(await told(bench)).toEqual([`alert.transfer ${txHash}`])
	})

	test.each(inBackfills)('behavior: in a backfill: %s, %s', async (_name, setUp, bad) => {
		const opened = await open(bad, setUp)
		const { bench, pass, pay, numbers, from, to } = opened
		const before = await pay()
		const first = await pay()
		const second = await pay()
		await node.mine(30)
		await pollUntil(opened, 3)
		numbers.add(first.number)
		bench.setWatches([watchOf(to), watchOf(from, { fromBlock: before.number })])
		await pollUntil(opened, 6)
		const own = `alert.transfer ${first.txHash}`
		const others = [before, second].map(({ txHash }) => `alert.transfer ${txHash}`)
		const found = (await told(bench)).slice(3)
		if (setUp !== 'no other source' || bad.isReadable) {
			expect(found.toSorted()).toEqual([own, ...others].toSorted())
			return
		}
		expect(found.toSorted()).toEqual([...others, 'system.gap'].toSorted())
		await bench.settle()
		const { gaps = [], backfills } = (await bench.store.summary()).networks.get('local') ?? {}
		expect(gaps).toMatchObject([{ block: { number: first.number }, addresses: [from] }])
		expect(backfills).toEqual([])
		// A person accepts it as one that the new blocks have met.
		expect(await bench.store.markGaps('local', [first.number], { act: 'accept', atMs: START_MS })).toBe(1)
		numbers.clear()
		pass(3_600_000)
		await pollUntil(opened, 9)
		expect((await told(bench)).slice(6)).toEqual(['system.gap', own, 'system.recovered'])
	})
})
