// Receipts of real chains make the roots of their headers. Each case is written here from what the source says of it.
import * as Hash from 'ox/Hash'
import * as Rlp from 'ox/Rlp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bloomOf } from '../../../src/chain/logs/proofs/bloom.js'
import { fitsRoot, receiptsRootOf } from '../../../src/chain/logs/proofs/receiptsRoot.js'
import { hasStateSync, isRootKnown } from '../../../src/chain/logs/proofs/rootChains.js'
import { type LogReceipt, readLogReceipt } from '../../../src/chain/logs/proofs/wireLogs.js'
import { isObject } from '../../../src/chain/wire/wire.js'
import type { Address, Hash as HashText, Hex } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'

interface Said {
	readonly type?: Hex
	readonly gas: Hex
	/** Before Byzantium. */
	readonly root?: HashText
	readonly logs?: readonly { readonly address: Address; readonly topics: readonly HashText[]; readonly data: Hex }[]
	readonly more?: object
}

/** As a node answers. */
async function receiptsOf(said: readonly Said[]): Promise<readonly LogReceipt[]> {
	const blockHash = `0x${'b'.repeat(64)}`
	let logIndex = 0
	const blooms = await Promise.all(said.map(({ logs = [] }) => bloomOf(logs)))
	const raws = said.map(({ type = '0x0', gas, root, logs = [], more }, at) => {
		const transactionHash = `0x${(at + 1).toString(16).padStart(64, '0')}`
		const place = { blockHash, blockNumber: '0x1', transactionHash }
		return {
			...place,
			type,
			cumulativeGasUsed: gas,
			logsBloom: blooms[at],
			...(root === undefined ? { status: '0x1' } : { root }),
			logs: logs.map((log) => ({ ...log, ...place, logIndex: `0x${(logIndex++).toString(16)}` })),
			...more,
		}
	})
	return readAll(raws)
}

async function readAll(raws: readonly unknown[]): Promise<readonly LogReceipt[]> {
	const reading = { endpoint: 'here', method: 'eth_getBlockReceipts' }
	return (await Promise.all(raws.map((raw) => readLogReceipt(raw, reading)))).flatMap((one) => one ?? [])
}

const deposit = (gas: Hex, depositNonce: Hex, version?: Hex): Said => ({
	type: '0x7e',
	gas,
	more: { depositNonce, ...(version === undefined ? {} : { depositReceiptVersion: version }) },
})

const flashblock = (gas: Hex, number: string): Said => ({
	type: '0x2',
	gas,
	logs: [
		{
			address: '0xf878f0340bf132c28f3211e8b46c569edf817495',
			topics: ['0xfaddd0b06e793a583e92393ad3f98637e560462ee98db1f2888f141124ee64ca'],
			data: `0x${number.padStart(64, '0')}`,
		},
	],
})

const transfer: Said['logs'] = [
	{
		address: '0x9c76c6304885661cdb97f3984b13114b6d4b5248',
		topics: [
			'0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
			'0x00000000000000000000000070ce2d9bb8502e302b9cbe5c56a5d0f1067da713',
			'0x000000000000000000000000717c7f9822e8c2ae6a64773f7a92727755a7e2fc',
		],
		data: '0x00000000000000000000000000000000000000000000003635c9adc5dea00000',
	},
]

const blocks: readonly (readonly [name: string, root: HashText, receipts: readonly Said[]])[] = [
	[
		// Etherscan; the receipt of 0x5c504ed4… has the state after it in the place of a status.
		'Ethereum 46,147, the first with a transaction: a state root',
		'0xfe2bf2a941abf41d72637e5b91750332a30283efd40c424dc522b77e6f0ed8c4',
		[{ gas: '0x5208', root: '0x96a8e009d2b88b1483e6941e6812e32263b05683fac202abc622a3e31aed1957' }],
	],
	[
		// ethereum/execution-apis@0236776: eth_getBlockReceipts and eth_getBlockByNumber of `latest`.
		'a chain of geth, block 20: types 2, 1 and 0',
		'0x4b7fefa97a453e0ee0cea1d51ca4ab3729f3a2a6a8388a5a3b13765eec3720b7',
		[
			{ type: '0x2', gas: '0x5208' },
			{ type: '0x1', gas: '0xa410' },
			{ type: '0x0', gas: '0xf618' },
		],
	],
	[
		// unichain-sepolia.blockscout.com/block/35535698
		'Unichain Sepolia 35,535,698: a deposit since Canyon, and logs',
		'0x588e1d47b0618d7e935b20c3945cba3b7b8c00141904f79ceed20312ea502e63',
		[
			deposit('0xb41c', '0x21e3b52', '0x1'),
			{ type: '0x2', gas: '0x10994' },
			flashblock('0x18f7d', '29ac5c'),
			flashblock('0x21566', '29ac5d'),
			flashblock('0x29b4f', '29ac5e'),
			flashblock('0x32138', '29ac5f'),
		],
	],
	[
		// Header and receipt from an RPC of the chain, as a test of mantle's and manta's op-reth cites them.
		'Manta Sepolia 863,731: a deposit of Regolith, whose nonce is shown and not in the tree',
		'0x3c715dd96d2597ccd46fde046da5e4b13e0a5b7d0a2ff60c3ee6c92fee9600ea',
		[deposit('0xf9f5', '0xd2df2')],
	],
	[
		'Manta Sepolia 836,765: the same beside a token transfer',
		'0x11e432ab48d8ffcb3278758a25fb2e10ba1267feae336da97a0f7bc861c74bbe',
		[deposit('0xccfd', '0xcc49c'), { type: '0x2', gas: '0x18336', logs: transfer }],
	],
]

