// Authorisations in a block, signed by another library: who signed, and a block that is full of them.
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { Rpc } from '../../../src/chain/rpc/rpc.js'
import { readAuthorisations, readSigned } from '../../../src/chain/state/delegates.js'
import { readAuthorizations } from '../../../src/chain/state/readAuthorizations.js'
import { createSigners } from '../../../src/chain/state/signers.js'
import type { Address, Hash } from '../../../src/model/glossary.js'

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
const read = (rpc: Pick<Rpc, 'endpoint' | 'call'>, signers = createSigners()) =>
	readAuthorizations(rpc as Rpc, { ...question, signers }, new AbortController().signal)

/** Counts recoveries, and finds the owner where `r` says so. */
function counting() {
	let recoveries = 0
	const signers = createSigners(({ r }) => {
		recoveries++
		return r === 1n ? address : null
	})
	return { signers, recoveries: () => recoveries }
}

const junk = (n: number, nonce = 0) => {
	return {
		chainId: '0x1',
		nonce: `0x${nonce.toString(16)}`,
		address: delegate,
		r: word(1_000 + n),
		s: word(9),
		yParity: '0x0',
	}
}

test('default: authorizations for this chain and for all are read, the last of each transaction', async () => {
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

test('behavior: of a block full of them 1,000 signers are recovered, and it says how many are left', async () => {
	const { signers, recoveries } = counting()
	const own = { ...junk(0), r: word(1) }
	const list = [own, ...Array.from({ length: 1_500 }, (_, n) => junk(n)), { ...own, nonce: '0x1' }]
	const { signed, left } = await read(blockOf(list), signers)
	expect(signed).toHaveLength(1)
	expect(left).toBe(502)
	expect(recoveries()).toBe(1_000)
})

test('behavior: of one transaction every signer is recovered', async () => {
	const { signers } = counting()
	const authorizationList = [...Array.from({ length: 1_500 }, (_, n) => junk(n)), { ...junk(0), r: word(1) }]
	const rpc = { endpoint: 'here', call: async () => ({ authorizationList }) } as unknown as Rpc
	const signed = await readSigned(rpc, { chainId: 1, signers }, word(7) as Hash, new AbortController().signal)
	expect(signed).toMatchObject([{ at: 1_500, authority: address }])
})

test('behavior: an authorization that cannot hold on this chain, or is repeated, costs no recovery', async () => {
	const { signers, recoveries } = counting()
	const high = `0x${'f'.repeat(64)}`
	const none = [
		{ ...junk(1), chainId: '0x7' },
		{ ...junk(2), s: high },
		{ ...junk(3), yParity: '0x2' },
	]
	const most = { ...junk(4), nonce: '0xffffffffffffffff' }
	const { left } = await read(
		blockOf(
			[...none, most],
			Array.from({ length: 1_500 }, () => junk(5)),
		),
		signers,
	)
	expect(left).toBe(0)
	expect(recoveries()).toBe(1)
})

test('behavior: other work continues after every fourth recovery', async () => {
	const { signers } = counting()
	let turns = 0
	let isOver = false
	const turn = () => {
		turns++
		if (!isOver) setImmediate(turn)
	}
	setImmediate(turn)
	await read(blockOf(Array.from({ length: 400 }, (_, n) => junk(n))), signers)
	isOver = true
	expect(turns).toBeGreaterThanOrEqual(99)
})

test('behavior: for one address only its own nonce is recovered, and no signature twice', async () => {
	const { signers, recoveries } = counting()
	const replayed = { ...junk(0), r: word(1) }
	const list = [
		...Array.from({ length: 500 }, (_, n) => junk(n, 3)),
		replayed,
		...Array.from({ length: 20 }, (_, n) => junk(n, 4)),
	]
	const block = blockOf(list)
	const answers = [await block.call('', [], new AbortController().signal), '0x4']
	const rpc = { endpoint: 'here', batch: async () => answers }
	const of = () =>
		readAuthorisations(
			rpc as unknown as Rpc,
			{ chainId: 1, signers },
			{ block: { number: 5n, hash: word(5) as Hash }, who: address },
			new AbortController().signal,
		)
	expect(await of()).toEqual([])
	expect(recoveries()).toBe(20)
	await of()
	expect(recoveries()).toBe(20)
	await read(block, signers)
	expect(recoveries()).toBe(521)
})

function found(txIndex: number) {
	const initiator = `0x${'5'.repeat(40)}`
	return { authority: address, delegate, txHash: word(100 + txIndex), txIndex, initiator }
}
