import { describe, expect, test } from 'vitest'
import {
	closes,
	deferred,
	movementBetween,
	movementsOf,
	reopened,
	setBack,
	sumsOf,
	withGap,
} from '../../../src/core/ledger/books.js'
import type { Frame, Part, TxTrace } from '../../../src/model/chain.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import type { NetworkState } from '../../../src/model/state.js'

const [a, b, c] = ['0a', '0b', '0c'].map((end) => `0x${end.padStart(40, '0')}` as Address) as [
	Address,
	Address,
	Address,
]
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Hash

function frame(part: Partial<Frame>): Frame {
	const usual = { from: a, to: b, valueWei: 0n, traceAddress: [], error: null, rewardType: null }
	return { type: 'call', callType: part.type === undefined || part.type === 'call' ? 'call' : null, ...usual, ...part }
}

function tx(frames: readonly Frame[], part: Partial<TxTrace> = {}): TxTrace {
	return { txHash: hash(1), txIndex: 0, block: { number: 5n, hash: hash(5) }, succeeded: true, frames, ...part }
}

const moved = (list: readonly TxTrace[], address: Address, from = 0n, to = 100n) =>
	sumsOf(movementBetween(movementsOf(list, new Set([a, b, c])), address, from, to))

describe('movements of a balance', () => {
	test('default: in less out, whatever its size, and the fee of the sender', () => {
		const list = [
			tx([frame({ valueWei: 7n }), frame({ from: b, to: c, valueWei: 2n, traceAddress: [0] })], {
				fee: { payer: a, wei: [100n, 100n] },
			}),
		]
		expect(moved(list, a)).toEqual([-107n])
		expect(moved(list, b)).toEqual([5n])
		expect(moved(list, c)).toEqual([2n])
	})

	test('behavior: of a failed transaction the fee alone', () => {
		const list = [tx([frame({ valueWei: 7n })], { succeeded: false, fee: { payer: a, wei: [100n, 100n] } })]
		expect(moved(list, a)).toEqual([-100n])
		expect(moved(list, b)).toEqual([0n])
	})

	test('behavior: two rules of fees give two sums', () => {
		const list = [tx([frame({ valueWei: 7n })], { fee: { payer: a, wei: [100n, 130n] } })]
		expect(moved(list, a)).toEqual([-107n, -137n])
		const movement = movementBetween(movementsOf(list, new Set([a])), a, 0n, 9n)
		expect(closes(1_000n, movement, 893n)).toBe(true)
		expect(closes(1_000n, movement, 863n)).toBe(true)
		expect(closes(1_000n, movement, 880n)).toBe(false)
	})

	test('behavior: a payment after a self-destruct may be burnt or not: both balances are possible', () => {
		const list = [
			tx([
				frame({ to: c }),
				frame({ from: c, traceAddress: [0] }),
				frame({ type: 'suicide', from: b, to: a, valueWei: 10n, traceAddress: [0, 0] }),
				frame({ from: c, to: b, valueWei: 4n, traceAddress: [1] }),
			]),
		]
		// Alive it has the 4; dead it has nothing.
		expect(moved(list, b)).toEqual([-6n, -10n])
	})

	test('behavior: a contract that leaves its balance to itself may burn it: both balances are possible', () => {
		const list = [tx([frame({ to: c }), frame({ type: 'suicide', from: b, to: b, valueWei: 10n, traceAddress: [0] })])]
		expect(moved(list, b)).toEqual([0n, -10n])
	})

	test('behavior: only blocks of the span count, both ends included', () => {
		const at = (number: bigint) => tx([frame({ valueWei: number })], { block: { number, hash: hash(Number(number)) } })
		const list = [at(4n), at(5n), at(6n), at(7n)]
		expect(moved(list, b, 5n, 6n)).toEqual([11n])
	})

	test('behavior: movements that wait to be proved add up', () => {
		const book = { block: 3n, balanceWei: 50n, movedWei: 1n }
		const movement = movementBetween(movementsOf([tx([frame({ valueWei: 7n })])], new Set([b])), b, 0n, 9n)
		expect(deferred(book, movement, 9n)).toEqual({ block: 3n, balanceWei: 50n, movedWei: 8n })
		expect(deferred({ ...book, movedAt: 3n }, movement, 9n)).toMatchObject({ movedWei: 8n, movedAt: 9n })
	})

	test.each([
		['closed later, moved before it', { block: 9n, movedWei: 0n, movedAt: 5n }, 5n],
		['closed before it', { block: 4n, movedWei: 7n, movedAt: 5n }, 4n],
		['moved after it', { block: 9n, movedWei: 0n, movedAt: 6n }, null],
		['not known when it moved', { block: 9n, movedWei: 0n }, null],
	])('behavior: set back to block 5: %s', (_, part, block) => {
		const book = { balanceWei: 50n, ...part }
		expect(setBack(book, 5n)).toEqual(block === null ? null : { ...book, block })
	})

	test('behavior: a reorganisation opens anew each book that has taken in a block which left the chain', () => {
		const books = new Map([
			[a, { block: 4n, balanceWei: 50n, movedWei: 7n, movedAt: 6n }],
			[b, { block: 6n, balanceWei: 50n, movedWei: 0n, movedAt: 6n }],
			[c, { block: 4n, balanceWei: 50n, movedWei: 0n, movedAt: 4n }],
		])
		const changed = reopened(books, { number: 5n, hash: hash(5) })
		expect([...changed]).toEqual([
			[a, null],
			[b, null],
		])
	})

	test('behavior: movements in a gap go into the books closed before its block, and into no other', () => {
		const book = (block: bigint) => ({ block, balanceWei: 50n, movedWei: 0n })
		const books = new Map([
			[a, book(4n)],
			[b, book(5n)],
		])
		const gaps = new Map([[5n, { readAtMs: 1 }]])
		const part = { transactions: [tx([frame({ valueWei: 7n })])] }
		const changed = withGap({ books, gaps } as unknown as NetworkState, part as unknown as Part)
		expect([...changed]).toEqual([[a, { ...book(4n), movedWei: -7n }]])
	})
})
