// Marks of code: by arithmetic on paper, and what an outsider can make of them.
import { expect, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { bookTableOf, createBookGatherer } from '../../src/state/bookTable.js'
import { freshKey, markOf } from '../../src/state/codeMark.js'

test('default: the upper half of the product modulo 2^64, and a mark stays what it is', () => {
	// 3 * 0x5555555555555556 = 0x10000000000000002; 3 * 0x4000000000000001 = 0xc000000000000003.
	expect(markOf('5555555555555556', 3n)).toBe('00000000')
	expect(markOf('4000000000000001', 3n)).toBe('c0000000')
	// 0x100000001 * 0x00000000abcdef01 = 0xabcdef01abcdef01.
	expect(markOf('00000000abcdef01', 0x100000001n)).toBe('abcdef01')
	expect(markOf('c0de00ff', 0x100000001n)).toBe('c0de00ff')
})

test('default: keys are odd, of 64 bits, and others each time', () => {
	const keys = Array.from({ length: 1_000 }, freshKey)
	expect(new Set(keys).size).toBe(1_000)
	expect(keys.filter((key) => key % 2n !== 1n || key >= 2n ** 64n)).toEqual([])
	expect(keys.filter((key) => key > 2n ** 63n).length).toBeGreaterThan(400)
})

// Cut off or without a key, codes that agree in 4 bytes would be one for everybody.
test('behavior: codes that agree under one key do not under others, be they alike in front or at the end', () => {
	const key = freshKey()
	const mark = markOf('0123456789abcdef', key)
	let other = 0n
	// Neighbours by the inverse of the key share the upper half: what somebody would look for who knew it.
	let inverse = 1n
	for (let n = 0; n < 6; n++) inverse = BigInt.asUintN(64, inverse * (2n - key * inverse))
	for (let step = 1n; step < 8n; step++) {
		other = BigInt.asUintN(64, 0x0123456789abcdefn + step * inverse)
		if (markOf(hex(other), key) === mark) break
	}
	const pairs = [
		['0123456789abcdef', hex(other)],
		['0123456789abcdef', '0123456789abcdee'],
		['0123456789abcdef', 'f123456789abcdef'],
		['0123456789abcdef', '01234567ffffffff'],
	] as const
	expect(markOf(pairs[0][1], key)).toBe(mark)
	const alike = Array.from({ length: 10_000 }, freshKey).flatMap((key) =>
		pairs.filter(([one, other]) => markOf(one, key) === markOf(other, key)),
	)
	expect(alike).toEqual([])
})

test('behavior: books that are put away and taken up again know the code that they were closed with', () => {
	const address: Address = `0x${'11'.repeat(20)}`
	const book = { block: 5n, balanceWei: 9n, movedWei: 0n, code: '0123456789abcdef' }
	const table = bookTableOf(new Map([[address, book]]))
	const gatherer = createBookGatherer()
	for (const piece of table.pieces()) gatherer.add(Buffer.from(piece))
	const again = gatherer.done()
	expect(again.get(address)?.code).toBe(again.markOf('0123456789abcdef'))
	expect(again.get(address)?.code).not.toBe(again.markOf('0123456789abcdee'))
	const later = again.after(new Map([[address, { ...book, code: again.get(address)?.code ?? null }]]))
	expect(later.get(address)).toEqual(again.get(address))
})

test('error: marks of two keys are not held against each other', () => {
	const [one, other] = [1, 2].map((n) => {
		const address: Address = `0x${String(n).repeat(40)}`
		return bookTableOf(new Map([[address, { block: 5n, balanceWei: 9n, movedWei: 0n, code: null }]]))
	})
	const gatherer = createBookGatherer()
	for (const piece of one?.pieces() ?? []) gatherer.add(Buffer.from(piece))
	expect(() => gatherer.add(Buffer.from([...(other?.pieces() ?? [])][0] ?? []))).toThrow('marks of two keys')
})

function hex(number: bigint): string {
	return number.toString(16).padStart(16, '0')
}
