// Answers of real nodes, read as they come: what JSON.parse gives, less what the shape leaves out. `npm test` reads
// those below 50 kB, the long run the others.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { everything, shapeOfAnswer } from '../../../src/chain/stream/shapes.js'
import { readPlaced } from '../../../src/chain/traces/parityRows.js'
import { readAll } from '../../../src/chain/traces/readRows.js'
import { RpcError } from '../../../src/errors.js'
import { divided, sized } from '../../support/longRun.js'
import { folder, isThere, type Json, readJson, records, rowLists } from '../recorded.js'
import { packed, projected, streamed } from './streamed.js'

const traces = shapeOfAnswer(['trace_block'])
const reading = { endpoint: 'node.example', method: 'trace_block' }

describe.skipIf(!isThere)('recorded answers of real nodes, read as they come', () => {
	const answers = divided(records(), ({ file }) => statSync(join(folder, file)).size < 50_000)

	test('behavior: are what JSON.parse gives, less what the shape leaves out', () => {
		for (const { file, method } of answers) {
			const { response } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { response: unknown }
			const json = JSON.stringify(response)
			const bytes = Buffer.from(json)
			const borders = Array.from({ length: Math.ceil(bytes.length / 997) }, (_, n) => n * 997)
			for (const shape of new Set([everything, shapeOfAnswer([method]), traces])) {
				const made = streamed(bytes, shape, borders)
				const expected = projected(JSON.parse(json), shape)
				// `toEqual` is slow on megabytes, and says where they differ.
				if (!isDeepStrictEqual(made, expected)) expect(made, file).toEqual(expected)
			}
		}
	})

	test('behavior: rows are read to the same when they are packed', () => {
		let count = 0
		for (const { file } of answers) {
			for (const rows of rowLists((readJson(file) as Json).response)) {
				count += rows.length
				const [made, expected] = [outcome(packed(rows)), outcome(rows)]
				if (!isDeepStrictEqual(made, expected)) expect(made, file).toEqual(expected)
			}
		}
		expect(count).toBeGreaterThan(sized(500, 5_000))
	})
})

/** The frames, or the error in words. */
function outcome(rows: unknown): unknown {
	try {
		return readAll(rows, readPlaced, reading)
	} catch (error) {
		return error instanceof RpcError ? [error.kind, error.message] : String(error)
	}
}
