// The time that a header states, in any of its units; one that cannot be read does not refuse the header.
import { expect, test } from 'vitest'
import { readBlock } from '../../../src/chain/wire/wire.js'

const header = { number: '0x5', hash: `0x${'5'.repeat(64)}`, parentHash: `0x${'4'.repeat(64)}`, transactions: [] }

test.each([
	['0x65f0c000', 1_710_276_608n],
	[1_710_276_608_000, 1_710_276_608n],
	['1710276608000000000', 1_710_276_608n],
	['0xffffffffffffffffffff', null],
	['soon', null],
	[null, null],
	[undefined, null],
] as const)('behavior: a timestamp %s is the second %s', (timestamp, second) => {
	const block = readBlock({ ...header, timestamp }, { endpoint: 'here', method: 'eth_getBlockByNumber' })
	expect(block).toMatchObject(second === null ? { number: 5n, hasNoTime: true } : { timestampS: second })
	expect(block?.hasNoTime).toBe(second === null ? true : undefined)
})
