// Rows of a large answer are packed while they come. Whoever reads them must see what JSON.parse would have given.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRows } from '../../../src/chain/sources/completeHits.js'
import { scanBlock } from '../../../src/chain/sources/scanBlock.js'
import { createJsonStream } from '../../../src/chain/stream/jsonStream.js'
import type { RowList } from '../../../src/chain/stream/rowList.js'
import { shapeOfAnswer } from '../../../src/chain/stream/shapes.js'
import { readPlaced } from '../../../src/chain/traces/parityRows.js'
import { listed, readAll } from '../../../src/chain/traces/readRows.js'
import type { Header } from '../../../src/chain/wire/wire.js'
import { RpcError } from '../../../src/errors.js'
import type { Address, Hash } from '../../../src/model/glossary.js'
import type { Json } from '../recorded.js'
import { limits, packed } from './streamed.js'

const reading = { endpoint: 'node.example', method: 'trace_block' }
/** What comes of it, or the error in words. */
async function outcome(run: () => unknown): Promise<unknown> {
	try {
		return await run()
	} catch (error) {
		return error instanceof RpcError ? [error.kind, error.message] : String(error)
	}
}

const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const hashOf = (n: number): Hash => `0x${n.toString(16).padStart(64, 'a')}`

const place = fc.oneof(
	{ weight: 12, arbitrary: fc.array(fc.nat(2), { maxLength: 3 }) },
	{ weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, 'x', [-1], [0.5], ['0x1'], [null], [2 ** 32], {}) },
	{ weight: 1, arbitrary: fc.constant(Array.from({ length: 1_027 }, () => 0)) },
)
const row = fc.record(
	{
		type: fc.constantFrom<unknown>('call', 'call', 'call', 'create', 'suicide', 'reward', 'new', 7),
		action: fc.oneof(
			{
				weight: 9,
				arbitrary: fc.record({
					callType: fc.constantFrom<unknown>('call', 'delegatecall', 'other', null),
					from: fc.constantFrom<unknown>(addressOf(1), addressOf(2), addressOf(2).toUpperCase(), null),
					to: fc.constantFrom(addressOf(3), addressOf(1)),
					value: fc.constantFrom<unknown>('0x0', '0x1', 1, -0, null),
					author: fc.constantFrom(addressOf(1), addressOf(9)),
					address: fc.constant(addressOf(1)),
					refundAddress: fc.constant(addressOf(3)),
					balance: fc.constant('0x2'),
				}),
			},
			{ weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'x', { from: [addressOf(1)] }) },
		),
		result: fc.constantFrom<unknown>(null, {}, { address: addressOf(3) }, []),
		error: fc.constantFrom<unknown>(undefined, undefined, undefined, 'Reverted', '', { message: 'x' }),
		subtraces: fc.constantFrom<unknown>(0, 0, 1, 2, -0, undefined, null, '0x1', -1, 2 ** 32 - 1),
		traceAddress: place,
		blockNumber: fc.constantFrom<unknown>(7, 7, 7, '0x7', 8),
		blockHash: fc.constantFrom<unknown>(hashOf(7), hashOf(7), hashOf(7), hashOf(8), null),
		transactionHash: fc.constantFrom<unknown>(hashOf(1), hashOf(2), null),
		transactionPosition: fc.constantFrom(0, 1),
	},
	{ noNullPrototype: true },
)
const block = { number: 7n, hash: hashOf(7), txHashes: [hashOf(1), hashOf(2)], difficulty: 3n } as unknown as Header
const watched = new Set([addressOf(1)])

