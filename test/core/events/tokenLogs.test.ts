import { keccak256 } from 'ox/Hash'
import { fromString } from 'ox/Hex'
import { describe, expect, test } from 'vitest'
import { isNativeCoin } from '../../../src/core/events/nativeTokens.js'
import { type TxLog, tokenEventSteps, topics, zeroAddress } from '../../../src/core/events/tokenLogs.js'
import { finish } from '../../../src/core/steps.js'
import type { Address, Hash, Hex } from '../../../src/model/glossary.js'
import type { KnownTokens } from '../../../src/model/token.js'
import { timesOf } from '../../support/processor.js'
import { testInSoak } from '../../support/soak.js'
import { address, blockRef, hash } from '../build.js'

const token = address(0x70)
const [alice, bob, carol] = [address(1), address(2), address(3)]
const word = (value: bigint | Address) =>
	`0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}` as Hash
const words = (...all: readonly (bigint | Address)[]): Hex => `0x${all.map((one) => word(one).slice(2)).join('')}`
const log = (own: readonly Hash[], data: Hex = '0x', contract = token): TxLog => ({
	address: contract,
	topics: own,
	data,
})
const known = (decimals: number | null): KnownTokens =>
	new Map([[token, { address: token, symbol: 'T', decimals, minAmountRaw: null }]])

function told(logs: readonly TxLog[], tokens: KnownTokens = new Map()) {
	const tx = { txHash: hash(1), txIndex: 0, block: blockRef(1), initiator: alice, logs }
	return finish(tokenEventSteps(tx, tokens)).map(({ trace, standard, from, to, amountRaw, tokenId, operator }) =>
		[trace, standard, from, to, amountRaw, tokenId, operator].map((one) => one ?? '-').join(' '),
	)
}

test('the topics are the hashes of the signatures', () => {
	const of = (signature: string) => keccak256(fromString(signature))
	expect(topics).toEqual({
		transfer: of('Transfer(address,address,uint256)'),
		single: of('TransferSingle(address,address,address,uint256,uint256)'),
		batch: of('TransferBatch(address,address,address,uint256[],uint256[])'),
		deposit: of('Deposit(address,uint256)'),
		withdrawal: of('Withdrawal(address,uint256)'),
	})
})

describe('by the number of topics', () => {
	test.each([
		['ERC-20', log([topics.transfer, word(alice), word(bob)], words(5n)), [`log_0 erc20 ${alice} ${bob} 5 - -`]],
		['ERC-721', log([topics.transfer, word(alice), word(bob), word(7n)]), [`log_0 erc721 ${alice} ${bob} 1 7 -`]],
		[
			'ERC-1155, the parties one topic later',
			log([topics.single, word(carol), word(alice), word(bob)], words(7n, 5n)),
			[`log_0 erc1155 ${alice} ${bob} 5 7 ${carol}`],
		],
		[
			'a batch, each entry for itself',
			log([topics.batch, word(carol), word(alice), word(bob)], words(64n, 160n, 2n, 7n, 8n, 2n, 5n, 6n)),
			[`log_0_0 erc1155 ${alice} ${bob} 5 7 ${carol}`, `log_0_1 erc1155 ${alice} ${bob} 6 8 ${carol}`],
		],
		['an empty batch', log([topics.batch, word(carol), word(alice), word(bob)], words(64n, 96n, 0n, 0n)), []],
		['nothing indexed, by a stranger', log([topics.transfer], words(alice, bob, 5n)), []],
		['one indexed', log([topics.transfer, word(alice)], words(bob, 5n)), []],
		['no amount', log([topics.transfer, word(alice), word(bob)]), []],
		['a topic that is no address', log([topics.transfer, word(2n ** 160n), word(bob)], words(5n)), []],
		['no topic', log([], words(5n)), []],
		['an unwrapping of a stranger', log([topics.withdrawal, word(alice)], words(5n)), []],
	])('%s', (_, one, expected) => {
		expect(told([one])).toEqual(expected)
	})

	test.each([
		['an amount, where there are decimals', 18, [`log_0 erc20 ${alice} ${bob} 5 - -`]],
		['a number, where there are none', null, [`log_0 erc721 ${alice} ${bob} 1 5 -`]],
	])('nothing indexed, by a known token: %s', (_, decimals, expected) => {
		expect(told([log([topics.transfer], words(alice, bob, 5n))], known(decimals))).toEqual(expected)
	})
})

