// Authorisations in a block, signed by another library: who signed, and a block that is full of them.
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { readSignedIn } from '../../../src/chain/balances/signedIn.js'
import type { Rpc } from '../../../src/chain/rpc/rpc.js'
import type { Address } from '../../../src/model/glossary.js'

const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const address = owner.address.toLowerCase() as Address
const delegate: Address = '0x00000000000000000000000000000000000d0001'
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

function blockOf(...lists: readonly (readonly object[])[]): Pick<Rpc, 'endpoint' | 'call'> {
	const transactions = lists.map((authorizationList, at) => {
		return { hash: word(100 + at), from: `0x${'5'.repeat(40)}`, type: '0x4', authorizationList }
	})
	const block = { number: '0x5', hash: word(5), parentHash: word(4), timestamp: '0x5', transactions }
	return { endpoint: 'here', call: async () => block }
}

async function entry(nonce: number, chainId: number) {
	const { r, s, yParity } = await owner.signAuthorization({ contractAddress: delegate, chainId, nonce })
	const hex = (n: number) => `0x${n.toString(16)}`
	return { chainId: hex(chainId), nonce: hex(nonce), address: delegate, r, s, yParity: hex(yParity ?? 0) }
}

const question = { chainId: 1, number: 5n, authorities: new Set([address]) }
const read = (rpc: Pick<Rpc, 'endpoint' | 'call'>) => readSignedIn(rpc as Rpc, question, new AbortController().signal)

test('default: those for this chain and for all, the last of each transaction', async () => {
	const { block, signed, left } = await read(
		blockOf([await entry(0, 1), await entry(1, 0), await entry(2, 7)], [], [await entry(3, 1)]),
	)
	expect(block.hash).toBe(word(5))
	expect(signed).toEqual([
		{ ...found(0), at: 1, chainId: 0n, nonce: 1n },
		{ ...found(2), at: 0, chainId: 1n, nonce: 3n },
	])
	expect(left).toBe(0)
})

test('behavior: a block full of them is looked at in part, and says how much is left', async () => {
	const wrong = { ...(await entry(0, 7)) }
	const { signed, left } = await read(blockOf([await entry(0, 1), ...Array.from({ length: 1_500 }, () => wrong)]))
	expect(signed).toHaveLength(1)
	expect(left).toBe(501)
})

function found(txIndex: number) {
	const initiator = `0x${'5'.repeat(40)}`
	return { authority: address, delegate, txHash: word(100 + txIndex), txIndex, initiator }
}
