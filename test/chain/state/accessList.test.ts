// Block access lists: their hash, and what they prove of the transactions of a block.
import { expect, test } from 'vitest'
import { changesIn } from '../../../src/chain/state/accessList.js'
import type { Block } from '../../../src/model/chain.js'
import type { Hash } from '../../../src/model/glossary.js'

// `bal_simple` of ethereum/execution-spec-tests, bal@v3.0.1: two payments of 10 wei each in one block of Amsterdam.
const accessListHash: Hash = '0xf487a8de6b5b4c5ed1238362d193bb840e9ac76cf13df283cb1ccfc23a69f673'
const account = (address: string, more: object = {}) => ({
	address,
	storageChanges: [],
	storageReads: [],
	balanceChanges: [],
	nonceChanges: [],
	codeChanges: [],
	...more,
})
const word = (hex: string) => `0x${hex.padStart(64, '0')}`
const reads = { storageReads: ['0', '1', '2', '3'].map(word) }
const slot = (key: string, value: string) => ({ key: word(key), changes: [{ index: '0x0', value: word(value) }] })
const parent = '372103e56664908ceaa2479eae7f3e852363b920a2ee7a19559b0a2035ba3d21'
const payee = '0x6032d7702ce646223d30c900bfc4d8641ce84dd1'
const balances = (...list: (readonly [index: string, value: string])[]) => ({
	balanceChanges: list.map(([index, value]) => ({ index, value })),
})
const list = [
	account('0x00000961ef480eb55e80d19ad83579a64c007002', reads),
	account('0x0000bbddc7ce488642fb579f8b00f3a590007251', reads),
	account('0x0000f90827f1c53a10cb7a02335b175320002935', { storageChanges: [slot('0', parent)] }),
	account('0x000f3df6d732807ef1319fb7b8bb8522d0beac02', { storageChanges: [slot('c', 'c'), slot('200b', 'abcdef')] }),
	account('0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba', balances(['0x1', '0xf618'], ['0x2', '0x1ec30'])),
	account(payee, balances(['0x1', '0xa'], ['0x2', '0x14'])),
	account('0x9c450aafafe41b35edac4bc49eddb23209a250dc', {
		nonceChanges: [{ index: '0x2', value: '0x1' }],
		...balances(['0x2', '0x3635c9adc5de9ccba6']),
	}),
	account('0xf5ffa27864bf419390eaa7c520b528a740c594de', {
		nonceChanges: [{ index: '0x1', value: '0x1' }],
		...balances(['0x1', '0x3635c9adc5de9ccba6']),
	}),
]
const block = {
	number: 1n,
	hash: word('b1'),
	parentHash: word('b0'),
	timestampS: 1n,
	txHashes: [word('a1'), word('a2')],
	accessListHash,
} as Block
const reading = { endpoint: 'here', method: 'eth_getBlockAccessList' }

test('default: a list makes the hash of its header, in whatever order it comes', () => {
	for (const raw of [list, list.toReversed()]) {
		const changes = changesIn(raw, block, reading)
		expect(changes.transactions).toBe(2)
		expect([...changes.balances.keys()]).toHaveLength(4)
		expect(changes.balances.get(payee)).toEqual([
			{ index: 1, wei: 10n },
			{ index: 2, wei: 20n },
		])
	}
})

test('default: an empty list is keccak256 of the RLP of an empty list', () => {
	const empty = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
	expect(changesIn([], { ...block, accessListHash: empty }, reading).balances.size).toBe(0)
})

test.each([
	['an account is left out', list.slice(1)],
	['a balance is another', list.map((one) => (one.address === payee ? account(payee, balances(['0x1', '0xb'])) : one))],
	[
		'a change is left out',
		list.map((one) => (one.address === payee ? account(payee, balances(['0x2', '0x14'])) : one)),
	],
	['an account is there twice', [...list, list[0]]],
	['it is no list', { accounts: list }],
	['an account has no address', [{ ...list[0], address: undefined }]],
	['a number is none', [account(payee, balances(['0x1', 'ten']))]],
])('error: %s', (_name, raw) => {
	expect(() => changesIn(raw, block, reading)).toThrow('cannot be believed')
})
