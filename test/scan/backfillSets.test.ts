import { setImmediate } from 'node:timers'
import { expect, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { addressSet, prepareBackfillSets } from '../../src/scan/look/lookContext.js'

test('behavior: the set of a large backfill is made in time slices, and is then at hand', async () => {
	const addresses = Array.from({ length: 300_000 }, (_, at): Address => `0x${at.toString(16).padStart(40, '0')}`)
	let turns = 0
	let isDone = false
	const count = () => {
		turns += 1
		if (!isDone) setImmediate(count)
	}
	setImmediate(count)
	await prepareBackfillSets([{ id: 'a', span: { from: 1n, to: 2n }, addresses }])
	isDone = true
	// In one breath it would be none or one.
	expect(turns).toBeGreaterThan(3)
	const set = addressSet(addresses)
	expect(set.size).toBe(300_000)
	await prepareBackfillSets([{ id: 'a', span: { from: 2n, to: 2n }, addresses }])
	expect(addressSet(addresses)).toBe(set)
})
