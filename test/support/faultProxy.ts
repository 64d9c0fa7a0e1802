/**
 * Hands JSON-RPC requests on to a node, and answers some of them wrongly, as a schedule says; it can also lag behind,
 * or claim a head that it has not got.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { askNode } from './askNode.js'
import { type Call, type Fault, sendJson } from './faultyNode.js'
import { emptyRoot } from './oddChain.js'
import { orCut } from './orCut.js'

export interface FaultProxy {
	readonly url: string
	/** Asked for each request; null: it is answered well. */
	next: () => Fault | null
	/** Blocks that this endpoint has not got yet. */
	lagBlocks: bigint
	/** Blocks that it claims beyond its head: the number it gives its newest block is higher by this. */
	claimedBlocks: bigint
	/** It shows headers of the blocks that it claims, made up and without transactions; their traces it has not got. */
	makesHeaders: boolean
	close(): Promise<void>
}

export async function startFaultProxy(nodeUrl: string): Promise<FaultProxy> {
	const ask = (body: unknown) => askNode<{ result?: unknown }>(nodeUrl, body)
	const headOf = async () =>
		BigInt(String((await ask({ jsonrpc: '2.0', id: 0, method: 'eth_blockNumber', params: [] })).result)) -
		proxy.lagBlocks

	/** As a node answers that knows nothing beyond its own head. */
	async function answer(call: Call, head: bigint): Promise<unknown> {
		const [first] = call.params
		if (proxy.claimedBlocks !== 0n) return claim(call)
		if (proxy.lagBlocks === 0n) return ask(call)
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

	async function claim(call: Call): Promise<unknown> {
		const answer = await ask(call)
		const more = (number: unknown) => `0x${(BigInt(String(number)) + proxy.claimedBlocks).toString(16)}`
		if (call.method === 'eth_blockNumber') return { ...answer, result: more(answer.result) }
		const [asked] = call.params
		if (call.method !== 'eth_getBlockByNumber') return answer
		const isBeyond = proxy.makesHeaders && answer.result === null
		if (!isBeyond && asked !== 'latest') return answer
		const latest = { ...call, params: ['latest', false] }
		const block = (isBeyond ? await ask(latest) : answer).result as { readonly number: string }
		const number = isBeyond ? asked : more(block.number)
		if (!proxy.makesHeaders) return { ...answer, result: { ...block, number } }
		const hashOf = (at: bigint) => `0x${(0xabcn * 2n ** 240n + at).toString(16).padStart(64, '0')}`
		const parent = BigInt(String(number)) - 1n
		const isNext = parent === BigInt((await ask(latest).then(({ result }) => result as { number: string })).number)
		const parentHash = isNext ? (block as unknown as { hash: string }).hash : hashOf(parent)
		const names = { hash: hashOf(BigInt(String(number))), parentHash, transactions: [], gasUsed: '0x0' }
		return { ...answer, result: { ...block, number, ...names, transactionsRoot: emptyRoot } }
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
		claimedBlocks: 0n,
		makesHeaders: false,
		async close() {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		},
	}
	return proxy
}
