import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matters } from '../../../src/chain/traces/assemble.js'
import { readCalls } from '../../../src/chain/traces/callTracer.js'
import { readPlaced } from '../../../src/chain/traces/parityRows.js'
import { framed, readAll } from '../../../src/chain/traces/readRows.js'
import { treeOfRows } from '../../../src/chain/traces/rowTree.js'
import { framesOf, MOST_DEPTH } from '../../../src/chain/traces/tree.js'
import { effective } from '../../../src/core/events/effective.js'
import type { Frame } from '../../../src/model/chain.js'
import { address, frame, tx } from '../../core/build.js'

const reading = { endpoint: 'node.example', method: 'trace_x' }
const [someone, other] = [address(0xa1a1), address(0xb2b2)]
const identity = address(4)

interface Call {
	type: string
	from: string
	to: string
	value?: string
	calls?: Call[]
}

function call(to: string, calls: Call[] = [], value = '0x0'): Call {
	return { type: 'CALL', from: someone, to, value, calls }
}

function chainOf(depth: number): Call {
	let top = call(other)
	for (let level = 0; level < depth; level++) top = call(other, [top])
	return top
}

function treeOf(paths: readonly (readonly number[])[], subtraces: readonly (number | null)[] = []) {
	const rows = paths.map((traceAddress, at) => ({
		frame: frame({ traceAddress }),
		traceAddress,
		subtraces: subtraces[at] ?? null,
	}))
	return treeOfRows(framed(rows), 'it', reading)
}

describe('a tree out of rows', () => {
	test('default: in any order', async () => {
		const { frames, parents } = await treeOf([[1], [0, 0], [], [0]], [0, 0, 2, 1])
		expect((frames as unknown as Frame[]).map(({ traceAddress }) => traceAddress)).toEqual([[], [0], [0, 0], [1]])
		expect(Array.from(parents)).toEqual([-1, 0, 1, 0])
	})

	test.each([
		['without a root, as Lotus tells it', [[0], [1]], [0, 0], 'it has no root frame'],
		['without a frame above', [[], [0, 0]], [], 'it lacks the frame above 0_0'],
		['with a frame above that is another', [[], [0], [1, 0]], [], 'it lacks the frame above 1_0'],
		['with two frames in one place', [[], [0], [0]], [], 'it has two frames at 0'],
		['with two roots', [[], []], [], 'it has two frames at the root'],
		['that lacks its last leaf', [[], [0], [1]], [3, 0, 0], 'it has 2 frames under the root, and 3 by its own count'],
		['that lacks a leaf deeper', [[], [0]], [1, 1], 'it has 0 frames under 0, and 1 by its own count'],
		['with a leaf too many', [[], [0], [1]], [1, 0, 0], 'it has 2 frames under the root, and 1 by its own count'],
		['with a gap, and no counts', [[], [0], [2]], [], 'it has 2 frames under the root, and numbers that have a gap'],
	] as const)('error: %s it is malformed', async (_, paths, subtraces, message) => {
		await expect(treeOf(paths, subtraces)).rejects.toMatchObject({
			kind: 'malformed',
			message: expect.stringContaining(message),
		})
	})

	test('behavior: without counts the numbers alone are looked at', async () => {
		expect(Array.from((await treeOf([[], [0], [1], [1, 0]])).parents)).toEqual([-1, 0, 0, 2])
	})
})

