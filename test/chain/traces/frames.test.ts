// Small answers of our own writing, each for one fact about nodes.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { shapeOfAnswer } from '../../../src/chain/stream/shapes.js'
import { frameOf, readRow } from '../../../src/chain/traces/parityRows.js'
import { readAll } from '../../../src/chain/traces/readRows.js'
import { RpcError } from '../../../src/errors.js'
import type { Frame } from '../../../src/model/chain.js'
import { flattened } from '../flattened.js'
import { streamed } from '../stream/streamed.js'

interface Case {
	readonly fact: string
	readonly read: 'rows' | 'calls'
	readonly raw: unknown
	/** Amounts as decimal text. */
	readonly frames?: readonly unknown[]
	readonly malformed?: string
	readonly unknown?: readonly string[]
}

const folder = new URL('../../fixtures/frames/', import.meta.url)
const cases = readdirSync(folder).map((name) => {
	const one = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Case
	return [name.replace('.json', ''), one.fact, one] as const
})

async function read({ read, raw }: Case, unknown: string[]): Promise<readonly Frame[]> {
	const reading = { endpoint: 'node.example', method: 'trace_x', onUnknown: (type: string) => void unknown.push(type) }
	if (read === 'calls') return flattened(raw, reading)
	return readAll(raw, readRow, reading).map(frameOf)
}

describe('frames', () => {
	test.each(cases.filter(([, , { frames }]) => frames !== undefined))('%s: %s', async (_name, _fact, one) => {
		const unknown: string[] = []
		const frames = (await read(one, unknown)).map((frame) => ({ ...frame, valueWei: frame.valueWei.toString() }))
		expect(frames).toEqual(one.frames)
		if (one.unknown !== undefined) expect(unknown).toEqual(one.unknown)
	})

	test.each(cases.filter(([, , { frames }]) => frames !== undefined))(
		'behavior: %s: the same in a large answer, but for the words of a failure',
		async (_name, _fact, one) => {
			const shape = shapeOfAnswer([one.read === 'calls' ? 'debug_traceTransaction' : 'trace_block'])
			const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: one.raw }))
			const { result } = streamed(bytes, shape, [bytes.length >> 1]) as { readonly result: unknown }
			const ended = (frames: readonly Frame[]) => frames.map((frame) => ({ ...frame, error: frame.error !== null }))
			expect(ended(await read({ ...one, raw: result }, []))).toEqual(ended(await read(one, [])))
		},
	)

	test.each(cases.filter(([, , { malformed }]) => malformed !== undefined))(
		'error: %s: %s',
		async (_name, _fact, one) => {
			let error: unknown = null
			try {
				await read(one, [])
			} catch (thrown) {
				error = thrown
			}
			expect(error).toBeInstanceOf(RpcError)
			const { kind, facts, message } = error as RpcError
			expect([kind, facts.endpoint, facts.method]).toEqual(['malformed', 'node.example', 'trace_x'])
			expect(message).toContain(one.malformed)
		},
	)
})