describe('wrapping', () => {
	const deposit = log([topics.deposit, word(alice)], words(5n))
	const made = log([topics.transfer, word(zeroAddress), word(alice)], words(5n))

	test('default: a known token is made and burnt', () => {
		expect(told([deposit, log([topics.withdrawal, word(bob)], words(3n))], known(18))).toEqual([
			`log_0 erc20 ${zeroAddress} ${alice} 5 - -`,
			`log_1 erc20 ${bob} ${zeroAddress} 3 - -`,
		])
	})

	test('behavior: not counted twice where the contract logs a transfer beside', () => {
		expect(told([deposit, made], known(18))).toEqual([`log_1 erc20 ${zeroAddress} ${alice} 5 - -`])
		expect(told([made, deposit], known(18))).toEqual([`log_0 erc20 ${zeroAddress} ${alice} 5 - -`])
	})

	test('behavior: a transfer of nothing, which anyone can log of WETH, hides neither', () => {
		const zero = (from: Address, to: Address) => log([topics.transfer, word(from), word(to)], words(0n))
		const back = log([topics.withdrawal, word(alice)], words(9n))
		expect(told([deposit, back, zero(zeroAddress, alice), zero(alice, zeroAddress)], known(18))).toEqual([
			`log_0 erc20 ${zeroAddress} ${alice} 5 - -`,
			`log_1 erc20 ${alice} ${zeroAddress} 9 - -`,
			`log_2 erc20 ${zeroAddress} ${alice} 0 - -`,
			`log_3 erc20 ${alice} ${zeroAddress} 0 - -`,
		])
		// One transfer stands for one of two deposits.
		expect(told([deposit, made, deposit], known(18))).toHaveLength(2)
	})

	test('behavior: the transfer of another contract changes nothing, and the order stays', () => {
		const other = { ...made, address: address(0x71) }
		expect(told([other, deposit, log([topics.transfer, word(alice), word(bob)], words(5n))], known(18))).toEqual([
			`log_0 erc20 ${zeroAddress} ${alice} 5 - -`,
			`log_1 erc20 ${zeroAddress} ${alice} 5 - -`,
			`log_2 erc20 ${alice} ${bob} 5 - -`,
		])
	})

	test('behavior: an NFT deposits nothing', () => {
		expect(told([deposit], known(null))).toEqual([])
	})
})

testInSoak('behavior: ten thousand logs of each kind take about ten times as long as a thousand', async () => {
	const read = (count: number) => {
		const many = Array.from({ length: count }, (_, n) => [
			log([topics.transfer, word(alice), word(BigInt(n))], words(5n)),
			log([topics.deposit, word(BigInt(n))], words(5n)),
		]).flat()
		return () => expect(told(many, known(18))).toHaveLength(2 * count)
	}
	expect(await timesOf(40, read(10_000), read(1_000))).toBeLessThan(40)
})

test.each([
	[1, '0xfffffffffffffffffffffffffffffffffffffffe', true],
	[324, '0x000000000000000000000000000000000000800a', true],
	[137, '0x0000000000000000000000000000000000001010', true],
	[1, '0x0000000000000000000000000000000000001010', false],
	[42_220, '0x471ece3750da237f93b8e339c536989b8978a438', true],
	[1, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', false],
] as const)('on chain %i %s is the chain’s own coin: %s', (chainId, contract, expected) => {
	expect(isNativeCoin(chainId, contract)).toBe(expected)
})
