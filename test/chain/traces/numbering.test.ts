import { describe, expect, test } from 'vitest'
import { renumber } from '../../../src/chain/traces/numbering.js'
import type { Frame } from '../../../src/model/chain.js'
import type { Address } from '../../../src/model/glossary.js'

const someone: Address = '0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1'
const precompiled = (number: string): Address => `0x${number.padStart(40, '0')}`

function call(traceAddress: readonly number[], to: Address, part: Partial<Frame> = {}): Frame {
	return {
		type: 'call',
		callType: 'call',
		from: someone,
		to,
		valueWei: 0n,
		traceAddress,
		error: null,
		rewardType: null,
		...part,
	}
}

function paths(frames: readonly Frame[]): readonly (readonly number[])[] {
	return renumber(frames).map(({ traceAddress }) => traceAddress)
}

describe('numbering', () => {
	test('a tree without precompiled contracts stays as it is', () => {
		const frames = [call([], someone), call([0], someone), call([0, 0], someone), call([1], someone)]
		expect(renumber(frames)).toBe(frames)
	})

	test('calls to precompiled contracts are left out, and what follows moves up, with all below it', () => {
		const frames = [
			call([], someone),
			call([0], precompiled('1'), { callType: 'staticcall' }),
			call([1], someone),
			call([1, 0], precompiled('4')),
			call([1, 1], someone),
			call([2], precompiled('100'), { callType: 'delegatecall', valueWei: 5n }),
			call([3], someone),
			call([3, 0], someone),
		]
		expect(paths(frames)).toEqual([[], [0], [0, 0], [1], [1, 0]])
	})

	test('behavior: one that is paid is kept', () => {
		expect(paths([call([], someone), call([0], precompiled('4'), { valueWei: 1n }), call([1], someone)])).toEqual([
			[],
			[0],
			[1],
		])
	})

	test('behavior: one that a transaction calls itself is kept', () => {
		expect(paths([call([], precompiled('4'))])).toEqual([[]])
	})

	test('behavior: addresses beyond the precompiled ones are kept', () => {
		const frames = ['0', '12', '101', '10001'].map((number, index) => call([index], precompiled(number)))
		expect(paths([call([], someone), ...frames])).toHaveLength(5)
	})
})
