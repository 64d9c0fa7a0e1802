// What a header rules out: made of blooms of real entries, and checked against what the blocks hold.
import { describe, expect, test } from 'vitest'
import { bloomOf } from '../../../../src/chain/logs/proofs/bloom.js'
import { createBloomSuspects } from '../../../../src/chain/logs/proofs/bloomSuspects.js'
import type { Log } from '../../../../src/chain/logs/proofs/wireLogs.js'
import type { Header } from '../../../../src/chain/wire/wire.js'
import type { Address, Hex } from '../../../../src/model/glossary.js'
import { address } from '../../../core/build.js'
import { signatures, wordOf } from '../../../support/tokenContracts.js'

const [usd, spam, alice, bob] = [address(1), address(2), address(3), address(4)]
const hash: Hex = `0x${'1'.repeat(64)}`
const empty: Hex = `0x${'0'.repeat(512)}`

const logOf = (contract: Address, to: Address, block = 1n): Log => ({
	...{ address: contract, topics: [signatures.transfer, hash, `0x${wordOf(to)}`], data: '0x' },
	...{ block: { number: block, hash }, txHash: hash, index: 0n },
})
const headerOf = (number: bigint, logsBloom: Hex | null): Header => ({
	...{ number, hash, parentHash: hash, timestampS: 0n, txHashes: [hash], difficulty: 0n },
	...{ receiptsRoot: null, logsBloom, withdrawalsRoot: null },
})
const bloom = (...logs: readonly Log[]) => bloomOf(logs)
const question = (wanted: ReadonlySet<Address> | null = null) => ({
	...{ addresses: new Set([alice]), contracts: new Set<Address>(), known: new Map(), wanted },
})
const numbers = (headers: readonly Header[]) => headers.map(({ number }) => Number(number))

describe('blocks that may hold a log that the endpoint left out', () => {
	test('default: blocks whose bloom has an address beside a topic are suspects; others certainly are not', async () => {
		const headers = [headerOf(1n, await bloom(logOf(spam, alice))), headerOf(2n, await bloom(logOf(spam, bob)))]
		expect(numbers(createBloomSuspects(false)({}, [], headers, question()))).toEqual([1])
	})

	test('behavior: where named tokens alone are reported, the contract must be in it too', async () => {
		const mixed = await bloom(logOf(spam, alice), logOf(usd, bob))
		const headers = [headerOf(1n, await bloom(logOf(spam, alice))), headerOf(2n, mixed)]
		const told = question(new Set([usd]))
		expect(numbers(createBloomSuspects(false)({}, [logOf(spam, alice, 1n)], headers, told))).toEqual([2])
		expect(numbers(createBloomSuspects(false)({}, [logOf(usd, alice, 1n)], headers, told))).toEqual([1, 2])
		expect(numbers(createBloomSuspects(false)({}, [], headers, question()))).toEqual([1, 2])
	})

	test.each([
		[null, [1]],
		[0, [1]],
		[6, []],
	])('behavior: a known token with decimals %s, which may index no party: suspects %j', async (decimals, expected) => {
		const known = new Map([[usd, { address: usd, symbol: 'KITTY', decimals, minAmountRaw: null }]])
		const headers = [headerOf(1n, await bloom(logOf(usd, bob))), headerOf(2n, await bloom(logOf(spam, bob)))]
		expect(numbers(createBloomSuspects(false)({}, [], headers, { ...question(), known }))).toEqual(expected)
	})

	test('behavior: an empty bloom proves nothing until one was seen filled, none once a log belies it', async () => {
		const full = headerOf(9n, await bloom(logOf(spam, bob)))
		const suspects = createBloomSuspects(false)
		const [one, other] = [{}, {}]
		expect(numbers(suspects(one, [], [headerOf(1n, empty)], question()))).toEqual([1])
		expect(numbers(suspects(one, [], [headerOf(1n, empty), full], question()))).toEqual([])
		expect(numbers(suspects(one, [], [headerOf(2n, empty)], question()))).toEqual([])
		// Each endpoint for itself.
		expect(numbers(suspects(other, [], [headerOf(2n, empty)], question()))).toEqual([2])
		expect(numbers(suspects(one, [logOf(spam, alice, 3n)], [headerOf(3n, empty), full], question()))).toEqual([3, 9])
		expect(numbers(suspects(one, [], [full], question()))).toEqual([9])
		expect(numbers(suspects(one, [], [headerOf(4n, null)], question()))).toEqual([4])
		// Ethereum and its kin are known to fill them.
		expect(numbers(createBloomSuspects(true)({}, [], [headerOf(1n, empty)], question()))).toEqual([])
	})
})
