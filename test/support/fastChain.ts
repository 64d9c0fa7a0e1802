/**
 * A chain with a block each quarter of a second, as a node far away tells of it: over HTTP, and its heads over
 * WebSocket. It exists only as answers, the same at every run; each tenth block pays a watched address by an inner
 * call.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Address } from '../../src/model/glossary.js'

export interface FastChain {
	readonly chainId: number
	readonly url: string
	readonly ws: string
	/** Each answer takes so long. */
	delayMs: number
	/** The newest block now. */
	head(): number
	/**
	 * HTTP requests, and calls in them, so far; and waits: how often a request came while no other was under way, that
	 * is: someone had waited for the answer before.
	 */
	readonly asked: { requests: number; calls: number; waits: number }
	/** Hashes of the payments to the watched address up to and with block `to`, after `from`. */
	payments(from: number, to: number): readonly string[]
	close(): Promise<void>
}

export const payee: Address = '0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe'
const perBlock = 8
const everyBlocks = 10
const payingPlace = 3
const firstBlock = 1_000
const hex = (n: number) => `0x${n.toString(16)}`
const word = (kind: string, n: number, bytes: number) =>
	`0x${kind}${n.toString(16).padStart(2 * bytes - kind.length, '0')}`
const blockHash = (n: number) => word('b10c', n, 32)
const txHash = (n: number, at: number) => word('7a', n * 16 + at, 32)
const person = (n: number) => word('acc', n, 20)
const paysAt = (n: number) => n % everyBlocks === 0

export async function startFastChain({ chainId = 31_337, blockMs = 250, delayMs = 20 } = {}): Promise<FastChain> {
	const bornMs = Date.now()
	const asked = { requests: 0, calls: 0, waits: 0 }
	let underWay = 0
	const head = () => firstBlock + Math.floor((Date.now() - bornMs) / blockMs)
	const timestampOf = (n: number) => Math.floor((bornMs + (n - firstBlock) * blockMs) / 1_000)

	const header = (n: number) => ({
		number: hex(n),
		hash: blockHash(n),
		parentHash: blockHash(n - 1),
		timestamp: hex(timestampOf(n)),
		difficulty: '0x0',
		transactions: Array.from({ length: perBlock }, (_, at) => txHash(n, at)),
	})

	const result = (method: string, params: readonly unknown[]): unknown => {
		const [first] = params
		const tags: Readonly<Record<string, number>> = { latest: head(), safe: head() - 32, finalized: head() - 64 }
		const number = typeof first === 'string' ? (tags[first] ?? Number(first)) : Number.NaN
		const exists = number <= head()
		switch (method) {
			case 'eth_chainId':
				return hex(chainId)
			case 'eth_blockNumber':
				return hex(head())
			case 'web3_clientVersion':
				return 'fast/v1'
			case 'eth_getBlockByNumber':
				return exists ? header(number) : null
			case 'trace_block':
				return exists ? rowsOf(number) : null
			case 'trace_transaction': {
				const { n, at } = placeOf(String(first))
				return rowsOf(n).filter((row) => row.transactionPosition === at)
			}
			case 'trace_filter': {
				const { fromBlock, toBlock, ...lists } = first as Record<string, string> & Lists
				const all: Row[] = []
				for (let n = Number(fromBlock); n <= Math.min(Number(toBlock), head()); n += 1) all.push(...rowsOf(n))
				return all.filter((row) => isAsked(row, lists))
			}
			case 'eth_getTransactionReceipt': {
				const { n, at } = placeOf(String(first))
				const place = { blockNumber: hex(n), blockHash: blockHash(n), transactionIndex: hex(at) }
				const paid = { from: person(at), gasUsed: '0x5208', effectiveGasPrice: '0x1' }
				return { transactionHash: first, ...place, ...paid, status: '0x1', logs: [] }
			}
			case 'eth_getBalance': {
				const at = params[1] as string | { readonly blockHash: string }
				const n = typeof at === 'string' ? Number(at) : Number(`0x${at.blockHash.slice(6)}`)
				return first === payee ? hex(Math.floor(n / everyBlocks)) : '0x0'
			}
			default:
				return undefined
		}
	}

	const answer = ({ id, method, params }: { id: unknown; method: string; params: readonly unknown[] }) => {
		asked.calls += 1
		const said = result(method, params)
		const error = { code: -32601, message: `the method ${method} does not exist/is not available` }
		return said === undefined ? { jsonrpc: '2.0', id, error } : { jsonrpc: '2.0', id, result: said }
	}
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			asked.requests += 1
			if (underWay === 0) asked.waits += 1
			underWay += 1
			const sent = JSON.parse(Buffer.concat(chunks).toString('utf8'))
			setTimeout(() => {
				underWay -= 1
				const said = Array.isArray(sent) ? sent.map(answer) : answer(sent)
				response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
			}, chain.delayMs)
		})
	})
	const sockets = new WebSocketServer({ server })
	const subscribed = new Set<WebSocket>()
	sockets.on('connection', (socket) => {
		socket.on('message', (data) => {
			const { id } = JSON.parse(String(data)) as { readonly id: unknown }
			socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
			subscribed.add(socket)
		})
		socket.on('close', () => subscribed.delete(socket))
	})
	let told = head()
	const telling = setInterval(() => {
		if (head() === told) return
		told = head()
		const params = { subscription: '0x1', result: header(told) }
		const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
		for (const socket of subscribed) socket.send(text)
	}, 5)
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
	const chain: FastChain = {
		chainId,
		url: `http://${host}`,
		ws: `ws://${host}`,
		delayMs,
		asked,
		head,
		payments(from, to) {
			const blocks = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + 1 + at)
			return blocks.filter(paysAt).map((n) => txHash(n, payingPlace))
		},
		async close() {
			clearInterval(telling)
			for (const socket of sockets.clients) socket.terminate()
			sockets.close()
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
	return chain
}

interface Lists {
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
}

type Row = ReturnType<typeof rowsOf>[number]

/** Of each transaction a call, and a call inside of it. */
function rowsOf(n: number) {
	return Array.from({ length: perBlock }, (_, at) => {
		const isPayment = paysAt(n) && at === payingPlace
		const parties = [
			{ from: person(at), to: person(100 + at), path: [], subtraces: 1 },
			{ from: person(100 + at), to: isPayment ? payee : person(200 + at), path: [0], subtraces: 0 },
		]
		return parties.map(({ from, to, path, subtraces }) => ({
			action: { callType: 'call', from, to, gas: '0x5208', input: '0x', value: '0x1' },
			blockHash: blockHash(n),
			blockNumber: n,
			result: { gasUsed: '0x0', output: '0x' },
			subtraces,
			traceAddress: path,
			transactionHash: txHash(n, at),
			transactionPosition: at,
			type: 'call',
		}))
	}).flat()
}

function isAsked({ action: { from, to } }: Row, { fromAddress, toAddress }: Lists): boolean {
	if (fromAddress === undefined && toAddress === undefined) return true
	return (fromAddress?.includes(from) ?? false) || (toAddress?.includes(to) ?? false)
}

function placeOf(hash: string): { readonly n: number; readonly at: number } {
	const place = Number(`0x${hash.slice(4)}`)
	return { n: Math.floor(place / 16), at: place % 16 }
}
