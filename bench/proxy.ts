// Stands between the program and a node and writes down what passes: to count requests, and to send them again bare.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

export interface Exchange {
	readonly request: string
	readonly answer: string
	/** Of each call in the request. */
	readonly methods: readonly string[]
}

export interface Proxy {
	readonly url: string
	/** Since the last call of `take`. */
	take(): readonly Exchange[]
	close(): Promise<void>
}

export interface Way {
	/** Each answer is so far away. */
	readonly delayMs?: number
	/** Each so many requests one is answered 502 instead. */
	readonly failEach?: number
}

export async function startProxy(target: string, { delayMs = 0, failEach = 0 }: Way = {}): Promise<Proxy> {
	const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 })
	let exchanges: Exchange[] = []
	let asked = 0
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk as Buffer)
		const body = Buffer.concat(chunks).toString('utf8')
		if (delayMs > 0) await sleep(delayMs)
		asked += 1
		if (failEach > 0 && asked % failEach === 0) {
			response.writeHead(502).end()
			return
		}
		const headers = { 'content-type': 'application/json' }
		const answered = await pool.request({ method: 'POST', path: '/', headers, body })
		const answer = await answered.body.text()
		const calls = [JSON.parse(body)].flat() as readonly { readonly method: string }[]
		exchanges.push({ request: body, answer, methods: calls.map(({ method }) => method) })
		response.writeHead(answered.statusCode, headers).end(answer)
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		take() {
			const taken = exchanges
			exchanges = []
			return taken
		},
		async close() {
			server.closeAllConnections()
			server.close()
			await pool.destroy()
		},
	}
}
