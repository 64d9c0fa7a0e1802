// Movements that are rare on a chain, each in a block of its own. What is sent adds up to what the balances say.
import { getContractAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import { hex, type Receipt, startTestAnvil, type TestAnvil, type Tx } from '../support/anvil.js'
import { alertOf, type Bench, openBench, watchOf } from './bench.js'

/** Accounts 0 and 1 of Anvil's usual mnemonic. */
const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const signer = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const sender = sponsor.address.toLowerCase() as Address
const owner = signer.address.toLowerCase() as Address
const identity: Address = '0x0000000000000000000000000000000000000004'
const curve: Address = '0x0000000000000000000000000000000000000006'
const purse: Address = '0x00000000000000000000000000000000000c0fee'
const nobody: Address = '0x0000000000000000000000000000000000000000'

/** Pays all that it has to the address in its input; a transaction itself gives less than 2^128 wei on Anvil. */
const whale: Address = '0x00000000000000000000000000000000000ba1e0'
/** Pays what it is given to the address in its input. */
const payer: Address = '0x000000000000000000000000000000000000f0d0'
/** CREATE2 of its input with what it is given, salt 0. */
const factory: Address = '0x000000000000000000000000000000000000fac0'
/** Logs a transfer from the caller to the address in its input. */
const token: Address = '0x0000000000000000000000000000000000070ce2'
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const codes: readonly (readonly [Address, string])[] = [
	[whale, '0x6000600060006000476000355af100'],
	[payer, '0x6000600060006000346000355af100'],
	[factory, '0x363d3d37600036600034f500'],
	[token, `0x602035600052600035337f${transferTopic}60206000a300`],
]
/** Creates a contract of one byte. */
const good: Hex = '0x60016000f3'
const reverting: Hex = '0x60006000fd'
const born = getContractAddress({ bytecode: good, from: factory, opcode: 'CREATE2', salt: `0x${'0'.repeat(64)}` })
const target = born.toLowerCase() as Address
const unborn = getContractAddress({
	bytecode: reverting,
	from: factory,
	opcode: 'CREATE2',
	salt: `0x${'0'.repeat(64)}`,
})

const watched = [sender, owner, identity, curve, purse, factory, target, unborn.toLowerCase() as Address]
const word = (value: string | bigint) => (typeof value === 'bigint' ? hex(value) : value).slice(2).padStart(64, '0')
const most = 2n ** 256n - 1n
const half = 2n ** 255n
const coins = 2n ** 191n - 1n

interface Row {
	readonly name: string
	readonly before?: (node: TestAnvil) => Promise<unknown>
	readonly txs: readonly Partial<Tx>[]
	/** Kind, direction, address and amount in the smallest unit. */
	readonly said: readonly (readonly [string, string, Address, bigint])[]
}

const rows: readonly Row[] = [
	{
		name: 'coins for a precompile',
		txs: [{ to: identity, valueWei: 5n }],
		said: [
			['transfer', 'out', sender, 5n],
			['transfer', 'in', identity, 5n],
		],
	},
	{
		name: 'coins that a contract pays to a precompile',
		txs: [{ to: payer, valueWei: 6n, data: `0x${word(identity)}` }],
		said: [
			['transfer', 'out', sender, 6n],
			['transfer', 'in', identity, 6n],
		],
	},
	{
		name: 'coins for a precompile that fails',
		txs: [{ to: curve, valueWei: 5n, data: `0x${word(most)}${word(most)}` }],
		said: [],
	},
	{
		name: 'a contract created by CREATE2 where coins lay',
		txs: [
			{ to: target, valueWei: 4n },
			{ to: factory, valueWei: 3n, data: good },
		],
		said: [
			['transfer', 'out', sender, 4n],
			['transfer', 'in', target, 4n],
			['transfer', 'out', sender, 3n],
			['transfer', 'in', factory, 3n],
			['deployment', 'out', factory, 3n],
			['deployment', 'in', target, 3n],
		],
	},
	{
		name: 'a creation with coins that fails',
		txs: [{ valueWei: 7n, data: reverting }],
		said: [],
	},
	{
		name: 'a creation with coins that fails inside of a transaction that succeeds',
		txs: [{ to: factory, valueWei: 8n, data: reverting }],
		said: [
			['transfer', 'out', sender, 8n],
			['transfer', 'in', factory, 8n],
		],
	},
	{
		name: 'a sender who receives the fees of the block',
		before: (node) => node.rpc('anvil_setCoinbase', [sender]),
		txs: [
			{ to: purse, valueWei: 9n },
			{ valueWei: 7n, data: reverting },
		],
		said: [
			['transfer', 'out', sender, 9n],
			['transfer', 'in', purse, 9n],
		],
	},
	{
		name: 'coins of 191 bits',
		before: (node) => node.rpc('anvil_setBalance', [whale, hex(coins)]),
		txs: [{ to: whale, data: `0x${word(purse)}` }],
		said: [['transfer', 'in', purse, coins]],
	},
	{
		name: 'a token of 77 decimals, and the largest amounts',
		txs: [most, half, 1n].map((raw) => ({ to: token, data: `0x${word(owner)}${word(raw)}` })),
		said: [most, half, 1n].flatMap((raw) => [
			['token', 'out', sender, raw] as const,
			['token', 'in', owner, raw] as const,
		]),
	},
]

function inWhole(raw: bigint, places: number): string {
	const fraction = (raw % 10n ** BigInt(places)).toString().padStart(places, '0')
	return `${raw / 10n ** BigInt(places)}.${fraction}`.replace(/\.?0+$/, '')
}

describe('rare movements', () => {
	let node: TestAnvil
	let bench: Bench

	beforeAll(async () => {
		node = await startTestAnvil(['--no-mining', '--hardfork', 'prague'])
		for (const [address, code] of codes) await node.rpc('anvil_setCode', [address, code])
		const tokens = new Map([[token, { address: token, symbol: 'TKN', decimals: 77, minAmountRaw: null }]])
		const kinds = ['transfer', 'deployment', 'token', 'delegation', 'unexplained'] as const
		const watches = watched.map((address) => watchOf(address, { kinds }))
		bench = await openBench({ urls: [node.url], watches, network: { tokens } })
		await node.mine(2)
		await bench.settle()
	})
	afterAll(async () => {
		await bench.close()
		await node.stop()
	})

	async function mined(): Promise<readonly AlertData[]> {
		const before = (await bench.posted()).length
		await node.mine()
		await bench.settle()
		return (await bench.posted()).slice(before).map(alertOf)
	}

	/** What fees take and give, by the receipts. */
	async function feesWei(address: Address, receipts: readonly Receipt[]): Promise<bigint> {
		type Header = { readonly miner: Address; readonly baseFeePerGas: string }
		const { miner, baseFeePerGas } = await node.rpc<Header>('eth_getBlockByNumber', ['latest', false])
		let sum = 0n
		for (const { from, gasUsed, effectiveGasPrice } of receipts) {
			if (from === address) sum -= BigInt(gasUsed) * BigInt(effectiveGasPrice)
			if (miner === address) sum += BigInt(gasUsed) * (BigInt(effectiveGasPrice) - BigInt(baseFeePerGas))
		}
		return sum
	}

	test.each(rows)('behavior: $name', async ({ before, txs, said }) => {
		await before?.(node)
		const hashes: Hash[] = []
		for (const tx of txs) hashes.push(await node.send({ from: sender, gas: 200_000n, ...tx }))
		const alerts = await mined()
		const seen = alerts.map(({ id, kind, direction, value }) => [kind, direction, id.split(':').at(-1), value])
		const places = (kind: string) => (kind === 'token' ? 77 : 18)
		expect(seen).toEqual(said.map(([kind, side, address, raw]) => [kind, side, address, inWhole(raw, places(kind))]))
		const receipts = await Promise.all(hashes.map((hash) => node.receipt(hash)))
		const number = await node.head()
		for (const address of watched) {
			let wei = await feesWei(address, receipts)
			for (const [kind, direction, whose, amount] of said)
				if (whose === address && kind !== 'token') wei += (direction === 'in' ? 1n : -1n) * amount
			const [from, to] = [await node.balanceWei(address, number - 1n), await node.balanceWei(address, number)]
			expect(to - from, address).toBe(wei)
		}
	})

	test.each([
		{ name: 'by two transactions: both are told', lists: [[0], [1]], told: [payer, null] },
		{ name: 'by one transaction, in which nothing could run it: nothing is told', lists: [[0, 1]], told: [] },
	])('behavior: a delegation set and cleared in one block, $name', async ({ lists, told }) => {
		const nonceOf = async (address: Address) => Number(await node.rpc('eth_getTransactionCount', [address, 'latest']))
		const [first, paying] = [await nonceOf(owner), await nonceOf(sender)]
		const sign = (at: number) => {
			const contractAddress = at === 0 ? payer : nobody
			return signer.signAuthorization({ contractAddress, chainId: 31337, nonce: first + at })
		}
		const common = { type: 'eip7702', chainId: 31337, gas: 200_000n, to: nobody } as const
		const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
		const hashes: Hash[] = []
		for (const [index, list] of lists.entries()) {
			const authorizationList = await Promise.all(list.map(sign))
			const raw = await sponsor.signTransaction({ ...common, ...fees, nonce: paying + index, authorizationList })
			hashes.push(await node.rpc<Hash>('eth_sendRawTransaction', [raw]))
		}
		const alerts = await mined()
		const number = await node.head()
		expect([await node.code(owner, number - 1n), await node.code(owner, number)]).toEqual(['0x', '0x'])
		expect(alerts.map(({ id, delegate }) => [id, delegate?.toLowerCase() ?? null])).toEqual(
			told.map((delegate, index) => [`31337:${hashes[index]}:auth_0:delegation:${owner}`, delegate]),
		)
		expect(await nonceOf(owner)).toBe(first + 2)
	})
})
