/**
 * Blocks of Amsterdam with their access lists (EIP-7928), made by @ethereumjs/vm, and a node on loopback that serves
 * them. Nothing here is the code under test: the lists, their hashes and all balances come from that VM.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Block, createBlock } from '@ethereumjs/block'
import { createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common'
import type { InterpreterStep } from '@ethereumjs/evm'
import { createTxFromRLP, type TypedTransaction } from '@ethereumjs/tx'
import { Account, bytesToHex, createAddressFromString, createWithdrawal, hexToBytes } from '@ethereumjs/util'
import { buildBlock, createVM, type RunTxResult } from '@ethereumjs/vm'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../src/model/glossary.js'
import { ether } from './anvil.js'

const CHAIN_ID = 31337
const GAS = 10_000_000n
const TIP = 3n

export interface Payment {
	readonly by: PrivateKeyAccount
	/** Default: a contract is made of `data`. */
	readonly to?: Address
	readonly wei?: bigint
	readonly data?: Hex
	/** How many blobs come with it. */
	readonly blobs?: number
	/** EIP-7702: each of them lets `to` run for it. */
	readonly delegate?: readonly { readonly of: PrivateKeyAccount; readonly to: Address }[]
}

interface Row {
	readonly action: object
	readonly traceAddress: readonly number[]
	readonly type: string
	result?: object
	error?: string
	subtraces: number
}

interface Made {
	readonly block: Block
	readonly header: Record<string, unknown>
	readonly list: readonly object[]
	/** After the block, of every account that its list names. */
	readonly state: ReadonlyMap<string, { readonly wei: bigint; readonly nonce: bigint; readonly code: Hex }>
	readonly transactions: readonly { readonly rows: Row[]; readonly whole: object; readonly receipt: object }[]
}

export type AmsterdamChain = Awaited<ReturnType<typeof openAmsterdam>>

const hexOf = (n: bigint | number): Hex => `0x${n.toString(16)}`

/** The n-th account; each has 1,000 ether before block 1. */
export const accountOf = (n: number) => privateKeyToAccount(`0x${(0xace000 + n).toString(16).padStart(64, '0')}`)
export const addressOf = ({ address }: PrivateKeyAccount) => address.toLowerCase() as Address

