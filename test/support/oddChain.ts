/** A chain with debug traces only, which grows as a test says, behind an HTTP server whose answers a test may edit. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as Hash from 'ox/Hash'
import * as Rlp from 'ox/Rlp'

export type Json = Record<string, unknown>
type Hex = `0x${string}`
type Edit = (method: string, params: readonly unknown[], result: unknown) => unknown

export interface OddChain {
	readonly url: string
	/** Number of the newest block. */
	readonly head: () => number
	/** Adds a block that pays `watched` coins, and perhaps a token; without a payment an empty one. Gives the payment. */
	mine(payment?: { readonly tokens?: boolean }): string | null
	/** The next block gets a number that is higher by so many. */
	skip(numbers: number): void
	/** What is answered instead; `undefined`: no such method. */
	edit: Edit
	close(): Promise<void>
}

export const chainId = 777_777
export const watched = `0x${'a1'.repeat(20)}`
const payer = `0x${'b2'.repeat(20)}`
export const token: Hex = `0x${'c3'.repeat(20)}`
export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const hex = (n: number) => `0x${n.toString(16)}`
const word = (n: number, mark: string): Hex => `0x${mark}${n.toString(16).padStart(64 - mark.length, '0')}`
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const transfer = Hash.keccak256(`0x${Buffer.from('Transfer(address,address,uint256)').toString('hex')}`)

interface Block {
	readonly header: Json & { readonly hash: Hex; readonly number: string }
	readonly receipts: readonly Json[]
	readonly traces: readonly Json[]
}

