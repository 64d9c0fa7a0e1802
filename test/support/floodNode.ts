/**
 * A node whose blocks a stranger has filled: any number of transactions, in each any number of calls inside, of which
 * some call a watched address, with one wei or with nothing; others are alike, or none is like another. Worked out from
 * the number of the block alone.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { orCut } from './orCut.js'

/** What fills a block. */
export interface Flood {
	readonly transactions: number
	/** Calls inside of each. */
	readonly calls: number
	/** The last of them call the watched address. */
	readonly hits: number
	/** With each of these. */
	readonly wei: bigint
	/** So many contracts call as many addresses each, besides: no two of these calls have the same parties. */
	readonly square?: number
}

export interface FloodNode {
	readonly url: string
	/** The newest block; blocks come when a test says so. */
	head: number
	/** What fills a block; null: it holds one payment to `bystander` of as many wei as its number. */
	fill: (block: number) => Flood | null
	/** How often each method was asked. */
	readonly asked: Map<string, number>
	/** Each answer waits for it. */
	before: (method: string, params: readonly unknown[]) => Promise<void> | void
	close(): Promise<void>
}

export const victim = `0x${'b5'.repeat(20)}` as const
export const bystander = `0x${'c6'.repeat(20)}` as const
const stranger = `0x${'57'.repeat(20)}`
export const contract = `0x${'58'.repeat(20)}`
const nobody = `0x${'00'.repeat(19)}04`
const callerAt = (at: number) => `0x${(0xca11e4n * 2n ** 136n + BigInt(at)).toString(16)}`
const calledAt = (at: number) => `0x${(0xca11edn * 2n ** 136n + BigInt(at)).toString(16)}`

const hex = (n: number | bigint) => `0x${n.toString(16)}`
const word = (n: bigint) => `0x${n.toString(16).padStart(64, '0')}`
const blockHash = (n: number) => word((0xb10cn << 224n) + BigInt(n + 1))
const txHash = (n: number, at: number) => word((0x7an << 224n) + (BigInt(n) << 32n) + BigInt(at))
const placeOf = (hash: string): [number, number] => {
	const id = BigInt(hash) & ((1n << 64n) - 1n)
	return [Number(id >> 32n), Number(id & 0xffffffffn)]
}

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
}

function drained(response: ServerResponse): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			response.off('drain', done)
			response.off('close', done)
			resolve()
		}
		response.on('drain', done)
		response.on('close', done)
	})
}