export async function openAmsterdam(accounts: readonly PrivateKeyAccount[]) {
	const common = createCustomCommon({ chainId: CHAIN_ID }, Mainnet, {
		hardfork: Hardfork.Amsterdam,
		// Blobs are only named here, never proved.
		customCrypto: { kzg: {} as never },
	})
	const vm = await createVM({ common })
	for (const { address } of accounts)
		await vm.stateManager.putAccount(createAddressFromString(address), new Account(0n, 1_000n * ether))
	const genesis = createBlock(
		{
			header: { number: 0, gasLimit: 200_000_000n, baseFeePerGas: 7n, stateRoot: await vm.stateManager.getStateRoot() },
		},
		{ common },
	)
	const chain: Made[] = [
		{
			block: genesis,
			header: headerOf(genesis),
			list: [],
			state: await stateOf(accounts.map(addressOf)),
			transactions: [],
		},
	]

	async function stateOf(addresses: readonly Address[]): Promise<Made['state']> {
		const state = new Map<string, { wei: bigint; nonce: bigint; code: Hex }>()
		for (const one of addresses) {
			const address = createAddressFromString(one)
			const { balance = 0n, nonce = 0n } = (await vm.stateManager.getAccount(address)) ?? {}
			state.set(one, { wei: balance, nonce, code: bytesToHex(await vm.stateManager.getCode(address)) })
		}
		return state
	}

	const nonceOf = async ({ address }: PrivateKeyAccount) =>
		Number((await vm.stateManager.getAccount(createAddressFromString(address)))?.nonce ?? 0n)

	async function signed({ by, to, wei = 0n, data = '0x', blobs, delegate }: Payment, baseFee: bigint) {
		const nonce = await nonceOf(by)
		const fees = { gas: GAS, maxFeePerGas: baseFee + TIP, maxPriorityFeePerGas: TIP }
		const usual = { chainId: CHAIN_ID, nonce, value: wei, data, ...(to && { to }), ...fees }
		if (blobs !== undefined) {
			const hash = (at: number): Hex => `0x01${hexOf(at).slice(2).padStart(62, '0')}`
			const blobVersionedHashes = Array.from({ length: blobs }, (_, at) => hash(at))
			return by.signTransaction({
				type: 'eip4844',
				...usual,
				to: to as Address,
				blobVersionedHashes,
				maxFeePerBlobGas: 1_000n,
			})
		}
		if (delegate === undefined) return by.signTransaction({ type: 'eip1559', ...usual })
		const seen = new Map<string, number>([[by.address, nonce + 1]])
		const authorizationList = []
		for (const { of, to: contractAddress } of delegate) {
			const own = seen.get(of.address) ?? (await nonceOf(of))
			seen.set(of.address, own + 1)
			authorizationList.push(await of.signAuthorization({ contractAddress, chainId: CHAIN_ID, nonce: own }))
		}
		return by.signTransaction({ type: 'eip7702', ...usual, authorizationList })
	}

	/** Mines one block of these payments, in order. */
	async function mine(payments: readonly Payment[] = [], paid: readonly { to: Address; gwei: bigint }[] = []) {
		const parent = (chain.at(-1) as Made).block
		const timestamp = 1_700_000_000n + (parent.header.number + 1n) * 12n
		const withdrawals = paid.map(({ to, gwei }, index) =>
			createWithdrawal({ index, validatorIndex: 5n, address: createAddressFromString(to), amount: gwei }),
		)
		const headerData = { timestamp, coinbase: createAddressFromString(`0x${'c0'.repeat(20)}`) }
		const builder = await buildBlock(vm, { parentBlock: parent, headerData, withdrawals, blockOpts: { common } })
		const baseFee = parent.header.calcNextBaseFee()
		const ran: { tx: TypedTransaction; result: RunTxResult; rows: Row[] }[] = []
		for (const payment of payments) {
			const tx = createTxFromRLP(hexToBytes(await signed(payment, baseFee)), { common })
			const { rows, stop } = recordRows(vm)
			ran.push({ tx, result: await builder.addTransaction(tx, { allowNoBlobs: true }), rows })
			stop()
		}
		const { block, blockLevelAccessList } = await builder.build()
		const transactions = ran.map((one, index) => transactionOf(one, index, block, baseFee))
		const list = listOf(blockLevelAccessList?.toJSON() ?? [])
		const state = await stateOf(list.map((one) => (one as { address: Address }).address))
		chain.push({ block, header: headerOf(block), list, state, transactions })
		return { number: Number(block.header.number), hashes: ran.map(({ tx }) => bytesToHex(tx.hash())) }
	}

	return {
		mine,
		chain,
		/** After the newest block. */
		balance: async (of: Address) => (await vm.stateManager.getAccount(createAddressFromString(of)))?.balance ?? 0n,
	}
}

function headerOf(block: Block): Record<string, unknown> {
	const { header } = block.toJSON()
	const hashes = block.transactions.map((tx) => bytesToHex(tx.hash()))
	const withdrawals = block.withdrawals?.map((one) => one.toJSON())
	const { coinbase, receiptTrie, uncleHash, transactionsTrie, ...rest } = header as Record<string, unknown>
	const renamed = {
		miner: coinbase,
		receiptsRoot: receiptTrie,
		sha3Uncles: uncleHash,
		transactionsRoot: transactionsTrie,
	}
	return { ...rest, ...renamed, hash: bytesToHex(block.hash()), transactions: hashes, withdrawals, uncles: [] }
}

/** The names and the form of execution-apis; the VM's own JSON has those of its fixtures. */
function listOf(list: readonly object[]): readonly object[] {
	const short = (hex: string) => hexOf(BigInt(hex === '0x' ? 0 : hex))
	const changes = (all: readonly Record<string, string>[]) =>
		all.map(({ blockAccessIndex = '', ...rest }) => {
			const [[name, value] = ['', '']] = Object.entries(rest)
			return name === 'newCode'
				? { index: short(blockAccessIndex), code: value }
				: { index: short(blockAccessIndex), value: short(value) }
		})
	return (list as readonly Record<string, never>[]).map((one) => ({
		address: one.address,
		balanceChanges: changes(one.balanceChanges ?? []),
		nonceChanges: changes(one.nonceChanges ?? []),
		codeChanges: changes(one.codeChanges ?? []),
		storageReads: ((one.storageReads ?? []) as readonly string[]).map(short),
		storageChanges: ((one.storageChanges ?? []) as readonly { slot: string; slotChanges: never[] }[]).map(
			({ slot, slotChanges }) => ({ key: short(slot), changes: changes(slotChanges) }),
		),
	}))
}

