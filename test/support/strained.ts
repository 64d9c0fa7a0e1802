/**
 * A node behind a strained way: answers that take their time, requests that fail by rule or by chance, and all of it
 * counted.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { askNode } from './askNode.js'
import { rpcError } from './faults.js'
import type { Call, Fault } from './faultyNode.js'
import { sendJson } from './faultyNode.js'
import { orCut } from './orCut.js'

/** What a node that does not change has answered; shared, so that hundreds of runs do not wait for one Anvil. */
export type Answers = Map<string, Promise<object>>

export interface Strained {
	readonly url: string
	/** Each answer is so far away. */
	delayMs: number
	/** Calls in one HTTP request; more are refused. */
	mostBatch: number
	/** The node is asked for the calls of a request in one, and nothing is kept; false: for each by itself. */
	asksTogether: boolean
	/** Asked for each HTTP request, with its calls; null: it is answered well. */
	next: (calls: readonly Call[]) => Fault | null
	/** The same, by the number of calls in the request. */
	faultOf: (calls: number) => Fault | null
	/** HTTP requests since the last `forget`, failed ones included. */
	requests: number
	/** Calls since then, by method, those of failed requests included. */
	readonly calls: Map<string, number>
	/** The most requests that were under way at once. */
	most: number
	/** The longest chain of requests, each of which came when the one before had been answered. */
	waits: number
	forget(): void
	close(): Promise<void>
}

/** `answers` null: of a chain that goes on, nothing is kept. */
export async function startStrained(nodeUrl: string, answers: Answers | null = new Map()): Promise<Strained> {
	const ask = async (method: string, params: readonly unknown[]): Promise<object> => {
		const call = { jsonrpc: '2.0', id: 1, method, params }
		const { result, error } = await askNode<{ result?: unknown; error?: unknown }>(nodeUrl, call)
		return error === undefined ? { result } : { error }
	}
	/** In one request, as they came. */
	const askTogether = async (calls: readonly Call[]): Promise<object[]> => {
		const sent = calls.map(({ method, params }, at) => ({ jsonrpc: '2.0', id: at, method, params }))
		const answered = await askNode<{ id: number; result?: unknown; error?: unknown }[]>(nodeUrl, sent)
		const byPlace = new Map(answered.map(({ id, ...rest }) => [id, rest]))
		return calls.map(({ id }, at) => ({ ...byPlace.get(at), id }))
	}
	const answerTo = async ({ id, method, params }: Call): Promise<object> => {
		const key = JSON.stringify([method, params])
		const known = answers?.get(key) ?? ask(method, params)
		answers?.set(key, known)
		return { jsonrpc: '2.0', id, ...(await known) }
	}
	let underWay = 0
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('error', () => undefined)
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		const answerAll = async () => {
			const sent = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[]
			const calls = [sent].flat()
			strained.requests += 1
			for (const { method } of calls) strained.calls.set(method, (strained.calls.get(method) ?? 0) + 1)
			underWay += 1
			const wait = strained.waits + 1
			strained.most = Math.max(strained.most, underWay)
			response.once('close', () => {
				underWay -= 1
			})
			// Not one that was given up meanwhile.
			response.once('finish', () => {
				strained.waits = Math.max(strained.waits, wait)
			})
			const batch = Array.isArray(sent)
			const tooMany = `Batch of more than ${strained.mostBatch} requests are not allowed`
			const fault =
				strained.next(calls) ??
				strained.faultOf(calls.length) ??
				(calls.length > strained.mostBatch ? rpcError(31, tooMany) : null)
			if (strained.delayMs > 0) await sleep(strained.delayMs)
			const isTogether = strained.asksTogether && calls.length > 1
			const good = await (isTogether ? askTogether(calls) : Promise.all(calls.map(answerTo)))
			if (fault === null) sendJson(response, batch ? good : good[0])
			else fault({ path: '/', headers: request.headers, batch, calls }, response, batch ? good : good[0])
		}
		request.on('end', () => orCut(response, answerAll()))
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const strained: Strained = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		delayMs: 0,
		mostBatch: 1_000,
		asksTogether: false,
		next: () => null,
		faultOf: () => null,
		requests: 0,
		calls: new Map(),
		most: 0,
		waits: 0,
		forget() {
			strained.requests = 0
			strained.most = 0
			strained.waits = 0
			strained.calls.clear()
		},
		async close() {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		},
	}
	return strained
}

/** Each n-th request fails. */
export function eachNth(n: number, fault: Fault): () => Fault | null {
	let asked = 0
	return () => (++asked % n === 0 ? fault : null)
}

/** So many requests out of a hundred fail. What they ask and the attempt decide, not the order in which they arrive. */
export function byChance(percent: number, fault: Fault, seed: number): Strained['next'] {
	const attempts = new Map<string, number>()
	return (calls) => {
		const asked = JSON.stringify(calls.map(({ method, params }) => [method, params]))
		const attempt = (attempts.get(asked) ?? 0) + 1
		attempts.set(asked, attempt)
		const hash = createHash('sha256').update(`${seed} ${attempt} ${asked}`).digest()
		return hash.readUInt32BE() % 100 < percent ? fault : null
	}
}