describe('packed rows', () => {
	test('property: are those of JSON.parse, whatever stands in them', () => {
		fc.assert(
			fc.property(
				fc.array(fc.oneof({ weight: 9, arbitrary: row }, { weight: 1, arbitrary: fc.jsonValue() })),
				(rows) => {
					const plain = JSON.parse(JSON.stringify({ rows })).rows as unknown[]
					const list = packed(plain)
					expect(list.length).toBe(plain.length)
					for (const [at, one] of plain.entries()) {
						if (typeof one !== 'object' || one === null || !('blockHash' in one)) continue
						const found = list.at(at) as Json
						for (const name of ['type', 'subtraces', 'traceAddress', 'blockNumber', 'transactionHash']) {
							expect(found[name]).toEqual((one as Json)[name])
						}
					}
				},
			),
			{ numRuns: 20 },
		)
	})

	test('property: are read to the same, or refused with the same words', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(row, { maxLength: 6 }), async (rows) => {
				const plain = () => JSON.parse(JSON.stringify(rows)) as unknown[]
				for (const read of [
					(raw: unknown) => scanBlock(raw, block, { addresses: watched }, reading),
					async (raw: unknown) => listed(await readRows(raw, reading)),
					(raw: unknown) => readAll(raw, readPlaced, reading),
				]) {
					expect(await outcome(() => read(packed(plain())))).toEqual(await outcome(() => read(plain())))
				}
			}),
			{ numRuns: 30 },
		)
	})

	test('behavior: rows that differ only in place and sides are kept once', () => {
		const rowAt = (at: number, from: Address, to: Address) => ({
			type: 'call',
			action: { callType: 'call', from, to, value: '0x0', gas: `0x${at.toString(16)}`, input: '0x' },
			result: { gasUsed: `0x${at}`, output: '0x' },
			blockNumber: 7,
			blockHash: hashOf(7),
			transactionHash: hashOf(1),
			subtraces: 0,
			traceAddress: [at],
		})
		const sidesOf = (at: number): [Address, Address] => [addressOf(at % 50), addressOf(100 + (at % 60))]
		const rows = Array.from({ length: 3_000 }, (_, at) => rowAt(at, ...sidesOf(at)))
		// Alone, and beside headers.
		for (const methods of [['trace_block'], ['eth_getBlockByNumber', 'trace_block']]) {
			const list = packed(rows, methods)
			expect(new Set(rows.map((_, at) => list.contentAt(at)))).toEqual(new Set([0]))
			expect(rows.map((_, at) => list.pathAt(at)[0])).toEqual(rows.map((_, at) => at))
			const sideOf = (at: number, name: 'from' | 'to') => list.side(list.sideAt(at, name))
			expect(rows.map((_, at) => [sideOf(at, 'from'), sideOf(at, 'to')])).toEqual(rows.map((_, at) => sidesOf(at)))
		}
	})

	test('behavior: a transaction of 30,000 rows is read whole', async () => {
		const rowAt = (at: number) => ({
			type: 'call',
			action: { callType: 'call', from: addressOf(2), to: addressOf(1), value: '0x1' },
			blockNumber: 7,
			blockHash: hashOf(7),
			transactionHash: hashOf(1),
			subtraces: at === 0 ? 29_999 : 0,
			traceAddress: at === 0 ? [] : [at - 1],
		})
		const rows = Array.from({ length: 30_000 }, (_, at) => rowAt(at))
		const { hits } = await scanBlock(packed(rows), block, { addresses: watched }, reading)
		expect(hits[0]?.frames).toHaveLength(30_000)
	})

	test('error: a payment without a call type is refused, also after an equal row that moves nothing', async () => {
		const rows = ['0x0', '0xde0b6b3a7640000'].map((value, at) => ({
			type: 'call',
			action: { from: addressOf(2), to: addressOf(1), value },
			subtraces: 0,
			traceAddress: [at],
		}))
		for (const read of [rows, packed(rows)]) {
			const [kind, message] = (await outcome(() => readAll(read, readPlaced, reading))) as readonly unknown[]
			expect(kind).toBe('malformed')
			expect(message).toContain('row 1: a call of 1000000000000000000 wei says no call type')
		}
	})

	test('error: rows whose places are in no form that is packed count for what they take', () => {
		const rows = Array.from({ length: 2_000 }, () => ({ type: 'call', action: {}, traceAddress: ['0x1'] }))
		const bytes = Buffer.from(JSON.stringify({ result: rows }))
		const stream = createJsonStream(shapeOfAnswer(['trace_block']), { depth: 100, keptBytes: 2 ** 20 })
		expect(() => stream.write(bytes)).toThrow('MiB of memory')
	})

	test('error: failures that all differ, as only a hostile node reports them, count for what they take', () => {
		const rows = (error: (at: number) => string) =>
			Array.from({ length: 2_000 }, (_, at) => {
				return { type: 'call', action: {}, error: error(at), traceAddress: [at], subtraces: 0 }
			})
		const read = (all: readonly unknown[]) => {
			const stream = createJsonStream(shapeOfAnswer(['trace_block']), { depth: 100, keptBytes: 2 ** 20 })
			stream.write(Buffer.from(JSON.stringify({ result: all })))
		}
		expect(() => read(rows((at) => `${at}`))).toThrow('MiB of memory')
		expect(() => read(rows((at) => `opcode ${at % 256}`))).not.toThrow()
	})

	test('error: long texts where parties should stand count for what they take', () => {
		const rows = Array.from({ length: 400 }, (_, at) => {
			return { type: 'call', action: { from: `${at}`.padEnd(5_000, 'x') }, traceAddress: [at], subtraces: 0 }
		})
		const stream = createJsonStream(shapeOfAnswer(['trace_block']), { depth: 100, keptBytes: 2 ** 20 })
		expect(() => stream.write(Buffer.from(JSON.stringify({ result: rows })))).toThrow('MiB of memory')
	})

	test('behavior: an action, or a side of it, that comes twice is what came last', () => {
		const rowOf = (action: string) => `{"type":"call","action":${action},"traceAddress":[],"subtraces":0}`
		const [one, two] = ['{"from":"0x1","to":"0x2"}', '{"from":"0x3","from":null,"value":5,"value":"0x6"}']
		const rows = [one, two, `${one},"action":${two}`, `${two},"action":7`, `7,"action":${one}`, one].map(rowOf)
		const json = `{"result":[${rows}]}`
		const stream = createJsonStream(shapeOfAnswer(['trace_block']), limits)
		stream.write(Buffer.from(json))
		const { result } = stream.end() as { result: RowList }
		expect(rows.map((_, at) => result.at(at))).toEqual(JSON.parse(json).result)
	})

	test('property: places are what they were, whatever order they come and are asked in', () => {
		const path = fc.oneof(fc.array(fc.nat(2), { maxLength: 4 }), fc.constant(Array.from({ length: 90 }, () => 1)))
		const asked = fc.array(fc.nat(199), { maxLength: 300 })
		fc.assert(
			fc.property(fc.array(path, { minLength: 1, maxLength: 200 }), asked, (paths, places) => {
				const list = packed(paths.map((traceAddress) => ({ type: 'call', action: {}, traceAddress })))
				for (const place of [...paths.keys(), ...places.map((at) => at % paths.length)]) {
					expect(list.pathAt(place)).toEqual(paths[place])
					expect(list.depthAt(place)).toBe(paths[place]?.length)
				}
			}),
			{ numRuns: 20 },
		)
	})
})
