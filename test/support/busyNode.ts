/**
 * A node with one address that is paid and pays in every block, of coins and of a token: any number of movements,
 * worked out from the number of the block alone, so that nothing of them need be kept.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { orCut } from './orCut.js'

export interface BusyNode {
	readonly url: string
	/** Blocks in which the address is paid and pays. */
	readonly busyBlocks: number
	/** What it says that the address has after a block. */
	balanceWei(block: number): bigint
	balanceOf(block: number): bigint
	close(): Promise<void>
}

export interface BusyChain {
	readonly blocks: number
	/** Transactions of each block: those of odd places pay the address, those of even ones are paid by it. */
	readonly transactions: number
	/** Of blocks only each so many-th has transactions; default 1. */
	readonly every?: number
	/** From this block on all of them have; default: none. */
	readonly denseFrom?: number
}

export const busy = `0x${'b5'.repeat(20)}` as const
export const token = `0x${'70'.repeat(20)}` as const

const stranger = `0x${'57'.repeat(20)}`
const [inWei, outWei, gas, gasWei] = [3_000_000_000_000_000n, 1_000_000_000_000n, 21_000n, 1_000_000_007n]
const [openingWei, openingRaw] = [10n ** 21n, 10n ** 12n]
const [inRaw, outRaw] = [7_000_000n, 3_000_000n]
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const hex = (n: number | bigint) => `0x${n.toString(16)}`
const word = (n: bigint) => `0x${n.toString(16).padStart(64, '0')}`
const padded = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const blockHash = (n: number) => word((0xb10cn << 224n) + BigInt(n + 1))
const txHash = (n: number, at: number) => word((0x7an << 224n) + (BigInt(n) << 32n) + BigInt(at))

interface Row {
	readonly action: { readonly from: string; readonly to: string }
}

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
	readonly topics?: readonly (string | readonly string[] | null)[]
	readonly blockHash?: string
}

