// Inputs are the longest part of a trace: of a large answer only those are kept that a kind reads, and whole only while
// there is room for them.
import { expect, test } from 'vitest'
import { createJsonStream } from '../../../src/chain/stream/jsonStream.js'
import { isRowList, type RowList } from '../../../src/chain/stream/rowList.js'
import { shapeOfAnswer } from '../../../src/chain/stream/shapes.js'

const limits = { depth: 64, keptBytes: 192 * 1024 * 1024 }
const asked = '0x00000961Ef480Eb55e80D19ad83579A64c007002'
const stranger = `0x${'5'.repeat(40)}`
const chunkBytes = 65_536

function rowsOf(inputs: readonly { readonly to: string; readonly input: string }[]): RowList {
	const result = inputs.map(({ to, input }, at) => ({
		action: { from: stranger, callType: 'call', input, to, value: '0x1' },
		traceAddress: [at],
		subtraces: 0,
		type: 'call',
	}))
	const stream = createJsonStream(shapeOfAnswer(['trace_block']), limits)
	const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
	for (let at = 0; at < bytes.length; at += chunkBytes) stream.write(bytes.subarray(at, at + chunkBytes))
	const { result: rows } = stream.end() as { readonly result: unknown }
	if (!isRowList(rows)) throw new Error('rows were expected')
	return rows
}

const inputAt = (rows: RowList, index: number) =>
	(rows.at(index) as { readonly action: { readonly input?: string } }).action.input

test('default: only the inputs of calls to the contracts that take requests are kept', () => {
	const rows = rowsOf([
		{ to: asked, input: '0xaa' },
		{ to: stranger, input: '0xbb' },
		{ to: asked.toLowerCase(), input: '0xcc' },
	])
	expect([0, 1, 2].map((index) => inputAt(rows, index))).toEqual(['0xaa', undefined, '0xcc'])
})

test('behavior: after 32 MiB of inputs only the beginnings of further ones are kept', () => {
	const long = (at: number) => `0x${String(at).padStart(8, '0')}${'e'.repeat(32_000)}`
	const inputs = Array.from({ length: 1_200 }, (_, at) => ({ to: asked, input: long(at) }))
	const rows = rowsOf([...inputs, { to: asked, input: `0x${'7'.repeat(192)}` }])
	expect(inputAt(rows, 900)).toBe(long(900))
	expect(inputAt(rows, 1_199)).toBe(`${long(1_199).slice(0, 194)}…`)
	expect(inputAt(rows, 1_200)).toBe(`0x${'7'.repeat(192)}`)
})

test('behavior: an input above 16 KiB is cut', () => {
	const [kept = ''] = [inputAt(rowsOf([{ to: asked, input: `0x${'ab'.repeat(100_000)}` }]), 0)]
	expect(kept.length).toBe(2 + 2 * 16_384 + 1)
})
