// The list of withdrawals against the root that the header names it by.
import { expect, onTestFinished, test } from 'vitest'
import {
	needWithdrawals,
	unreadWithdrawals,
	withdrawalListsOf,
	withdrawalsRootOf,
} from '../../../src/chain/blocks/withdrawals.js'
import { emptyRoot } from '../../../src/chain/wire/listRoot.js'
import { readBlock } from '../../../src/chain/wire/wire.js'
import type { Withdrawal } from '../../../src/model/chain.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import { alertOf, openBench, watchOf } from '../../scan/bench.js'
import { hex, startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { hideTransactions } from '../../support/hiding.js'

// Block 18,000,000 of Ethereum, as its header and body say: sixteen to one address, of consecutive validators.
const root: Hash = '0x5362ee94b61e8cef92bf61353e62744b4fe6d1f2482aade614054527e6d5de7d'
const to: Address = '0xd7a0b38496064412a8d6b1f77bc30ada93e7b7a5'
const gwei = [
	15404368, 15408336, 15448248, 15445734, 15429114, 15377507, 15423838, 15435582, 15421046, 15380338, 15391870,
	15421317, 53742166, 15454280, 15429737, 15409760,
]
const paid = gwei.map((amount, at): Withdrawal => {
	const [index, validatorIndex] = [15_440_780n + BigInt(at), 673_611n + BigInt(at)]
	return { index, validatorIndex, address: to, wei: BigInt(amount) * 10n ** 9n }
})

test('default: the root of a block of Ethereum, and of none', () => {
	expect(withdrawalsRootOf(paid)).toBe(root)
	expect(withdrawalsRootOf([])).toBe(emptyRoot)
})

test.each([
	['one hidden', paid.slice(1)],
	['one more', [...paid, { ...(paid[0] as Withdrawal), index: 15_440_796n }]],
	['another amount', paid.map((one, at) => (at === 3 ? { ...one, wei: one.wei + 10n ** 9n } : one))],
	['another address', paid.map((one, at) => (at === 3 ? { ...one, address: `0x${'ab'.repeat(20)}` as Address } : one))],
	['another order', paid.toReversed()],
	['all hidden', []],
])('error: %s is not believed', (_name, withdrawals) => {
	expect(() => needWithdrawals(withdrawalListsOf(1), headerWith(withdrawals), 'here')).toThrow(
		'the withdrawals of block 18000000 do not make the root in its header',
	)
	// Of a chain whose roots are not known to be made like this nothing is checked against it.
	needWithdrawals(withdrawalListsOf(10), headerWith(withdrawals), 'here')
})

test('behavior: on other chains one list that fits is enough to hold the others to it', () => {
	const lists = withdrawalListsOf(999)
	needWithdrawals(lists, headerWith([]), 'here')
	expect(lists).toEqual({ areCoins: true, rootsFit: false, mayBePaid: false })
	needWithdrawals(lists, headerWith(paid), 'here')
	expect(lists).toEqual({ areCoins: true, rootsFit: true, mayBePaid: true })
	expect(() => needWithdrawals(lists, headerWith([]), 'here')).toThrow('do not make the root in its header')
})

test.each([
	['null', null],
	['absent', undefined],
])(
	'behavior: a list that is %s beside the root of another list is not taken for an empty one',
	(_name, withdrawals) => {
		const known = withdrawalListsOf(1)
		const unread = (more: object) => {
			const last = headerWith([], { withdrawals, ...more })
			const [blocks, span] = [new Map([[last.number, last]]), { from: last.number, to: last.number }]
			return unreadWithdrawals(known, { span, last, blocks, transactions: [] }).map(({ number }) => number)
		}
		expect(unread({})).toEqual([18_000_000n])
		expect(unread({ withdrawalsRoot: emptyRoot })).toEqual([])
		expect(unread({ withdrawalsRoot: undefined })).toEqual([])
	},
)

function headerWith(withdrawals: readonly Withdrawal[], more: object = {}) {
	const raw = {
		number: '0x112a880',
		hash: `0x${'1'.repeat(64)}`,
		parentHash: `0x${'2'.repeat(64)}`,
		timestamp: '0x64ea268f',
		transactions: [],
		withdrawalsRoot: root,
		withdrawals: withdrawals.map(({ index, validatorIndex, address, wei }) => {
			return { index: hex(index), validatorIndex: hex(validatorIndex), address, amount: hex(wei / 10n ** 9n) }
		}),
		...more,
	}
	const header = readBlock(raw, { endpoint: 'here', method: 'eth_getBlockByNumber' })
	if (header === null) throw new Error('no header')
	return header
}

test.each([1, 2])(
	'behavior: %i endpoint(s), one hides a withdrawal: found, or reported with its exact amount',
	async (count) => {
		const watched: Address = '0x00000000000000000000000000000000000c0fee'
		const other: Address = '0x00000000000000000000000000000000000abcde'
		const node = await startTestAnvil(['--no-mining'])
		const lists = new Map<bigint, readonly Withdrawal[]>()
		const hides = { now: false }
		// Anvil pays no withdrawals: transactions that no one tells of stand for them.
		const { dialect: silent, hide } = hideTransactions()
		const twist = (isHiding: boolean) => (method: string, params: readonly unknown[], told: unknown) => {
			const result = silent.twist?.(method, params, told) ?? told
			if (method !== 'eth_getBlockByNumber' || typeof result !== 'object' || result === null) return result
			const all = lists.get(BigInt((result as { number: string }).number)) ?? []
			const said = isHiding && hides.now ? all.filter(({ address }) => address !== watched) : all
			const withdrawals = said.map(({ index, validatorIndex, address, wei }) => {
				return { index: hex(index), validatorIndex: hex(validatorIndex), address, amount: hex(wei / 10n ** 9n) }
			})
			return { ...result, withdrawals, withdrawalsRoot: withdrawalsRootOf(all) }
		}
		const dialects = [true, false].slice(0, count).map((isHiding) => ({ ...silent, twist: twist(isHiding) }))
		const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(node.url, dialect)))
		const bench = await openBench({ urls: gateways.map(({ url }) => url), watches: [watchOf(watched)] })
		onTestFinished(async () => {
			await bench.close()
			for (const gateway of gateways) await gateway.close()
			await node.stop()
		})
		await node.mine(2)
		await bench.settle()
		const [rich] = (await node.accounts()) as [Address]
		async function pay(wei: bigint): Promise<bigint> {
			const block = (await node.head()) + 1n
			lists.set(block, [
				{ index: block * 2n, validatorIndex: 42n, address: other, wei: 10n ** 9n },
				{ index: block * 2n + 1n, validatorIndex: 43n, address: watched, wei },
			])
			hide(await node.send({ from: rich, to: watched, valueWei: wei, gas: 21_000n }))
			return await node.mine()
		}
		await pay(17n * 10n ** 9n)
		await bench.settle()
		hides.now = true
		const block = await pay(18n * 10n ** 9n)
		const told = async (type: string) =>
			(await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
		if (count === 1) {
			await bench.settle()
			const gaps = (await bench.posted()).filter(({ message }) => message.type === 'system.gap')
			expect(gaps.map(({ message }) => message.data)).toMatchObject([
				{
					fromBlock: Number(block),
					reason: expect.stringContaining(`withdrawals of block ${block} do not make the root in its header`),
				},
			])
			expect(await told('alert.unexplained')).toEqual([])
			// Of a node that hides the root as well, the books say what is missing.
			const [gateway] = gateways
			const hiding = twist(true)
			if (gateway !== undefined)
				gateway.dialect = {
					...silent,
					twist(method, params, result) {
						const told = hiding(method, params, result)
						if (method !== 'eth_getBlockByNumber' || told === null) return told
						return { ...(told as object), withdrawalsRoot: undefined }
					},
				}
			bench.pass(600_000)
			await bench.settle()
			// The books go on with the next block.
			await node.mine(1)
			await bench.settle()
			expect(await told('alert.unexplained')).toMatchObject([
				{ fromBlock: Number(block), toBlock: Number(block), differenceWei: String(18n * 10n ** 9n) },
			])
			expect(await told('alert.withdrawal')).toHaveLength(1)
			return
		}
		await bench.settle()
		expect(await told('alert.unexplained')).toEqual([])
		expect((await told('alert.withdrawal')).map(({ valueWei }) => valueWei)).toEqual(['17000000000', '18000000000'])
	},
)
