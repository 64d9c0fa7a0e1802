// What a large answer takes of memory, by the count that bounds it: what a hostile node makes dear, and what a stranger
// can really fill a block with.
import { expect, test } from 'vitest'
import { createJsonStream } from '../../../src/chain/stream/jsonStream.js'
import { everything, shapeOfAnswer } from '../../../src/chain/stream/shapes.js'

/** What it takes to read these rows is more than a mebibyte. */
const tooMuch = (rows: string) => {
	const stream = createJsonStream(shapeOfAnswer(['trace_block']), { depth: 100, keptBytes: 2 ** 20 })
	try {
		stream.write(Buffer.from(`{"result":[${rows}]}`))
		return false
	} catch (error) {
		expect((error as Error).message).toContain('MiB of memory')
		return true
	}
}
const steps = (count: number) => Array.from({ length: count }, (_, at) => at).join()

test.each<readonly [string, string]>([
	['numbers where rows should stand', Array(1_800).fill('0').join()],
	['lists where rows should stand', Array(1_800).fill('[]').join()],
	['a list of rows in each row', Array(100).fill('{"result":[]}').join()],
	['a place without end', `{"traceAddress":[${steps(40_000)}]}`],
	[
		'places deeper than calls go',
		Array.from({ length: 30 }, (_, at) => `{"type":"call","traceAddress":[${at},${steps(3_000)}]}`).join(),
	],
])('error: %s count for what they take', (_, rows) => {
	expect(tooMuch(rows)).toBe(true)
})

test('behavior: of contracts made a thousand calls deep, each at its own address, the places are packed', () => {
	const above = steps(1_000)
	const made = Array.from({ length: 250 }, (_, at) => {
		return `{"type":"create","result":{"address":"0x${at}"},"traceAddress":[${above},${at}]}`
	})
	expect(tooMuch(made.join())).toBe(false)
})

test('error: a long text counts for what making it takes', () => {
	const read = (length: number, keptBytes: number) => {
		const stream = createJsonStream(everything, { depth: 10, keptBytes })
		stream.write(Buffer.from('["0x'))
		stream.write(Buffer.from('a'.repeat(length)))
		stream.write(Buffer.from('"]'))
		return stream.end()
	}
	expect(() => read(200_000, 1_000_000)).toThrow('MiB of memory')
	// The longest log that fits 200 million gas (3 a word and words² / 512 for the memory, 8 a byte): 10 MB.
	expect(read(20_000_000, 192 * 2 ** 20)).toEqual([`0x${'a'.repeat(20_000_000)}`])
})