describe('recorded', () => {
	test.each(blocks)('default: %s', async (_, root, said) => {
		const receipts = await receiptsOf(said)
		expect(receipts).toHaveLength(said.length)
		expect(await fitsRoot(receipts, { root, hasStateSync: false })).toBe(true)
		// Without the last, or with other gas, it does not.
		const fewer = { root, hasStateSync: true }
		expect(await fitsRoot(receipts.slice(0, -1), fewer)).toBe(false)
		const [first, ...rest] = said
		if (first === undefined) throw new Error('no receipt')
		const other = await receiptsOf([{ ...first, gas: '0x1' }, ...rest])
		expect(await fitsRoot(other, { root, hasStateSync: false })).toBe(false)
	})
})

/** The root of one receipt, by hand: a leaf whose path is the key 0x80, that is the RLP of place 0. */
function rootByHand(type: Hex, fields: Parameters<typeof Rlp.fromHex>[0]): HashText {
	const value: Hex =
		type === '0x0' ? Rlp.fromHex(fields) : `0x${type.slice(2).padStart(2, '0')}${Rlp.fromHex(fields).slice(2)}`
	return Hash.keccak256(Rlp.fromHex(['0x2080', value]))
}

const noBloom: Hex = `0x${'0'.repeat(512)}`

describe('worked out by hand', () => {
	test.each<[name: string, type: Hex, more: object, beside: Hex[]]>([
		['a blob transaction', '0x3', {}, []],
		['a transaction with authorisations', '0x4', {}, []],
		['a deposit of Arbitrum', '0x64', {}, []],
		['a retryable ticket of Arbitrum', '0x69', {}, []],
		['an internal transaction of Arbitrum', '0x6a', { gasUsedForL1: '0x7' }, []],
		['a fee in tokens of Celo', '0x7b', { baseFee: '0x1234' }, ['0x1234']],
		['the same of a node that does not show it', '0x7b', {}, []],
		[
			'a deposit of nonce 0 since Canyon',
			'0x7e',
			{ depositNonce: '0x0', depositReceiptVersion: '0x1' },
			['0x', '0x01'],
		],
	])('default: %s', async (_, type, more, beside) => {
		const receipts = await receiptsOf([{ type, gas: '0x5208', more }])
		const root = rootByHand(type, ['0x01', '0x5208', noBloom, [], ...beside])
		expect(await receiptsRootOf(receipts)).toBe(root)
	})

	test('default: of what Arbitrum had before Nitro no root is known', async () => {
		const receipts = await receiptsOf([{ type: '0x78', gas: '0x5208' }])
		expect(await receiptsRootOf(receipts)).toBeNull()
	})

	test("behavior: Polygon's state sync may be left out, or stand there by its type; on Polygon only", async () => {
		const own: Said = { type: '0x2', gas: '0x5208' }
		const bridge: Said = {
			type: '0x7f',
			gas: '0x5208',
			logs: transfer,
			more: { from: `0x${'0'.repeat(40)}`, gasUsed: '0x0' },
		}
		const receipts = await receiptsOf([own, bridge])
		const without = rootByHand('0x2', ['0x01', '0x5208', noBloom, []])
		expect(await fitsRoot(receipts, { root: without, hasStateSync: true })).toBe(true)
		expect(await fitsRoot(receipts, { root: without, hasStateSync: false })).toBe(false)
		// Two leaves below a branch: keys 0x80 and 0x01; the second is so short that it stands in its place.
		const first: Hex = `0x02${Rlp.fromHex(['0x01', '0x5208', noBloom, []]).slice(2)}`
		const leaf = Hash.keccak256(Rlp.fromHex(['0x30', first]))
		const branch = Array.from({ length: 17 }, (): Parameters<typeof Rlp.fromHex>[0] => '0x')
		branch[8] = leaf
		branch[0] = ['0x31', '0x7f']
		const byType = Hash.keccak256(Rlp.fromHex(branch))
		expect(await fitsRoot(receipts, { root: byType, hasStateSync: true })).toBe(true)
		// Somebody's payment in its place is never left out.
		const paid = await receiptsOf([own, { ...bridge, more: { from: `0x${'1'.repeat(40)}`, gasUsed: '0x0' } }])
		expect(await fitsRoot(paid, { root: without, hasStateSync: true })).toBe(false)
		expect([1, 10, 137, 80_002].map(hasStateSync)).toEqual([false, false, true, true])
	})
})

test('default: authorisations, as Anvil has them', async () => {
	const node = await startTestAnvil(['--hardfork', 'prague'])
	onTestFinished(() => node.stop())
	const [from, to] = (await node.accounts()) as [Address, Address]
	const authorizationList = [{ chainId: '0x7a69', address: to, nonce: '0x0', yParity: '0x0', r: '0x1', s: '0x1' }]
	const hash = await node.rpc<HashText>('eth_sendTransaction', [
		{ from, to, gas: '0x30d40', type: '0x4', authorizationList },
	])
	const { blockNumber } = await node.receipt(hash)
	const raw = await node.rpc<unknown[]>('eth_getBlockReceipts', [blockNumber])
	expect(raw).toMatchObject([{ type: '0x4' }])
	const header = await node.rpc('eth_getBlockByNumber', [blockNumber, false])
	const receipts = await readAll(raw)
	expect(isObject(header) && header.receiptsRoot).toBe(await receiptsRootOf(receipts))
})

test('default: the roots of which chains are demanded from the first block on', () => {
	expect([1, 10, 8_453, 42_161, 56, 100, 43_114, 137, 31_337].every(isRootKnown)).toBe(true)
	// Celo, zkSync Era, and whatever no one has looked at.
	expect([42_220, 324, 987_654].some(isRootKnown)).toBe(false)
})
