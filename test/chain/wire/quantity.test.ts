import { expect, test } from 'vitest'
import { quantity } from '../../../src/chain/wire/wire.js'
import { timesOf } from '../../support/processor.js'
import { testInSoak } from '../../support/soak.js'

test('default: numbers of at most 32 bytes, in hex and in decimal, as text or as a small number', () => {
	const most = 2n ** 256n - 1n
	expect([quantity(`0x${most.toString(16)}`), quantity(String(most)), quantity('0x0'), quantity(7)]).toEqual([
		most,
		most,
		0n,
		7n,
	])
	expect(quantity(`0x${'0'.repeat(64)}${'f'.repeat(64)}`)).toBe(most)
})

test.each([
	['33 bytes', `0x1${'0'.repeat(64)}`],
	['one more than fits, in decimal', String(2n ** 256n)],
	['nothing after 0x', '0x'],
	['a sign', '-0x1'],
	['a fraction', 1.5],
	['more than a number holds exactly', 2 ** 53],
	['an object that would be one', { toString: () => '1' }],
])('error: %s', (_name, value) => {
	expect(quantity(value)).toBeNull()
})

testInSoak('error: megabytes of digits are not made into a number first', async () => {
	const [decimal, hex] = ['9'.repeat(3_000_000), `0x${'f'.repeat(3_000_000)}`] as const
	const read = () => expect([quantity(decimal), quantity(hex)]).toEqual([null, null])
	// BigInt takes two seconds of a core, the length alone accepts nothing.
	expect(await timesOf(0.2, read, () => BigInt(decimal))).toBeLessThan(0.2)
})