export async function startBusyNode({ blocks, transactions, every = 1, denseFrom }: BusyChain): Promise<BusyNode> {
	const dense = denseFrom ?? blocks + 1
	const isBusy = (n: number) => n > 0 && n <= blocks && (n % every === 0 || n >= dense)
	const places = (n: number) => (isBusy(n) ? Array.from({ length: transactions }, (_, at) => at) : [])
	const sides = (at: number) => (at % 2 === 1 ? [stranger, busy] : [busy, stranger]) as [string, string]
	const paid = Math.floor(transactions / 2)
	const pays = transactions - paid
	/** Blocks with transactions up to this one, it included. */
	const busyBlocks = (n: number) =>
		BigInt(n < dense ? Math.floor(n / every) : Math.floor((dense - 1) / every) + (n - dense + 1))
	const balanceWei = (n: number) =>
		openingWei + busyBlocks(n) * (BigInt(paid) * inWei - BigInt(pays) * (outWei + gas * gasWei))
	const balanceOf = (n: number) => openingRaw + busyBlocks(n) * (BigInt(paid) * inRaw - BigInt(pays) * outRaw)

	const placeOf = (n: number, at: number) => ({
		blockNumber: hex(n),
		blockHash: blockHash(n),
		transactionHash: txHash(n, at),
		transactionIndex: hex(at),
	})
	const header = (n: number) => ({
		number: hex(n),
		hash: blockHash(n),
		parentHash: blockHash(n - 1),
		timestamp: hex(1_700_000_000 + n * 12),
		difficulty: '0x0',
		transactions: places(n).map((at) => txHash(n, at)),
	})
	const row = (n: number, at: number) => {
		const [from, to] = sides(at)
		return {
			type: 'call',
			action: { from, to, value: hex(to === busy ? inWei : outWei), callType: 'call', gas: '0x1', input: '0x' },
			result: { gasUsed: '0x0', output: '0x' },
			subtraces: 0,
			traceAddress: [],
			blockNumber: n,
			blockHash: blockHash(n),
			transactionHash: txHash(n, at),
			transactionPosition: at,
		}
	}
	const log = (n: number, at: number) => {
		const [from, to] = sides(at)
		return {
			address: token,
			topics: [transferTopic, padded(from), padded(to)],
			data: word(to === busy ? inRaw : outRaw),
			logIndex: hex(at),
			removed: false,
			...placeOf(n, at),
		}
	}
	const receipt = (n: number, at: number) => {
		const [from, to] = sides(at)
		return {
			...placeOf(n, at),
			from,
			to,
			status: '0x1',
			type: '0x2',
			gasUsed: hex(gas),
			cumulativeGasUsed: hex(gas * BigInt(at + 1)),
			effectiveGasPrice: hex(gasWei),
			logs: [log(n, at)],
		}
	}
	const found = (hash: string): [number, number] => {
		const id = BigInt(hash) & ((1n << 64n) - 1n)
		return [Number(id >> 32n), Number(id & 0xffffffffn)]
	}
	function* between({ fromBlock, toBlock }: Filter): Generator<[number, number]> {
		for (let n = Number(fromBlock); n <= Math.min(Number(toBlock), blocks); n++)
			for (const at of places(n)) yield [n, at]
	}
	const numberOf = (tag: unknown) => {
		if (typeof tag === 'object' && tag !== null && 'blockHash' in tag)
			return Number(BigInt(String(tag.blockHash)) & 0xffffffffn) - 1
		return ['latest', 'safe', 'finalized'].includes(String(tag)) ? blocks : Number(tag)
	}

	function answer(method: string, params: readonly unknown[]): unknown {
		const [first, second] = params
		switch (method) {
			case 'eth_chainId':
				return '0x1'
			case 'eth_blockNumber':
				return hex(blocks)
			case 'web3_clientVersion':
				return 'busy/1.0'
			case 'eth_getBlockByNumber':
				return numberOf(first) > blocks ? null : header(numberOf(first))
			case 'eth_getBalance':
				return hex(first === busy ? balanceWei(numberOf(second)) : 0n)
			case 'eth_getTransactionCount':
				return hex(busyBlocks(numberOf(second)) * BigInt(pays))
			case 'eth_getCode':
				return '0x'
			case 'eth_call':
				return String((first as { to?: string }).to).toLowerCase() === token
					? word(balanceOf(numberOf(second)))
					: undefined
			case 'eth_getTransactionReceipt':
				return receipt(...found(String(first)))
			case 'eth_getBlockReceipts':
				return places(numberOf(first)).map((at) => receipt(numberOf(first), at))
			case 'trace_block':
				return places(numberOf(first)).map((at) => row(numberOf(first), at))
			case 'trace_transaction':
				return [row(...found(String(first)))]
			case 'trace_filter': {
				const filter = first as Filter
				const rows: Row[] = []
				for (const [n, at] of between(filter)) rows.push(row(n, at))
				const isNamed = ({ action }: Row) =>
					filter.fromAddress?.includes(action.from) || filter.toAddress?.includes(action.to)
				return filter.fromAddress === undefined && filter.toAddress === undefined ? rows : rows.filter(isNamed)
			}
			case 'eth_getLogs': {
				const filter = first as Filter
				const one = filter.blockHash === undefined ? null : hex(numberOf(filter))
				const logs = [...between(one === null ? filter : { fromBlock: one, toBlock: one })].map(([n, at]) => log(n, at))
				return logs.filter(({ topics }) =>
					(filter.topics ?? []).every((asked, at) => asked === null || [asked].flat().includes(topics[at] ?? '')),
				)
			}
			default:
				return undefined
		}
	}

	async function answerAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk as Buffer)
		const body = JSON.parse(Buffer.concat(chunks).toString())
		const answers = [body].flat().map(({ id, method, params }) => {
			const result = answer(method, params)
			if (result !== undefined) return JSON.stringify({ jsonrpc: '2.0', id, result })
			return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } })
		})
		response.end(Array.isArray(body) ? `[${answers.join(',')}]` : answers[0])
	}
	const server = createServer((request, response) => orCut(response, answerAll(request, response)))
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		busyBlocks: Number(busyBlocks(blocks)),
		balanceWei,
		balanceOf,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
}
