/** A JSON-RPC node on loopback that behaves as the test says: well by default, or with any fault of `faults.ts`. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
	readonly id: unknown
	readonly method: string
	readonly params: readonly unknown[]
}

/** One HTTP request that came in. */
export interface Ask {
	readonly path: string
	readonly headers: IncomingHttpHeaders
	readonly batch: boolean
	readonly calls: readonly Call[]
}

/** Answers one HTTP request, in whatever wrong way; `good` is what a good node would have said. */
export type Fault = (ask: Ask, response: ServerResponse, good: unknown) => void

export interface FaultyNode {
	/** `127.0.0.1:<port>`. */
	readonly host: string
	readonly url: string
	/** Every HTTP request so far. */
	readonly asks: readonly Ask[]
	chainId: number
	head: number
	/** Results by method, besides the few that every node has. */
	readonly results: Map<string, (params: readonly unknown[]) => unknown>
	/**
	 * From now on; `times` requests, or until the next `fail` or `fix`. With `method` only requests that hold a call of
	 * it.
	 */
	fail(fault: Fault, options?: { readonly times?: number; readonly method?: string }): void
	mend(): void
	/** HTTP requests that held a call of this method. */
	count(method: string): number
	close(): Promise<void>
}

export async function startFaultyNode(): Promise<FaultyNode> {
	const asks: Ask[] = []
	let fault: Fault | null = null
	let left = 0
	let only: string | undefined

	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		// Clients that give up are part of the game.
		response.on('error', () => {})
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
			const calls = (Array.isArray(body) ? body : [body]) as readonly Call[]
			const ask: Ask = { path: request.url ?? '', headers: request.headers, batch: Array.isArray(body), calls }
			asks.push(ask)
			const answers = calls.map((call) => answer(node, call))
			const good = ask.batch ? answers : answers[0]
			if (fault === null || left < 1 || !(only === undefined || calls.some(({ method }) => method === only))) {
				sendJson(response, good)
				return
			}
			left -= 1
			fault(ask, response, good)
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

	const node: FaultyNode = {
		host,
		url: `http://${host}`,
		asks,
		chainId: 1,
		head: 1_000,
		results: new Map(),
		fail(next, { times = Number.POSITIVE_INFINITY, method } = {}) {
			fault = next
			left = times
			only = method
		},
		mend() {
			fault = null
		},
		count: (method) => asks.filter(({ calls }) => calls.some((call) => call.method === method)).length,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
	return node
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: object = {}): void {
	response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

function answer(node: FaultyNode, { id, method, params }: Call): object {
	const result = node.results.get(method)
	if (result !== undefined) return { jsonrpc: '2.0', id, result: result(params) }
	if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: `0x${node.chainId.toString(16)}` }
	if (method === 'eth_blockNumber') return { jsonrpc: '2.0', id, result: `0x${node.head.toString(16)}` }
	const message = `the method ${method} does not exist/is not available`
	return { jsonrpc: '2.0', id, error: { code: -32601, message } }
}
