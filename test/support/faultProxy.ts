/**
 * Hands JSON-RPC requests on to a node, and answers some of them wrongly, as a schedule says; it can also lag behind.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { askNode } from './askNode.js'
import { type Call, type Fault, sendJson } from './faultyNode.js'
import { orCut } from './orCut.js'

export interface FaultProxy {
	readonly url: string
	/** Asked for each request; null: it is answered well. */
	next: () => Fault | null
	/** Blocks that this endpoint has not got yet. */
	lagBlocks: bigint
	close(): Promise<void>
}

export async function startFaultProxy(nodeUrl: string): Promise<FaultProxy> {
	const ask = (body: unknown) => askNode<{ result?: unknown }>(nodeUrl, body)
	const headOf = async () =>
		BigInt(String((await ask({ jsonrpc: '2.0', id: 0, method: 'eth_blockNumber', params: [] })).result)) -
		proxy.lagBlocks

	/** As a node answers that knows nothing beyond its own head. */
	async function answer(call: Call, head: bigint): Promise<unknown> {
		if (proxy.lagBlocks === 0n) return ask(call)
		const [first] = call.params
		if (call.method === 'eth_getBlockByNumber' && first === 'latest') {
			return ask({ ...call, params: [`0x${head.toString(16)}`, false] })
		}
		const beyond = (value: unknown) => typeof value === 'string' && value.startsWith('0x') && BigInt(value) > head
		if (call.method === 'eth_getBlockByNumber' && beyond(first)) return { jsonrpc: '2.0', id: call.id, result: null }
		if (call.method === 'trace_block' && beyond(first)) return { jsonrpc: '2.0', id: call.id, result: [] }
		const range = first as { toBlock?: string } | undefined
		// The worst of the habits: an empty answer for blocks that it has not got.
		if (call.method === 'trace_filter' && beyond(range?.toBlock)) return { jsonrpc: '2.0', id: call.id, result: [] }
		return ask(call)
	}

	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('error', () => undefined)
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		const answerAll = async () => {
			const sent = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[]
			const calls = Array.isArray(sent) ? sent : [sent]
			const head = proxy.lagBlocks === 0n ? 0n : await headOf()
			const answers = await Promise.all(calls.map((call) => answer(call, head)))
			const good = Array.isArray(sent) ? answers : answers[0]
			const fault = proxy.next()
			if (fault === null) return sendJson(response, good)
			fault({ path: request.url ?? '/', headers: request.headers, batch: Array.isArray(sent), calls }, response, good)
		}
		request.on('end', () => orCut(response, answerAll()))
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const proxy: FaultProxy = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		next: () => null,
		lagBlocks: 0n,
		async close() {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		},
	}
	return proxy
}