describe('the frames of a tree', () => {
	const shape = fc.letrec<{ node: { value: bigint; failed: boolean; to: number; below: readonly unknown[] } }>(
		(tie) => ({
			node: fc.record({
				value: fc.bigInt({ min: 0n, max: 2n }),
				failed: fc.boolean(),
				to: fc.constantFrom(1, 4, 0xa1a1, 0xb2b2),
				below: fc.oneof(
					{ depthSize: 'small', withCrossShrink: true },
					fc.constant([]),
					fc.array(tie('node'), { maxLength: 4 }),
				),
			}),
		}),
	).node

	function lay(
		node: { value: bigint; failed: boolean; to: number; below: readonly unknown[] },
		path: number[] = [],
	): Frame[] {
		const own = frame({
			traceAddress: path,
			from: someone,
			to: address(node.to),
			valueWei: node.value,
			error: node.failed ? 'Reverted' : null,
		})
		return [own, ...node.below.flatMap((child, step) => lay(child as typeof node, [...path, step]))]
	}

	test('property: the frames that matter, with all above them, report the same as the whole tree', async () => {
		await fc.assert(
			fc.asyncProperty(shape, async (root) => {
				const rows = lay(root).map((one) => ({ frame: one, traceAddress: one.traceAddress, subtraces: null }))
				const tree = await treeOfRows(framed(rows), 'it', reading)
				const whole = await framesOf(tree)
				const addresses = new Set([other])
				const pruned = await framesOf(tree, (one) => matters(one, addresses))
				const touching = (frames: readonly Frame[]) =>
					[...effective(tx(frames, { succeeded: null }))].filter(({ to }) => to === other)
				expect(touching(pruned)).toEqual(touching(whole))
				const places = new Set(pruned.map(({ traceAddress }) => traceAddress.join('_')))
				for (const { traceAddress } of pruned) {
					if (traceAddress.length > 0) expect(places).toContain(traceAddress.slice(0, -1).join('_'))
				}
			}),
		)
	})

	test('behavior: an address with child frames is not taken for a precompiled contract', async () => {
		const tree = await readCalls(call(other, [call(identity, [call(other)]), call(identity), call(other)]), reading)
		const paths = (await framesOf(tree)).map(({ traceAddress }) => traceAddress)
		expect(paths).toEqual([[], [0], [0, 0], [1]])
	})
})

describe('a hostile tree', () => {
	const many = 20_000
	test(`behavior: ${many} empty calls to precompiles are read in a time that grows with their number`, async () => {
		const calls = Array.from({ length: many }, (_, at) => call(at % 100 === 0 ? other : identity))
		calls.push(call(other, [], '0x7'))
		const tree = await readCalls(call(other, calls), reading)
		expect(tree.frames).toHaveLength(many + 2)
		const whole = await framesOf(tree)
		expect(whole.at(-1)?.traceAddress).toEqual([many / 100])
		const addresses = new Set([other])
		const pruned = await framesOf(tree, (one) => matters(one, addresses))
		expect(pruned.map(({ traceAddress }) => traceAddress)).toEqual([[], [many / 100]])
		expect([...effective(tx(whole))]).toHaveLength(1)
	})

	test('behavior: as rows too, and with thousands of self-destructs among them', async () => {
		const raw = Array.from({ length: 10_000 }, (_, at) => ({
			type: at % 10 === 1 ? 'suicide' : 'call',
			action:
				at % 10 === 1
					? { address: other, refundAddress: someone, balance: '0x1' }
					: { callType: 'call', from: someone, to: other, value: '0x0' },
			error: at % 10 === 2 ? 'Reverted' : undefined,
			result: null,
			subtraces: at === 0 ? 9_999 : 0,
			traceAddress: at === 0 ? [] : [at - 1],
		}))
		const rows = readAll(raw, readPlaced, reading)
		const frames = await framesOf(await treeOfRows(framed(rows), 'it', reading))
		expect([...effective(tx(frames))]).toHaveLength(1_000)
	})

	test('behavior: as deep as nodes can report the EVM, all of it is read', async () => {
		const frames = await framesOf(await readCalls(chainOf(MOST_DEPTH), reading))
		expect(frames).toHaveLength(MOST_DEPTH + 1)
		expect(frames.at(-1)?.traceAddress).toHaveLength(1_026)
	})

	test('error: 40,000 calls deep it is refused before all of it was read', async () => {
		let asked = 0
		let top: object = call(other)
		for (let level = 0; level < 40_000; level++) {
			const below = top
			const get = () => {
				asked++
				return [below]
			}
			top = Object.defineProperty(call(other), 'calls', { get })
		}
		await expect(readCalls(top, reading)).rejects.toMatchObject({
			kind: 'malformed',
			message: expect.stringContaining('calls are nested more than 1026 deep'),
		})
		expect(asked).toBeLessThan(5_000)
	})

	test('error: rows deeper than that are refused', () => {
		const deep = { type: 'call', action: {}, traceAddress: Array.from({ length: 1_027 }, () => 0) }
		const row = { ...deep, action: { callType: 'call', from: someone, to: other, value: '0x0' } }
		expect(() => readAll([row], readPlaced, reading)).toThrow('row 0 stands more than 1026 frames deep')
	})

	test('behavior: the event loop runs after each slice of work', async () => {
		const calls = Array.from({ length: 20_000 }, () => call(identity))
		let isDone = false
		let turns = 0
		const others = (async () => {
			for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve))
		})()
		await framesOf(await readCalls(call(other, calls), reading))
		isDone = true
		await others
		expect(turns).toBeGreaterThan(2)
	})
})