export async function startFloodNode(withFilter = true): Promise<FloodNode> {
	const transactions = (n: number) => node.fill(n)?.transactions ?? 1
	const header = (n: number) => ({
		number: hex(n),
		hash: blockHash(n),
		parentHash: blockHash(n - 1),
		timestamp: hex(Math.floor(bornMs / 1_000) - 1_000 + n),
		difficulty: '0x0',
		transactions: n === 0 ? [] : Array.from({ length: transactions(n) }, (_, at) => txHash(n, at)),
	})
	/** Rows of one transaction: what they have in common is made once. */
	const rowMaker = (n: number, at: number) => {
		const head = (from: string, to: string, wei: bigint) =>
			`{"action":{"from":"${from}","callType":"call","gas":"0x1","input":"0x","to":"${to}","value":"${hex(wei)}"},` +
			`"blockHash":"${blockHash(n)}","blockNumber":${n},"result":{"gasUsed":"0x1","output":"0x"},"subtraces":`
		const end = `],"transactionHash":"${txHash(n, at)}","transactionPosition":${at},"type":"call"}`
		return (from: string, to: string, wei: bigint) => {
			const begins = head(from, to, wei)
			return (path: string, subtraces: number) => `${begins}${subtraces},"traceAddress":[${path}${end}`
		}
	}

	/** What a filter asks for; null: everything. */
	type Asked = ((from: string, to: string) => boolean) | null

	function* rowsOf(n: number, at: number, asked: Asked): Generator<string> {
		const flood = node.fill(n)
		const row = rowMaker(n, at)
		const [to, wei] = flood === null ? [bystander, BigInt(n)] : [contract, 0n]
		const { calls, hits, square = 0 } = flood ?? { calls: 0, hits: 0 }
		if (asked === null || asked(stranger, to)) yield row(stranger, to, wei)('', calls + square)
		if (flood === null) return
		const [idle, hit] = [row(contract, nobody, 0n), row(contract, victim, flood.wei)]
		const [wantsIdle, wantsHit] = [asked?.(contract, nobody) ?? true, asked?.(contract, victim) ?? true]
		for (let call = 0; call < calls; call++) {
			const isHit = call >= calls - hits
			if (isHit ? wantsHit : wantsIdle) yield isHit ? hit(`${call}`, 0) : idle(`${call}`, 0)
		}
		if (asked !== null) return
		for (let by = 0; by < square; by++) {
			yield row(contract, callerAt(by), 0n)(`${calls + by}`, square)
			for (let of = 0; of < square; of++) {
				yield row(callerAt(by), calledAt(of), 0n)(`${calls + by},${of}`, 0)
			}
		}
	}

	function* blockRows(from: number, until: number, asked: Asked): Generator<string> {
		for (let n = Math.max(1, from); n <= Math.min(until, node.head); n++) {
			for (let at = 0; at < transactions(n); at++) yield* rowsOf(n, at, asked)
		}
	}

	const receipt = (n: number, at: number) => ({
		blockNumber: hex(n),
		blockHash: blockHash(n),
		transactionHash: txHash(n, at),
		transactionIndex: hex(at),
		from: stranger,
		to: contract,
		status: '0x1',
		type: '0x2',
		gasUsed: '0x5208',
		cumulativeGasUsed: hex(21_000 * (at + 1)),
		effectiveGasPrice: '0x1',
		logs: [],
	})
	/** After a block. */
	const balance = (address: unknown, upTo: number): bigint => {
		let sum = 10n ** 18n
		for (let n = 1; n <= upTo; n++) {
			const flood = node.fill(n)
			if (flood === null) sum += address === bystander ? BigInt(n) : 0n
			else if (address === victim) sum += BigInt(flood.transactions * flood.hits) * flood.wei
		}
		return sum
	}
	const numberOf = (tag: unknown): number => {
		if (typeof tag === 'object' && tag !== null && 'blockHash' in tag)
			return Number(BigInt(String(tag.blockHash)) & 0xffffffffn) - 1
		if (tag === 'latest') return node.head
		return ['safe', 'finalized'].includes(String(tag)) ? Math.max(0, node.head - 64) : Number(tag)
	}

	/** A value, the rows of a list, or undefined: there is no such method. */
	function answer(method: string, params: readonly unknown[]): unknown {
		const [first, second] = params
		switch (method) {
			case 'eth_chainId':
				return '0x1'
			case 'eth_blockNumber':
				return hex(node.head)
			case 'web3_clientVersion':
				return 'flood/1.0'
			case 'eth_getBlockByNumber':
				return numberOf(first) > node.head ? null : header(numberOf(first))
			case 'eth_getBalance':
				return hex(balance(first, numberOf(second)))
			case 'eth_getTransactionCount':
				return '0x0'
			case 'eth_getCode':
				return '0x'
			case 'eth_getTransactionReceipt':
				return receipt(...placeOf(String(first)))
			case 'eth_getBlockReceipts': {
				const n = numberOf(first)
				return Array.from({ length: transactions(n) }, (_, at) => receipt(n, at))
			}
			case 'trace_block':
				return numberOf(first) > node.head ? null : blockRows(numberOf(first), numberOf(first), null)
			case 'trace_transaction':
				return rowsOf(...placeOf(String(first)), null)
			case 'trace_filter': {
				if (!withFilter) return undefined
				const { fromBlock, toBlock, fromAddress, toAddress } = first as Filter
				const isAsked = (from: string, to: string) => fromAddress?.includes(from) || toAddress?.includes(to) || false
				const isFree = fromAddress === undefined && toAddress === undefined
				return blockRows(Number(fromBlock), Number(toBlock), isFree ? null : isAsked)
			}
			default:
				return undefined
		}
	}

	/** As it is made, in pieces: a large answer need not be held here. */
	async function write(response: ServerResponse, id: number, method: string, params: readonly unknown[]) {
		node.asked.set(method, (node.asked.get(method) ?? 0) + 1)
		await node.before(method, params)
		const result = answer(method, params)
		if (result === undefined) {
			const error = { code: -32601, message: `the method ${method} does not exist/is not available` }
			response.write(JSON.stringify({ jsonrpc: '2.0', id, error }))
		} else if (typeof result === 'object' && result !== null && Symbol.iterator in result && !Array.isArray(result)) {
			response.write(`{"jsonrpc":"2.0","id":${id},"result":[`)
			let waiting = ''
			let isFirst = true
			for (const one of result as Iterable<string>) {
				waiting += isFirst ? one : `,${one}`
				isFirst = false
				if (waiting.length < 65_536) continue
				if (response.destroyed) return
				if (!response.write(waiting)) await drained(response)
				waiting = ''
			}
			response.write(`${waiting}]}`)
		} else response.write(JSON.stringify({ jsonrpc: '2.0', id, result }))
	}

	async function answerAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk as Buffer)
		const body = JSON.parse(Buffer.concat(chunks).toString())
		if (!Array.isArray(body)) await write(response, body.id, body.method, body.params)
		else {
			for (const [at, { id, method, params }] of body.entries()) {
				response.write(at === 0 ? '[' : ',')
				await write(response, id, method, params)
			}
			response.write(']')
		}
		response.end()
	}
	const server = createServer((request, response) => orCut(response, answerAll(request, response)))
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const bornMs = Date.now()
	const node: FloodNode = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		head: 0,
		fill: () => null,
		asked: new Map(),
		before: () => undefined,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
	return node
}
