// Thresholds of a balance: told once when they are crossed, and again after the balance recovered.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address } from '../../src/model/glossary.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../scan/bench.js'
import { ether, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type DialectGateway, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { divided, testInFull, testOnce } from '../support/longRun.js'

const purse: Address = '0x00000000000000000000000000000000000c0fee'

async function open(options: Partial<BenchOptions> = {}) {
	const node = await startTestAnvil(['--no-mining'])
	const [rich] = (await node.accounts()) as [Address]
	const thresholds = { belowWei: ether / 2n, aboveWei: 10n * ether }
	const watches = [watchOf(purse, { kinds: ['balance'], thresholds })]
	const bench = await openBench({ urls: [node.url], watches, ...options })
	onTestFinished(async () => {
		await bench.close()
		await node.stop()
	})
	await node.mine(2)
	/** Coins from nowhere too, as no frame tells them. */
	const set = (wei: bigint) => node.rpc('anvil_setBalance', [purse, `0x${wei.toString(16)}`])
	const block = async () => {
		const number = await node.mine()
		await bench.settle()
		return Number(number)
	}
	const pay = async (valueWei: bigint) => {
		await node.send({ from: rich, to: purse, valueWei, gas: 21_000n })
		return block()
	}
	return { node, bench, rich, set, pay, block }
}

/** A purse whose balance has just crossed its threshold, behind a gateway that a test can spoil. */
async function crossedBehind(node: TestAnvil, gateway: DialectGateway) {
	const [rich] = (await node.accounts()) as [Address]
	const thresholds = { belowWei: null, aboveWei: 10n }
	const quiet = watchOf(rich, { kinds: ['unexplained'] })
	const watches = [quiet, watchOf(purse, { kinds: ['balance'], thresholds })]
	const bench = await openBench({ urls: [gateway.url], watches, network: { settle: 3 } })
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await node.mine(2)
	await bench.settle()
	await node.mine()
	await bench.settle()
	const before = await node.rpc<string>('evm_snapshot')
	const pay = async () => {
		await node.send({ from: rich, to: purse, valueWei: 20n, gas: 21_000n })
		return Number(await node.mine())
	}
	const high = await pay()
	await bench.settle()
	return { bench, rich, quiet, before, pay, high }
}

async function told(bench: Bench, type = 'alert.balance'): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

const short = ({ blockNumber, crossed, balance }: AlertData) => [blockNumber, crossed, balance]

describe('thresholds of a balance', () => {
	testOnce('default: each crossing once, and again after it recovered', async () => {
		const { bench, set, pay, block } = await open()
		await set(ether)
		await bench.settle()
		await block()
		expect(await told(bench)).toEqual([])
		await pay(ether)
		await set(ether / 4n)
		const low = await block()
		await block()
		await pay(1n)
		expect(await told(bench)).toMatchObject([
			{
				id: `31337:${low}:below:balance:${purse}`,
				kind: 'balance',
				blockNumber: low,
				balanceWei: '250000000000000000',
				balance: '0.25',
				threshold: '0.5',
				crossed: 'below',
				asset: 'ETH',
			},
		])
		const fine = await pay(ether)
		const high = await pay(9n * ether)
		await pay(ether)
		expect(fine).toBeLessThan(high)
		await set(ether / 2n)
		await block()
		await set(ether / 2n - 1n)
		const again = await block()
		expect((await told(bench)).map(short)).toEqual([
			[low, 'below', '0.25'],
			[high, 'above', '10.250000000000000001'],
			[again, 'below', '0.499999999999999999'],
		])
		expect((await told(bench)).at(1)?.id).toBe(`31337:${high}:above:balance:${purse}`)
	})

	testInFull('behavior: also where more blocks came before its book was opened than a node remembers', async () => {
		const { node, bench, set, block } = await open()
		await set(ether)
		await bench.settle()
		await set(7n)
		await node.mine(300)
		await bench.settle()
		expect((await told(bench)).map(short)).toMatchObject([[expect.any(Number), 'below', '0.000000000000000007']])
		await block()
		await set(ether)
		await block()
		await set(8n)
		await block()
		expect(await told(bench)).toHaveLength(2)
	})

	testOnce('behavior: an address that is low when it is first seen is reported once', async () => {
		const { bench, set, block } = await open()
		await set(7n)
		await bench.settle()
		const first = await block()
		await block()
		expect((await told(bench)).map(short)).toEqual([[first, 'below', '0.000000000000000007']])
		bench.setWatches([])
		await block()
		const thresholds = { belowWei: ether, aboveWei: null }
		bench.setWatches([watchOf(purse, { kinds: ['balance'], thresholds })])
		await block()
		// It is watched anew: its balance then is news again.
		expect((await told(bench)).length).toBeLessThanOrEqual(2)
	})

	testOnce('behavior: a watch comes back and is low, beside one whose book is kept: reported once', async () => {
		const { bench, rich, set, block } = await open()
		const low = watchOf(purse, { kinds: ['balance'], thresholds: { belowWei: ether, aboveWei: null } })
		const other = watchOf(rich, { kinds: ['unexplained'] })
		await set(2n * ether)
		bench.setWatches([low, other])
		for (let mined = 0; mined < 3; mined++) await block()
		bench.setWatches([other])
		for (let mined = 0; mined < 3; mined++) await block()
		await set(7n)
		await block()
		bench.setWatches([low, other])
		for (let mined = 0; mined < 3; mined++) await block()
		expect((await told(bench)).map(short)).toEqual([[expect.any(Number), 'below', '0.000000000000000007']])
	})

	test.each(divided(['while the program runs', 'while it is stopped'], (_, at) => at === 0))(
		'behavior: a threshold is added to a watch that is past it, or raised, %s: reported once',
		async (when) => {
			const folder = temporaryFolder()
			const openStore: BenchOptions['openStore'] = (clock) => openFileStore(folder, { clock })
			const { node, bench: first, set } = await open({ openStore })
			let bench = first
			const plain = watchOf(purse, { kinds: ['balance', 'unexplained'] })
			const below = (belowWei: bigint, label: string | null = null) => [
				{ ...plain, label, thresholds: { belowWei, aboveWei: null } },
			]
			await set(7n)
			for (const watches of [[plain], below(8n), below(8n, 'renamed'), below(6n), below(9n)]) {
				if (when === 'while it is stopped') {
					await bench.close()
					bench = await openBench({ urls: [node.url], watches, openStore })
					onTestFinished(bench.close)
				} else bench.setWatches(watches)
				for (let mined = 0; mined < 3; mined++) {
					await node.mine()
					await bench.settle()
				}
			}
			const said = (await told(bench)).map(({ crossed, threshold }) => [crossed, threshold])
			expect(said).toEqual([
				['below', '0.000000000000000008'],
				['below', '0.000000000000000009'],
			])
		},
	)

	testOnce(
		'behavior: a threshold beside one that stays is added, dropped or changed: that one is not repeated',
		async () => {
			const { bench, set, block } = await open()
			const watch = (belowWei: bigint | null, aboveWei: bigint | null, watchlist = 'test.yaml') =>
				watchOf(purse, { kinds: ['balance', 'unexplained'], thresholds: { belowWei, aboveWei }, watchlist })
			await set(7n)
			const edits = [
				[watch(8n, null)],
				[watch(8n, 20n)],
				[watch(8n, 20n), watch(null, 30n, 'other.yaml')],
				[watch(8n, 20n), watch(8n, 40n, 'other.yaml')],
				[watch(8n, 6n)],
				[watch(8n, null)],
			]
			for (const watches of edits) {
				bench.setWatches(watches)
				for (let mined = 0; mined < 3; mined++) await block()
			}
			await set(9n)
			await block()
			await set(5n)
			await block()
			expect((await told(bench)).map(({ crossed, threshold, balanceWei }) => [crossed, threshold, balanceWei])).toEqual(
				[
					['below', '0.000000000000000008', '7'],
					['above', '0.000000000000000006', '7'],
					['below', '0.000000000000000008', '5'],
				],
			)
		},
	)

	testOnce('behavior: the block in which a new threshold was compared is replaced: the alert stands', async () => {
		const { node, bench, set, block } = await open()
		const plain = watchOf(purse, { kinds: ['balance', 'unexplained'] })
		bench.setWatches([plain])
		await set(7n)
		for (let mined = 0; mined < 3; mined++) await block()
		const before = await node.rpc<string>('evm_snapshot')
		bench.setWatches([{ ...plain, thresholds: { belowWei: 8n, aboveWei: null } }])
		await block()
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [5])
		await node.mine()
		await block()
		const said = (await bench.posted()).map(({ message }) => message.type)
		expect(said).toEqual(['alert.balance'])
	})

	testInFull(
		'behavior: a balance past its threshold is reported once, with unconfirmed or earlier blocks',
		async () => {
			const late = await open({ network: { confirmations: 3 } })
			await late.set(7n)
			await late.bench.settle()
			for (let mined = 0; mined < 8; mined++) await late.block()
			expect(await told(late.bench)).toHaveLength(1)
			const { node, bench, set, block } = await open()
			bench.setWatches([])
			await set(7n)
			await bench.settle()
			await node.mine(3)
			bench.setWatches([watchOf(purse, { kinds: ['balance'], thresholds: { belowWei: ether, aboveWei: null } })])
			await bench.settle()
			for (let mined = 0; mined < 4; mined++) await block()
			expect((await told(bench)).map(short)).toMatchObject([[expect.any(Number), 'below', '0.000000000000000007']])
		},
	)

	testOnce(
		'behavior: watching that begins at genesis, which no node traces, compares from the next block on',
		async () => {
			const node = await startTestAnvil(['--no-mining'])
			const gateway = await startDialectGateway(node.url, {
				twist(method, [first]) {
					if (method !== 'trace_block' || first !== '0x0') return undefined
					throw new Refused({ error: { code: -32000, message: 'genesis is not traceable' } })
				},
			})
			const thresholds = { belowWei: 5n, aboveWei: 10n }
			const watches = [watchOf(purse, { kinds: ['balance'], thresholds })]
			const bench = await openBench({
				urls: [gateway.url],
				watches,
				source: 'trace_block',
				network: { confirmations: 1 },
			})
			onTestFinished(async () => {
				await bench.close()
				await gateway.close()
				await node.stop()
			})
			await node.mine()
			await bench.settle()
			expect((await bench.store.network('local'))?.checkpoint.number).toBe(0n)
			const [rich] = (await node.accounts()) as [Address]
			for (const valueWei of [0n, 7n, 7n]) {
				await node.send({ from: rich, to: purse, valueWei, gas: 21_000n })
				await node.mine()
				await bench.settle()
			}
			await node.mine()
			await bench.settle()
			expect((await told(bench)).map((one) => [...short(one), one.late])).toEqual([
				[1, 'below', '0', false],
				[4, 'above', '0.000000000000000014', false],
			])
		},
	)

	testOnce('behavior: a reorganisation takes back what its blocks showed, and repeats nothing else', async () => {
		const { node, bench, set, block } = await open()
		await set(ether)
		await bench.settle()
		await block()
		const before = await node.rpc<string>('evm_snapshot')
		await set(7n)
		const low = await block()
		expect((await told(bench)).map(short)).toEqual([[low, 'below', '0.000000000000000007']])
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await block()
		await block()
		expect((await told(bench, 'alert.removed')).map(({ id }) => id)).toEqual([`31337:${low}:below:balance:${purse}`])
		await set(5n)
		const later = await block()
		const again = await node.rpc<string>('evm_snapshot')
		await node.mine()
		await bench.settle()
		await node.rpc('evm_revert', [again])
		await node.rpc('evm_increaseTime', [100])
		await node.mine(2)
		await bench.settle()
		expect((await told(bench)).map(short)).toEqual([
			[low, 'below', '0.000000000000000007'],
			[later, 'below', '0.000000000000000005'],
		])
		expect(await told(bench, 'alert.removed')).toHaveLength(1)
	})

	testOnce.each([1, 300])(
		'behavior: with %i watches, blocks before a reorganisation while it was off stay proved',
		async (count) => {
			const folder = temporaryFolder()
			const openStore = (clock: () => number) => openFileStore(folder, { clock })
			const kept = { openStore, network: { settle: 3 } }
			// Of more than 200 books, not all are closed with each poll.
			const idle = Array.from({ length: count - 1 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}` as Address)
			const quiet = [purse, ...idle].map((address) => watchOf(address, { kinds: ['unexplained'] }))
			const { node, bench, rich, pay, set } = await open({ ...kept, watches: quiet })
			await bench.settle()
			for (let wei = 1n; wei <= 8n; wei++) await pay(wei)
			const before = await node.rpc<string>('evm_snapshot')
			await pay(9n)
			await bench.close()
			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await node.send({ from: rich, to: purse, valueWei: 4n, gas: 21_000n })
			await node.mine(3)
			const later = await openBench({ urls: [node.url], watches: quiet, ...kept })
			onTestFinished(() => later.close())
			await later.settle()
			expect((await later.store.network('local'))?.booksSeen?.unproved ?? []).toEqual([])
			// What no frame shows is found in the next block.
			await set(100n)
			await node.mine()
			await later.settle()
			const found = (await later.posted()).filter(({ message }) => message.type === 'alert.unexplained').map(alertOf)
			expect(found.map(({ differenceWei }) => differenceWei)).toEqual(['60'])
		},
	)

	testInFull('behavior: a balance low from the first block on stays reported when that block is replaced', async () => {
		const { node, bench, set } = await open({ network: { settle: 3 } })
		await set(7n)
		await node.mine()
		await bench.settle()
		let before = await node.rpc<string>('evm_snapshot')
		for (const blocks of [1, 2, 3]) {
			await node.rpc('evm_revert', [before])
			before = await node.rpc<string>('evm_snapshot')
			await node.rpc('evm_increaseTime', [100])
			await node.mine(blocks)
			await bench.settle()
			const [sent, removed] = [await told(bench), await told(bench, 'alert.removed')]
			expect(sent.length - removed.length).toBe(1)
		}
	})

	testInFull('behavior: a reorganisation to before a watch began compares its threshold where it began', async () => {
		const { node, bench, rich, set } = await open()
		const quiet = watchOf(rich, { kinds: ['transfer', 'unexplained'] })
		bench.setWatches([quiet])
		await set(7n)
		await node.mine(20)
		await bench.settle()
		await node.mine(20)
		await bench.settle()
		const thresholds = { belowWei: 10n, aboveWei: null }
		bench.setWatches([quiet, watchOf(purse, { kinds: ['balance'], thresholds })])
		const begin = await node.rpc<string>('evm_snapshot')
		const low = Number(await node.mine())
		await bench.settle()
		const before = await node.rpc<string>('evm_snapshot')
		await node.mine(2)
		await bench.settle()
		const replace = async (snapshot: string, blocks: number) => {
			expect(await node.rpc('evm_revert', [snapshot])).toBe(true)
			const same = await node.rpc<string>('evm_snapshot')
			await node.rpc('evm_increaseTime', [100])
			await node.mine(blocks)
			await bench.settle()
			return same
		}
		const standing = async () => {
			const ids = (await told(bench)).map(({ id }) => id)
			const removed = (await told(bench, 'alert.removed')).map(({ id }) => id)
			return { ids, left: ids.length - removed.length }
		}
		await replace(before, 3)
		expect(await standing()).toEqual({ ids: [`31337:${low}:below:balance:${purse}`], left: 1 })
		const again = await replace(begin, 6)
		expect((await standing()).left).toBe(1)
		await replace(again, 7)
		expect((await standing()).left).toBe(1)
		expect((await told(bench)).every(({ blockNumber }) => blockNumber >= low)).toBe(true)
		await node.mine(20)
		await bench.settle()
		expect((await standing()).left).toBe(1)
	})

	testOnce('behavior: a reorganisation between scan and audit retracts no crossing that happened again', async () => {
		const node = await startTestAnvil(['--no-mining'])
		let reorganise: (() => Promise<void>) | null = null
		let replaced = ''
		const gateway = await startDialectGateway(node.url, {
			async twist(method, params) {
				if (reorganise === null || !['eth_call', 'eth_getBalance'].includes(method)) return undefined
				if (!JSON.stringify(params).includes(replaced)) return undefined
				const act = reorganise
				reorganise = null
				await act()
				throw new Refused({ error: { code: -32001, message: 'Resource not found' } })
			},
		})
		const { bench, before, pay, high } = await crossedBehind(node, gateway)
		await node.mine()
		replaced = (await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
		reorganise = async () => {
			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await pay()
			await node.mine(2)
		}
		await bench.poll()
		expect(reorganise).toBeNull()
		await bench.settle()
		const seen = (await bench.posted()).map((one) => [one.message.type, alertOf(one).blockNumber])
		expect(seen).toEqual([['alert.balance', high]])
		// The clock stands: the books do not rest, since no endpoint failed.
		const state = (await bench.store.summary()).networks.get('local')?.seen?.books
		expect(state).toMatchObject({ closedTo: Number(await node.head()), reason: null })
	})

	const held = [
		{ name: 'is still watched: its alert stands', isWatched: true, removed: [] },
		{ name: 'is no longer watched: its alert is taken back', isWatched: false, removed: ['alert.removed'] },
	] as const
	test.each(divided<(typeof held)[number]>(held, ({ isWatched }) => isWatched))(
		'error: replaced while no endpoint gives balances, a crossing of an address that $name',
		async (row) => {
			const node = await startTestAnvil(['--no-mining'])
			let isOut = false
			const gateway = await startDialectGateway(node.url, {
				twist(method) {
					if (!isOut || !['eth_call', 'eth_getBalance'].includes(method)) return undefined
					throw new Refused({ error: { code: -32000, message: 'missing trie node' } })
				},
			})
			const { bench, quiet, before, pay, high } = await crossedBehind(node, gateway)
			isOut = true
			await node.mine()
			await bench.settle()
			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await pay()
			if (!row.isWatched) bench.setWatches([quiet])
			await node.mine(2)
			await bench.settle()
			isOut = false
			bench.pass(40_000)
			await node.mine(20)
			await bench.settle()
			await node.mine()
			await bench.settle()
			const seen = (await bench.posted()).map((one) => [one.message.type, alertOf(one).blockNumber])
			expect(seen).toEqual([['alert.balance', high], ...row.removed.map((type) => [type, high])])
		},
	)
})