/** The frames of one transaction, as trace_block tells them. */
function recordRows(vm: Awaited<ReturnType<typeof createVM>>) {
	const rows: Row[] = []
	const open: Row[] = []
	const { events } = vm.evm
	if (events === undefined) throw new Error('the VM tells no frames')
	function begin(type: string, action: object): Row {
		const parent = open.at(-1)
		const traceAddress = parent === undefined ? [] : [...parent.traceAddress, parent.subtraces++]
		const row = { type, action, traceAddress, subtraces: 0 }
		rows.push(row)
		return row
	}
	const before = (message: Parameters<NonNullable<Parameters<typeof events.on<'beforeMessage'>>[1]>>[0]) => {
		const { to, caller, value, data, gasLimit, delegatecall } = message
		const [from, gas, wei] = [caller.toString(), hexOf(gasLimit), hexOf(value)]
		const callType = delegatecall ? 'delegatecall' : message.isStatic ? 'staticcall' : 'call'
		const input = bytesToHex(data ?? new Uint8Array())
		open.push(
			to === undefined
				? begin('create', { from, gas, value: wei, init: input })
				: begin('call', {
						from,
						to: (delegatecall ? message.codeAddress : to).toString(),
						gas,
						value: wei,
						input,
						callType,
					}),
		)
	}
	const after = (result: Parameters<NonNullable<Parameters<typeof events.on<'afterMessage'>>[1]>>[0]) => {
		const row = open.pop()
		if (row === undefined) return
		const { exceptionError, executionGasUsed, returnValue } = result.execResult
		const gasUsed = hexOf(executionGasUsed)
		if (exceptionError !== undefined) row.error = exceptionError.error === 'revert' ? 'Reverted' : 'Out of gas'
		else if (row.type === 'create')
			row.result = { gasUsed, address: result.createdAddress?.toString(), code: bytesToHex(returnValue) }
		else row.result = { gasUsed, output: bytesToHex(returnValue) }
	}
	const step = async ({ opcode, stack, address, stateManager }: InterpreterStep, next?: () => void) => {
		if (opcode.name === 'SELFDESTRUCT') {
			const balance = hexOf((await stateManager.getAccount(address))?.balance ?? 0n)
			const heir = hexOf(stack.at(-1) ?? 0n)
				.slice(2)
				.padStart(40, '0')
				.slice(-40)
			begin('suicide', { address: address.toString(), refundAddress: `0x${heir}`, balance })
		}
		next?.()
	}
	events.on('step', step)
	events.on('beforeMessage', before)
	events.on('afterMessage', after)
	const stop = () => {
		events.off('step', step)
		events.off('beforeMessage', before)
		events.off('afterMessage', after)
	}
	return { rows, stop }
}

function transactionOf(
	{ tx, result, rows }: { tx: TypedTransaction; result: RunTxResult; rows: Row[] },
	index: number,
	block: Block,
	baseFee: bigint,
) {
	const place = { blockHash: bytesToHex(block.hash()), blockNumber: hexOf(block.header.number) }
	const [hash, from] = [bytesToHex(tx.hash()), tx.getSenderAddress().toString()]
	const { data, gasLimit, authorizationList, ...rest } = tx.toJSON() as Record<string, unknown>
	const whole = authorizationList === undefined ? rest : { ...rest, authorizationList: tuplesOf(authorizationList) }
	const named = { ...whole, input: data, gas: gasLimit, hash, from, transactionIndex: hexOf(index), ...place }
	const isGood = result.execResult.exceptionError === undefined
	const logs = result.receipt.logs.map(([address, topics, bytes], logIndex) => ({
		...{ address: bytesToHex(address), topics: topics.map((one) => bytesToHex(one)), data: bytesToHex(bytes) },
		...{ transactionHash: hash, transactionIndex: hexOf(index), logIndex: hexOf(logIndex), removed: false, ...place },
	}))
	const receipt = {
		...{
			type: hexOf(tx.type),
			from,
			to: tx.to?.toString() ?? null,
			transactionHash: hash,
			transactionIndex: hexOf(index),
		},
		...{
			status: isGood ? '0x1' : '0x0',
			gasUsed: hexOf(result.totalGasSpent),
			effectiveGasPrice: hexOf(baseFee + TIP),
		},
		...('blobGasUsed' in result.receipt && {
			blobGasUsed: hexOf(result.receipt.blobGasUsed),
			blobGasPrice: hexOf(result.receipt.blobGasPrice),
		}),
		cumulativeGasUsed: hexOf(result.receipt.cumulativeBlockGasUsed),
		...{ logs, logsBloom: bytesToHex(result.receipt.bitvector), contractAddress: null, ...place },
	}
	return { rows, whole: named, receipt }
}

