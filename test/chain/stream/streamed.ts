/** JSON read as a stream, and what the same would be if all of it were read at once. */
import { createJsonStream } from '../../../src/chain/stream/jsonStream.js'
import { isRowList, type RowList } from '../../../src/chain/stream/rowList.js'
import { type Shape, shapeOfAnswer } from '../../../src/chain/stream/shapes.js'
import { isObject } from '../recorded.js'

export const limits = { depth: 2_000, keptBytes: 64 * 1024 * 1024 }

/** What a shape leaves of a value, worked out on the whole of it. */
export function projected(value: unknown, shape: Shape): unknown {
	if (typeof value === 'string') return value.slice(0, shape.longestText)
	if (Array.isArray(value)) return value.map((one) => projected(one, shape.rows ?? shape))
	if (!isObject(value)) return value
	const kept: [string, unknown][] = []
	for (const [key, member] of Object.entries(value)) {
		const inner = shape.of(key)
		const isInput = key === 'input' && shape.keepsInput !== undefined
		if (isInput && !(typeof member === 'string' && shape.keepsInput?.(value.from, value.to))) continue
		if (inner !== null) kept.push([key, projected(member, inner)])
	}
	return Object.fromEntries(kept)
}

export function streamed(bytes: Buffer, shape: Shape, borders: readonly number[]): unknown {
	const stream = createJsonStream(shape, limits)
	const cuts = [...new Set(borders.map((border) => border % (bytes.length + 1)))].sort((a, b) => a - b)
	let from = 0
	for (const to of [...cuts, bytes.length]) {
		stream.write(bytes.subarray(from, to))
		from = to
	}
	return unpacked(stream.end())
}

/** With lists in the place of packed rows. */
export function unpacked(made: unknown): unknown {
	if (isRowList(made)) return Array.from({ length: made.length }, (_, at) => unpacked(made.at(at)))
	if (Array.isArray(made)) return made.map(unpacked)
	if (!isObject(made)) return made
	return Object.fromEntries(Object.entries(made).map(([key, member]) => [key, unpacked(member)]))
}

/** Rows as the answer to a call of these methods; they must come packed. */
export function packed(rows: unknown, methods: readonly string[] = ['trace_block']): RowList {
	const stream = createJsonStream(shapeOfAnswer(methods), limits)
	const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: rows }))
	for (let at = 0; at < bytes.length; at += 1_000) stream.write(bytes.subarray(at, at + 1_000))
	const { result } = stream.end() as { result: unknown }
	if (!isRowList(result)) throw new Error('the list was not packed')
	return result
}
