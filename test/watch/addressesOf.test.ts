import { expect, test } from 'vitest'
import type { Announcement } from '../../src/model/state.js'
import { addressesOf } from '../../src/watch/look.js'
import { indexOf, watch } from '../core/build.js'

const hex = (digit: string) => `0x${digit.repeat(40)}` as const
const announced = (...addresses: readonly string[]) =>
	new Map(addresses.map((address) => [`1:0x${'0'.repeat(64)}:root:transfer:${address}`, {} as Announcement]))

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
