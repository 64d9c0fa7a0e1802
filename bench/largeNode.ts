// A node of large blocks, as a process of its own so that its work is not counted as the program's. Speaks to its
// parent by messages: tells its URL, and is told where its head is.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { blockHash, hex, type LargeRow, largeBlock, placeOf, tracesPerTransaction } from './largeBlocks.js'

let head = 0
/** Blocks (and rows) by address, for `trace_filter`; up to `indexed`. */
const byAddress = new Map<string, number[]>()
let indexed = -1

function indexUpTo(to: number): void {
	for (let number = indexed + 1; number <= to; number += 1) {
		for (const { from, to } of largeBlock(number).rows) {
			for (const address of [from, to]) {
				const list = byAddress.get(address)
				if (list === undefined) byAddress.set(address, [number])
				else if (list.at(-1) !== number) list.push(number)
			}
		}
	}
	indexed = Math.max(indexed, to)
}

function rowsOf(number: number): string {
	return number > head
		? '[]'
		: `[${largeBlock(number)
				.rows.map(({ text }) => text)
				.join(',')}]`
}

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
}

/** Either list, as Erigon's and Anvil's default has it. */
function filter({ fromBlock, toBlock, fromAddress = [], toAddress = [] }: Filter): string {
	const [first, last] = [Number(fromBlock), Math.min(Number(toBlock), head)]
	indexUpTo(last)
	const [senders, payees] = [new Set(fromAddress), new Set(toAddress)]
	const isAll = senders.size + payees.size === 0
	const numbers = new Set<number>()
	if (isAll) for (let number = first; number <= last; number += 1) numbers.add(number)
	for (const address of [...senders, ...payees]) {
		for (const number of byAddress.get(address) ?? []) if (number >= first && number <= last) numbers.add(number)
	}
	const isAsked = ({ from, to }: LargeRow) => isAll || senders.has(from) || payees.has(to)
	const texts = [...numbers]
		.sort((a, b) => a - b)
		.flatMap((number) =>
			largeBlock(number)
				.rows.filter(isAsked)
				.map(({ text }) => text),
		)
	return `[${texts.join(',')}]`
}

function header(tag: string): string {
	const tags: Readonly<Record<string, number>> = { latest: head, safe: head - 32, finalized: head - 64 }
	const number = Math.max(0, tags[tag] ?? Number(tag))
	return number > head ? 'null' : JSON.stringify(largeBlock(number).header)
}

function treeOf(hash: string): string {
	const { number, index } = placeOf(hash)
	const rows = largeBlock(number).rows.slice(index * tracesPerTransaction, (index + 1) * tracesPerTransaction)
	return `[${rows.map(({ text }) => text).join(',')}]`
}

function receipt(hash: string): string {
	const { number, index } = placeOf(hash)
	const place = { blockNumber: hex(number), blockHash: blockHash(number), transactionIndex: hex(index) }
	return JSON.stringify({ transactionHash: hash, ...place, status: '0x1' })
}

/** JSON text of the result; null: no such method. */
function resultOf(method: string, params: readonly unknown[]): string | null {
	const text = String(params[0])
	if (method === 'eth_chainId') return '"0x7a69"'
	if (method === 'eth_blockNumber') return JSON.stringify(hex(head))
	if (method === 'web3_clientVersion') return '"large/v1"'
	if (method === 'eth_getBlockByNumber') return header(text)
	if (method === 'eth_getTransactionReceipt') return receipt(text)
	if (method === 'trace_transaction') return treeOf(text)
	if (method === 'trace_block') return rowsOf(Number(text))
	if (method === 'trace_filter') return filter(params[0] as Filter)
	return null
}

function answer({ id, method, params }: { id: number; method: string; params: readonly unknown[] }): string {
	const result = resultOf(method, params)
	if (result !== null) return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
	return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"the method ${method} does not exist"}}`
}

const server = createServer(async (request, response) => {
	const chunks: Buffer[] = []
	for await (const chunk of request) chunks.push(chunk as Buffer)
	const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
	const text = Array.isArray(body) ? `[${body.map(answer).join(',')}]` : answer(body)
	response.writeHead(200, { 'content-type': 'application/json' }).end(text)
})
server.listen(0, '127.0.0.1', () => {
	process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('message', (message: { readonly head: number }) => {
	head = message.head
	process.send?.({ head })
})
process.on('disconnect', () => process.exit(0))