export async function startOddChain(): Promise<OddChain> {
	const blocks: Block[] = [blockOf({ number: 0, parentHash: word(0, 'ee'), payment: null })]
	let left = 0
	const newest = () => blocks.at(-1) as Block
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body = JSON.parse(Buffer.concat(chunks).toString())
			const answers = [body].flat().map(({ id, method, params }) => {
				const result = node.edit(method, params, answerOf(blocks, method, params))
				if (result !== undefined) return { jsonrpc: '2.0', id, result }
				return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} does not exist` } }
			})
			response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const node: OddChain = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		head: () => Number(newest().header.number),
		mine(payment) {
			const { number, hash } = newest().header
			const block = blockOf({ number: Number(number) + 1 + left, parentHash: hash, payment: payment ?? null })
			left = 0
			blocks.push(block)
			return (block.receipts[0]?.transactionHash as string | undefined) ?? null
		},
		skip(numbers) {
			left += numbers
		},
		edit: (_method, _params, result) => result,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
	return node
}

function blockOf(of: {
	readonly number: number
	readonly parentHash: Hex
	readonly payment: { readonly tokens?: boolean } | null
}): Block {
	const { number, parentHash, payment } = of
	const [blockHash, transactionHash] = [word(number, 'bb'), word(number, '77')]
	const place = { blockNumber: hex(number), blockHash, transactionHash, transactionIndex: '0x0' }
	const log = { address: token, topics: [transfer, topic(payer), topic(watched)], data: word(5, '') }
	const logs = payment?.tokens === true ? [{ ...log, ...place, logIndex: '0x0' }] : []
	const logsBloom = bloomOf(logs.flatMap(({ address, topics }) => [address, ...topics]))
	const gas = { cumulativeGasUsed: hex(50_000), gasUsed: hex(50_000), effectiveGasPrice: '0x1' }
	const receipt = { ...place, ...gas, type: '0x2', from: payer, to: watched, status: '0x1', logs, logsBloom }
	const isEmpty = payment === null
	return {
		header: {
			...{ number: hex(number), hash: blockHash, parentHash, difficulty: '0x0', logsBloom },
			timestamp: hex(1_700_000_000 + number),
			gasUsed: isEmpty ? '0x0' : hex(50_000),
			transactionsRoot: isEmpty ? emptyRoot : word(number, '99'),
			receiptsRoot: isEmpty ? emptyRoot : word(number, '88'),
			transactions: isEmpty ? [] : [transactionHash],
		},
		receipts: isEmpty ? [] : [receipt],
		traces: isEmpty ? [] : [{ txHash: transactionHash, result: callOf(number) }],
	}
}

function callOf(number: number): Json {
	const sides = { from: payer, to: watched, value: hex(1_000 + number) }
	return { type: 'CALL', ...sides, gas: '0x1', gasUsed: '0x1', input: '0x' }
}

export function bloomOf(values: readonly string[]): string {
	const bits = new Uint8Array(256)
	for (const value of values) {
		const digest = Hash.keccak256(value as Hex, { as: 'Bytes' })
		for (const at of [0, 2, 4]) {
			const bit = (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
			bits[255 - (bit >> 3)] = (bits[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
		}
	}
	return `0x${Buffer.from(bits).toString('hex')}`
}

/** The root of a block with this one receipt, of type 2. */
export function rootOf({ cumulativeGasUsed, logsBloom, logs }: Json): string {
	const listed = (logs as Json[]).map(({ address, topics, data }) => [address, topics, data])
	return rootOfOne(['0x01', evenHex(cumulativeGasUsed), logsBloom, listed], 2)
}

/** The root of a block with this one withdrawal. */
export function withdrawalsRootOf({ index, validatorIndex, address, amount }: Json): string {
	return rootOfOne([evenHex(index), evenHex(validatorIndex), address, evenHex(amount)])
}

const evenHex = (quantity: unknown) => `0x${String(quantity).slice(2)}`.replace(/^0x(.(..)*)$/, '0x0$1')

/** The root of a list of one entry: a single leaf under the path 8, 0. */
function rootOfOne(fields: readonly unknown[], ...type: readonly number[]): string {
	const entry = Buffer.concat([Uint8Array.from(type), Rlp.fromHex(fields as never, { as: 'Bytes' })])
	return Hash.keccak256(Rlp.fromBytes([Uint8Array.of(0x20, 0x80), entry]), { as: 'Hex' })
}

function answerOf(blocks: readonly Block[], method: string, params: readonly unknown[]): unknown {
	const [first, options] = params as [string, Json | undefined]
	const newest = blocks.at(-1)
	const isTag = ['latest', 'safe', 'finalized'].includes(first)
	const block = isTag ? newest : blocks.find(({ header }) => header.number === first)
	const all = blocks.flatMap(({ receipts }) => receipts)
	switch (method) {
		case 'eth_chainId':
			return hex(chainId)
		case 'eth_blockNumber':
			return newest?.header.number
		case 'web3_clientVersion':
			return 'geth/1.16.0'
		case 'eth_getBlockByNumber':
			return block?.header ?? null
		case 'eth_getBlockReceipts':
			return block?.receipts ?? null
		case 'eth_getTransactionReceipt':
			return all.find(({ transactionHash }) => transactionHash === first) ?? null
		case 'eth_getTransactionByHash':
			return all.some(({ transactionHash }) => transactionHash === first) ? { hash: first, from: payer } : null
		case 'debug_traceBlockByNumber':
			return options?.tracer === 'callTracer' ? block?.traces : undefined
		case 'eth_getBalance': {
			const at = params[1] as string | { readonly blockHash: string }
			const last = blocks.findIndex(({ header: { hash, number } }) =>
				typeof at === 'string' ? number === at : hash === at.blockHash,
			)
			const values = blocks
				.slice(0, last + 1)
				.flatMap(({ traces }) => traces.map(({ result }) => Number((result as Json).value)))
			return last < 0 ? undefined : hex(first === watched ? values.reduce((sum, value) => sum + value, 0) : 0)
		}
		case 'eth_getLogs': {
			const { fromBlock, toBlock, blockHash } = params[0] as Json
			const isIn = ({ header: { hash, number } }: Block) =>
				blockHash === undefined
					? Number(fromBlock) <= Number(number) && Number(number) <= Number(toBlock)
					: blockHash === hash
			return blocks.filter(isIn).flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
		}
		default:
			return undefined
	}
}
