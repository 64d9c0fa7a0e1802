import { expect, test } from 'vitest'
import { shownChanges } from '../../../src/core/control/changedSlots.js'
import type { Address } from '../../../src/model/glossary.js'
import { mapped, word } from '../../support/ruledContract.js'

const [owner, other, hidden] = ['a', 'b', 'c'].map((digit): Address => `0x${digit.repeat(40)}`) as [
	Address,
	Address,
	Address,
]
const change = (slot: string | bigint, previous = 0n, current = 1n) => ({
	slot: typeof slot === 'bigint' ? word(slot) : slot,
	name: null,
	previous: word(previous),
	current: word(current),
})
const nobody = { input: '0x', others: [] }
const namesOf = (...of: Parameters<typeof shownChanges>) => shownChanges(...of).map(({ name }) => name)

test('default: 50 slots, those with a name first; of a Safe without the nonce, left out before the cut', () => {
	const many = Array.from({ length: 60 }, (_, at) => change(1000n + BigInt(at)))
	const changes = [change(5n), ...many.slice(0, 49), change(4n), ...many.slice(49)]
	const shown = shownChanges(changes, { isSafe: true, values: {} }, nobody)
	expect(shown).toEqual([{ ...change(4n), name: 'safe.threshold' }, ...many.slice(0, 49)])
})

test('default: slots 0 to 5 mean something in a Safe only; those of EIP-1967 and of `reads` in every contract', () => {
	const implementation = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
	const changes = [change(0n), change(3n), change(5n), change(7n), change(implementation)]
	const values = { 'slot 7': word(1n) }
	expect(namesOf(changes, { isSafe: false, values }, nobody)).toEqual(['slot 7', 'implementation', null, null, null])
	expect(namesOf(changes, { isSafe: true, values }, nobody)).toEqual([
		'safe.singleton',
		'safe.ownerCount',
		'slot 7',
		'implementation',
	])
})

test('default: owners and modules are found among known members, changed words, who took part, and the input', () => {
	const values = { [`safe.owner ${owner}`]: owner }
	const named = (slot: string, { input = '0x', others = [] as Address[], current = 1n } = {}) =>
		namesOf([change(slot, 0n, current)], { isSafe: true, values }, { input, others })
	expect(named(mapped(owner, 2n))).toEqual([`safe.owner ${owner}`])
	expect(named(mapped(1n, 1n), { current: BigInt(other) })).toEqual([`safe.module 0x${'1'.padStart(40, '0')}`])
	expect(named(mapped(hidden, 2n))).toEqual([null])
	expect(named(mapped(hidden, 2n), { others: [hidden] })).toEqual([`safe.owner ${hidden}`])
	expect(named(mapped(hidden, 1n), { input: `0x12345678${word(7n).slice(2)}${word(hidden).slice(2)}` })).toEqual([
		`safe.module ${hidden}`,
	])
	expect(named(mapped(hidden, 2n), { input: word(hidden) })).toEqual([`safe.owner ${hidden}`])
})
