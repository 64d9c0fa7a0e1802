// Gateways that fail each batch from some size on, in whatever way, and answer single calls: all is told.
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as faults from '../support/faults.js'
import type { Fault } from '../support/faultyNode.js'
import { soaked } from '../support/soak.js'
import { startStrained } from '../support/strained.js'
import { type Life, ride, startLife } from './strain.js'

const kinds = {
	'502': faults.status(502, '<html><title>Bad gateway</title></html>'),
	'503': faults.status(503),
	'413': faults.status(413, 'Request Entity Too Large'),
	'400': faults.status(400, 'Bad Request'),
	'a reset': faults.reset,
	'no answer': faults.hang,
	'a web page': faults.html,
	'an error in place of the list': faults.body({ id: null, error: { code: -32603, message: 'internal error' } }),
} as const satisfies Readonly<Record<string, Fault>>

type Case = readonly [kind: keyof typeof kinds, least: number]
const all = (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((kind) =>
	[2, 3, 10].map((least): Case => [kind, least]),
)

/** Each kind, and each size with some of them. */
const grid = soaked(
	all.filter((_, at) => at % 3 === Math.floor(at / 3) % 3),
	all,
)

let life: Life
beforeAll(async () => {
	life = await startLife(30, 10, 4)
})
afterAll(() => life.close())

test.each(grid)('behavior: %s to each batch of %i and more calls', async (kind, least) => {
	const endpoint = await startStrained(life.url, life.answers)
	const failed: number[] = []
	endpoint.faultOf = (calls) => {
		if (calls < least) return null
		failed.push(calls)
		return kinds[kind]
	}
	const { told } = await ride(life, [endpoint.url], 240_000, { timeoutMs: 400 })
	await endpoint.close()
	expect(told).toEqual(life.due.toSorted())
	// The size is found once, and kept.
	expect(failed.length).toBeGreaterThan(0)
	expect(failed.length).toBeLessThan(endpoint.requests / 4)
})
