// The code that contracts ran in recorded answers of real nodes, judged as test/fixtures/foreignCode.txt expects it.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { frameOf, readPlaced } from '../../src/chain/traces/parityRows.js'
import { readAll } from '../../src/chain/traces/readRows.js'
import { type CodeKnowledge, judgeCode } from '../../src/core/events/foreignCode.js'
import type { Frame } from '../../src/model/chain.js'
import { flattened } from './flattened.js'
import { callRoots, isObject, isThere, type Json, readJson, records, rowLists } from './recorded.js'

const reading = { endpoint: 'recorded', method: 'recorded', calls: { has: () => true, isReported: () => true } }

/** By answer, then by transaction: `path:letter` of each frame. */
const expected = new Map<string, Map<string, readonly string[]>>()
for (const line of readFileSync(new URL('../fixtures/foreignCode.txt', import.meta.url), 'utf8').split('\n')) {
	if (line === '' || line.startsWith('#')) continue
	const [name = '', ...places] = line.trim().split(' ')
	if (!line.startsWith(' ')) expected.set(name, new Map())
	else [...expected.values()].at(-1)?.set(name, places)
}

/** All code is there, and none of it is known. */
const nothing: CodeKnowledge = {
	asks: () => true,
	codeAt: () => ({ hash: `0x${'11'.repeat(32)}`, delegate: null, constants: new Set() }),
	goneAt: () => null,
	hasPlace: () => false,
	isInPlace: () => false,
	singletonOf: () => null,
	learnt: () => [],
}
const letters: Readonly<Record<string, string>> = { forwarded: 'c', caller: 'd', pair: 'e' }

/** The delegatecalls of a transaction as `path:letter`; without a letter where nothing is judged. */
function judged(frames: readonly Frame[]): readonly string[] {
	const tx = { txHash: null, txIndex: null, block: { number: 0n, hash: '0x' as const }, succeeded: null, frames }
	const rules = new Map([...judgeCode(tx, nothing)].map(({ traceAddress, rule }) => [traceAddress.join('_'), rule]))
	const borrowed = frames.filter(({ callType }) => callType === 'delegatecall' || callType === 'callcode')
	return borrowed.map(({ traceAddress }) => {
		const place = traceAddress.join('_')
		return `${place === '' ? 'root' : place}:${letters[rules.get(place) ?? ''] ?? ''}`
	})
}

/** Each transaction of an answer, by the beginning of its hash, or by its place. */
async function transactionsOf(response: unknown): Promise<readonly (readonly [string, readonly Frame[]])[]> {
	const found: [unknown, readonly Frame[]][] = []
	for (const [hash, value] of hashedParts(response)) {
		const byHash = new Map<unknown, Json[]>()
		for (const row of rowLists(value).flat()) {
			const own = row.transactionHash ?? hash
			byHash.set(own, [...(byHash.get(own) ?? []), row])
		}
		for (const [own, rows] of byHash) found.push([own, readAll(rows, readPlaced, reading).map(frameOf)])
		for (const root of callRoots(value)) found.push([hash, await flattened(root, reading)])
	}
	return found.map(([hash, frames], at) => [typeof hash === 'string' ? hash.slice(0, 10) : `#${at}`, frames])
}

/** The parts of an answer that have a hash of their own: of replayed transactions and of geth's trees. */
function hashedParts(value: unknown): readonly (readonly [unknown, unknown])[] {
	const own = isObject(value) && 'result' in value && !('trace' in value) ? value.result : value
	const isPart = (part: unknown) => isObject(part) && !isObject(part.action) && ('trace' in part || 'result' in part)
	const parts = Array.isArray(own) && own.some(isPart) ? own : [own]
	return parts.map((part) => [isObject(part) ? (part.transactionHash ?? part.txHash) : undefined, part])
}

describe.skipIf(!isThere)('code that contracts ran, in recorded answers of real nodes', () => {
	test('each is judged as it was read by hand, with nothing known of the codes', async () => {
		let count = 0
		for (const { id, file } of records()) {
			const places = expected.get(id)
			if (places === undefined) continue
			const found = new Map<string, readonly string[]>()
			for (const [name, frames] of await transactionsOf((readJson(file) as Json).response)) {
				const own = judged(frames)
				if (own.length > 0) found.set(name, own)
			}
			count += [...found.values()].flat().length
			const isQuiet = /:[usnw?]$/
			const told = [...places].map(([name, own]) => [name, own.map((one) => one.replace(isQuiet, ':'))])
			expect({ id, found: [...found] }).toEqual({ id, found: told })
		}
		expect(count).toBe(542)
	})
})
