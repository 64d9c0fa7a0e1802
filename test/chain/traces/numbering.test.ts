import { describe, expect, test } from 'vitest'
import { framed } from '../../../src/chain/traces/readRows.js'
import { treeOfRows } from '../../../src/chain/traces/rowTree.js'
import { framesOf } from '../../../src/chain/traces/tree.js'
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

async function paths(frames: readonly Frame[]): Promise<readonly (readonly number[])[]> {
	const rows = frames.map((frame) => ({ frame, traceAddress: frame.traceAddress, subtraces: null }))
	const tree = await treeOfRows(framed(rows), 'it', { endpoint: 'node.example', method: 'trace_x' })
	return (await framesOf(tree)).map(({ traceAddress }) => traceAddress)
}

describe('numbering', () => {
	test('a tree without precompiled contracts stays as it is', async () => {
		const frames = [call([], someone), call([0], someone), call([0, 0], someone), call([1], someone)]
		expect(await paths(frames)).toEqual(frames.map(({ traceAddress }) => traceAddress))
	})

	test('calls to precompiled contracts are left out, and what follows moves up, with all below it', async () => {
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
		expect(await paths(frames)).toEqual([[], [0], [0, 0], [1], [1, 0]])
	})

	test('behavior: a call to a precompiled contract that pays is kept', async () => {
		expect(await paths([call([], someone), call([0], precompiled('4'), { valueWei: 1n }), call([1], someone)])).toEqual(
			[[], [0], [1]],
		)
	})

	test('behavior: a call to a precompiled contract made by the transaction itself is kept', async () => {
		expect(await paths([call([], precompiled('4'))])).toEqual([[]])
	})

	test('behavior: addresses beyond the precompiled ones are kept', async () => {
		const frames = ['0', '12', '101', '10001'].map((number, index) => call([index], precompiled(number)))
		expect(await paths([call([], someone), ...frames])).toHaveLength(5)
	})
})
