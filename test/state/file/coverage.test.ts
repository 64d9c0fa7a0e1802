import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCoverageTable } from '../../../src/core/coverageTable.js'
import type { Coverage } from '../../../src/model/watch.js'
import { openFileStore } from '../../../src/state/file/store.js'
import { addressOf, blockOf, commitOf, coverageOf } from '../samples.js'

let folder: string
const at = (name: string) => join(folder, name)
const bytes = (name: string) => statSync(at(name), { throwIfNoEntry: false })?.size ?? null
const open = () => openFileStore(folder, { clock: Date.now })
const many = (count: number, coverage: Coverage) => {
	const table = createCoverageTable()
	for (let index = 0; index < count; index++) table.set(addressOf(index), coverage)
	return table
}

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'tracewatch-coverage-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function filled(count: number) {
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(100) }))
	await store.enrol('ethereum', { covered: many(count, coverageOf(101)), backfills: null })
	return store
}

describe('a coverage table', () => {
	const coverage = fc
		.record({ since: fc.nat(3), from: fc.nat(3), leftAt: fc.option(fc.nat(2)), to: fc.option(fc.nat(3)) })
		.map(
			({ since, from, leftAt, to }): Coverage => ({
				since: BigInt(since),
				from: BigInt(from),
				leftAt: leftAt === null ? null : BigInt(leftAt),
				missed: to === null ? [] : [{ from: 0n, to: BigInt(to) }],
			}),
		)
	test('is a Map, and its groups are all of it', () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(fc.nat(30).map(addressOf), coverage)), (sets) => {
				const [table, model] = [createCoverageTable({ seed: 3 }), new Map(sets)]
				for (const [address, one] of sets) table.set(address, one)
				const copy = table.copy()
				copy.set(addressOf(99), coverageOf(1))
				expect([...table]).toEqual([...model])
				expect(table.size).toBe(model.size)
				expect([...copy]).toEqual([...model, [addressOf(99), coverageOf(1)]])
				const grouped = [...table.groups()].flatMap((group) =>
					[...group.addresses()].map((address) => [address, group.coverage] as const),
				)
				expect(new Map(grouped)).toEqual(model)
				expect(grouped).toHaveLength(model.size)
				expect(table.get(addressOf(31))).toBeUndefined()
			}),
		)
	})
})

describe('the files of coverage', () => {
	test('default: 100,000 addresses take less than 3 MB, and an edit of one a few hundred bytes', async () => {
		const store = await filled(100_000)
		expect(bytes('coverage.json')).toBeLessThan(3_000_000)
		expect(bytes('coverage.changes.json')).toBeNull()
		const before = readFileSync(at('coverage.json'))
		const changed = new Map([
			[addressOf(7), coverageOf(101, { leftAt: 100n })],
			[addressOf(200_000), coverageOf(105)],
		])
		const state = await store.enrol('ethereum', { covered: changed, backfills: null })
		expect(state.covered.size).toBe(100_001)
		expect(readFileSync(at('coverage.json')).equals(before)).toBe(true)
		expect(bytes('coverage.changes.json')).toBeLessThan(500)
		await store.close()
		const again = await open()
		const found = await again.network('ethereum')
		expect(found?.covered.size).toBe(100_001)
		for (const [address, one] of changed) expect(found?.covered.get(address)).toEqual(one)
		expect(found?.covered.get(addressOf(8))).toEqual(coverageOf(101))
		await again.close()
	})

	test('behavior: changes add up over restarts, and become part of the whole when they are many', async () => {
		await (await filled(30_000)).close()
		for (const round of [1, 2, 3]) {
			const store = await open()
			const covered = new Map(
				Array.from({ length: 9_000 }, (_, index) => [addressOf(round * 1_000_000 + index), coverageOf(200 + round)]),
			)
			await store.enrol('ethereum', { covered, backfills: null })
			await store.close()
		}
		const store = await open()
		const found = await store.network('ethereum')
		expect(found?.covered.size).toBe(57_000)
		expect(found?.covered.get(addressOf(1_000_005))).toEqual(coverageOf(201))
		expect(found?.covered.get(addressOf(3_008_999))).toEqual(coverageOf(203))
		expect(bytes('coverage.json')).toBeGreaterThan(57_000 * 26)
		await store.close()
	})

	test('behavior: changes of another whole are passed over', async () => {
		const store = await filled(30_000)
		await store.enrol('ethereum', { covered: new Map([[addressOf(5), coverageOf(999)]]), backfills: null })
		const stale = readFileSync(at('coverage.changes.json'))
		await store.enrol('ethereum', { covered: many(30_000, coverageOf(300)), backfills: null })
		await store.close()
		writeFileSync(at('coverage.changes.json'), stale)
		const again = await open()
		expect((await again.network('ethereum'))?.covered.get(addressOf(5))).toEqual(coverageOf(300))
		await again.close()
	})

	test('error: changes that are damaged, or missing after there were some', async () => {
		const store = await filled(30_000)
		for (const from of [1, 2]) {
			await store.enrol('ethereum', { covered: new Map([[addressOf(5), coverageOf(from)]]), backfills: null })
		}
		await store.close()
		const text = readFileSync(at('coverage.changes.json'), 'utf8')
		writeFileSync(at('coverage.changes.json'), text.replace('"since":"2"', '"since":"3"'))
		await expect(open()).rejects.toThrow('its content does not match its checksum')
		rmSync(at('coverage.changes.json'))
		await expect(open()).rejects.toThrow('it is missing, though there was one')
	})

	test('behavior: files of version 0.1.0 open, and are written in the new form at the next change', async () => {
		await (await filled(1)).close()
		const span = ['50', '100']
		const data = {
			networks: {
				ethereum: {
					backfills: [{ id: '50-100-x', token: 'abc', span, addresses: [addressOf(1), addressOf(2)] }],
					covers: {
						[addressOf(1)]: { since: '101', from: '50' },
						[addressOf(2)]: { since: '101', from: '50' },
						[addressOf(3)]: { since: '7', from: '7', leftAt: '90', owed: [['8', '9']] },
					},
				},
			},
		}
		const body = `{"v":1,"data":${JSON.stringify(data)}`
		writeFileSync(at('coverage.json'), `${body},"sum":"${createHash('sha256').update(body).digest('hex')}"}\n`)
		const store = await open()
		const found = await store.network('ethereum')
		expect([...(found?.covered ?? [])]).toEqual([
			[addressOf(1), { since: 101n, from: 50n, leftAt: null, missed: [] }],
			[addressOf(2), { since: 101n, from: 50n, leftAt: null, missed: [] }],
			[addressOf(3), { since: 7n, from: 7n, leftAt: 90n, missed: [{ from: 8n, to: 9n }] }],
		])
		expect(found?.backfills).toEqual([
			{ id: '50-100-x', span: { from: 50n, to: 100n }, addresses: [addressOf(1), addressOf(2)] },
		])
		await store.enrol('ethereum', { covered: new Map([[addressOf(4), coverageOf(200)]]), backfills: null })
		await store.close()
		expect(readFileSync(at('coverage.json'), 'utf8')).toMatch(/^\{"v":2,/)
		const again = await open()
		expect((await again.network('ethereum'))?.covered.size).toBe(4)
		expect((await again.network('ethereum'))?.backfills).toEqual(found?.backfills)
		await again.close()
	})
})