/** The VM writes 0 as 0x. */
function tuplesOf(list: unknown) {
	return (list as readonly Record<string, string>[]).map((one) =>
		Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value === '0x' ? '0x0' : value])),
	)
}

export interface AmsterdamNode {
	readonly url: string
	/** Methods and parameters of all calls, in order. */
	readonly asked: string[]
	close(): Promise<void>
}

/** What it answers instead; undefined: what is true. */
export type Twist = (method: string, params: readonly unknown[], result: unknown) => unknown

/** A node with `trace_block`, and with the state of every block, as long as it is asked of single addresses. */
export async function serveAmsterdam(
	{ chain }: AmsterdamChain,
	twist: Twist = () => undefined,
): Promise<AmsterdamNode> {
	const asked: string[] = []
	const answer = (method: string, params: readonly unknown[]) => {
		asked.push(`${method} ${JSON.stringify(params)}`.toLowerCase())
		const result = answerOf(chain, method, params)
		const bent = result === undefined ? undefined : twist(method, params, result)
		return bent === undefined ? result : bent
	}
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body = JSON.parse(Buffer.concat(chunks).toString())
			const answers = [body].flat().map(({ id, method, params = [] }) => {
				const result = answer(method, params)
				const error = { code: -32601, message: `the method ${method} does not exist/is not available` }
				return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }
			})
			response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		asked,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
}

function answerOf(chain: readonly Made[], method: string, [first, second]: readonly unknown[]): unknown {
	const byTag = first === 'latest' ? chain.at(-1) : first === 'safe' || first === 'finalized' ? chain[0] : undefined
	const byName = typeof first === 'string' && /^0x/.test(first)
	const made =
		byTag ?? (byName ? (chain.find(({ header }) => header.hash === first) ?? chain[Number(first)]) : undefined)
	const all = chain.flatMap(({ transactions }) => transactions)
	switch (method) {
		case 'eth_chainId':
			return hexOf(CHAIN_ID)
		case 'eth_blockNumber':
			return hexOf(chain.length - 1)
		case 'web3_clientVersion':
			return 'amsterdam/1.0.0'
		case 'eth_getBlockByNumber':
		case 'eth_getBlockByHash':
			if (made === undefined) return null
			return second === true
				? { ...made.header, transactions: made.transactions.map(({ whole }) => whole) }
				: made.header
		case 'eth_getBlockReceipts':
			return made?.transactions.map(({ receipt }) => receipt) ?? null
		case 'eth_getTransactionReceipt':
			return (
				all.find(({ receipt }) => 'transactionHash' in receipt && receipt.transactionHash === first)?.receipt ?? null
			)
		case 'eth_getTransactionByHash':
			return all.find(({ whole }) => 'hash' in whole && whole.hash === first)?.whole ?? null
		case 'eth_getBalance':
			return hexOf(stateAt(chain, first, second)?.wei ?? 0n)
		case 'eth_getTransactionCount':
			return hexOf(stateAt(chain, first, second)?.nonce ?? 0n)
		case 'eth_getCode':
			return stateAt(chain, first, second)?.code ?? '0x'
		case 'eth_getBlockAccessList':
			return made?.list ?? null
		case 'trace_block':
			return made?.transactions.flatMap(({ rows, whole }) => rows.map((row) => ({ ...row, ...placeOf(whole) }))) ?? []
		default:
			return undefined
	}
}

function stateAt(chain: readonly Made[], address: unknown, at: unknown) {
	const hash = typeof at === 'object' && at !== null && 'blockHash' in at ? at.blockHash : null
	const until = hash === null ? Number(at) : chain.findIndex(({ header }) => header.hash === hash)
	const named = chain.slice(0, until + 1).findLast(({ state }) => state.has(String(address).toLowerCase()))
	return named?.state.get(String(address).toLowerCase())
}

function placeOf(whole: object) {
	const { hash, blockHash, blockNumber, transactionIndex } = whole as Record<string, string>
	const [number, position] = [Number(blockNumber), Number(transactionIndex)]
	return { transactionHash: hash, blockHash, blockNumber: number, transactionPosition: position }
}
