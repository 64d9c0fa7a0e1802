import { expect, test } from 'vitest'
import type { Contract } from '../../src/model/contract.js'
import type { Address } from '../../src/model/glossary.js'
import type { Announcement } from '../../src/model/state.js'
import { addressesOf } from '../../src/scan/look/look.js'
import { hash, indexOf, watch } from '../core/build.js'

const hex = (digit: string) => `0x${digit.repeat(40)}` as const
const announced = (...addresses: readonly string[]) => ({
	announcements: new Map(
		addresses.map((address) => [`1:0x${'0'.repeat(64)}:root:transfer:${address}`, {} as Announcement]),
	),
	contracts: new Map<Address, Contract>(),
})

test('the watched addresses and those of alerts, and the same set while these are the same', () => {
	const index = indexOf(watch({ address: hex('1') }), watch({ address: hex('2') }))
	expect(addressesOf(index, announced())).toBe(index)
	expect(addressesOf(index, announced(hex('2')))).toBe(index)
	const set = addressesOf(index, announced(hex('3'), hex('1')))
	const keys = set.keys()
	const all = [keys.next().value, keys.next().value, keys.next().value, keys.next().done]
	expect(all).toEqual([hex('1'), hex('2'), hex('3'), true])
	expect(set.size).toBe(3)
	expect(['1', '2', '3', '4'].map((digit) => set.has(hex(digit)))).toEqual([true, true, true, false])
	expect(addressesOf(index, announced(hex('1'), hex('3')))).toBe(set)
	expect(addressesOf(index, announced(hex('4'))).has(hex('3'))).toBe(false)
})

test('contracts whose own logs are read: those with code whose watches want it, the same set while the same', () => {
	const index = indexOf(
		watch({ address: hex('1'), kinds: ['control'] }),
		watch({ address: hex('2') }),
		watch({ address: hex('3'), kinds: ['control'] }),
	)
	const entry: Contract = { since: 1n, readAt: 1n, codeHash: hash(1), isSafe: false, values: {} }
	const with12 = { announcements: new Map(), contracts: new Map([hex('1'), hex('2')].map((one) => [one, entry])) }
	const set = addressesOf(index, with12)
	expect([...(set.logsOf ?? [])]).toEqual([hex('1')])
	expect([set.size, set.has(hex('3'))]).toEqual([3, true])
	const later = new Map([...with12.contracts].map(([one, each]) => [one, { ...each, readAt: 9n }]))
	expect(addressesOf(index, { ...with12, contracts: later })).toBe(set)
	expect(addressesOf(index, { ...with12, contracts: new Map([[hex('2'), entry]]) })).toBe(index)
})
