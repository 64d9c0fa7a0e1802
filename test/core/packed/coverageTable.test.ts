import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCoverageTable } from '../../../src/core/packed/coverageTable.js'
import type { Coverage } from '../../../src/model/watch.js'
import { addressOf, coverageOf } from '../../state/samples.js'

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
	test('holds what a Map holds, and its copy is apart', () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(fc.nat(30).map(addressOf), coverage)), (sets) => {
				const [table, model] = [createCoverageTable(), new Map(sets)]
				for (const [address, one] of sets) table.set(address, one)
				const copy = table.copy()
				copy.set(addressOf(99), coverageOf(1))
				expect([...table]).toEqual([...model])
				expect(table.size).toBe(model.size)
				expect([...copy]).toEqual([...model, [addressOf(99), coverageOf(1)]])
				expect(table.get(addressOf(31))).toBeUndefined()
			}),
		)
	})
})
