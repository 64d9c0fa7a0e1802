/** An endpoint that repeats all it knows of whoever asks: address, user and password, in every form there is. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { postJson } from './askNode.js'
import { repeated } from './canaries.js'
import { orCut } from './orCut.js'

/** `good` hands the request on to a real node; all others fail in their own way. */
export type NodeMood = 'good' | 'failing' | 'error' | 'unauthorized' | 'page' | 'redirect' | 'cut' | 'limited'

export const badMoods: readonly NodeMood[] = ['failing', 'error', 'unauthorized', 'page', 'redirect', 'cut', 'limited']

export interface TalkativeNode {
	/** `127.0.0.1:<port>` */
	readonly host: string
	mood: NodeMood
	/** Before each answer; default 0. */
	delayMs: number
	/** Bodies of all requests. */
	readonly asked: readonly string[]
	close(): Promise<void>
}

export async function startTalkativeNode(nodeUrl: string): Promise<TalkativeNode> {
	const asked: string[] = []
	async function answerAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk as Buffer)
		const body = Buffer.concat(chunks).toString()
		asked.push(body)
		if (node.delayMs > 0) await sleep(node.delayMs)
		await answer(node.mood, body, request, response)
	}
	const server = createServer((request, response) => orCut(response, answerAll(request, response)))

	async function answer(
		mood: NodeMood,
		body: string,
		request: IncomingMessage,
		response: ServerResponse,
	): Promise<void> {
		const said = knowledgeOf(request)
		const headers = { 'content-type': 'application/json' }
		switch (mood) {
			case 'good': {
				const good = await postJson(nodeUrl, body)
				response.writeHead(good.status, headers).end(good.text)
				return
			}
			case 'error': {
				const calls = [JSON.parse(body)].flat()
				const answers = calls.map(({ id }) => ({
					jsonrpc: '2.0',
					id,
					error: { code: -32000, message: said, data: said },
				}))
				response.writeHead(200, headers).end(JSON.stringify(Array.isArray(JSON.parse(body)) ? answers : answers[0]))
				return
			}
			case 'failing':
				response.writeHead(500, headers).end(JSON.stringify({ error: { code: -32603, message: `down: ${said}` } }))
				return
			case 'unauthorized':
				response
					.writeHead(401, headers)
					.end(JSON.stringify({ error: { code: -32001, message: `no such key: ${said}` } }))
				return
			case 'page':
				response
					.writeHead(200, { 'content-type': 'text/html' })
					.end(`<html><title>${said}</title><p>${said}</p></html>`)
				return
			case 'redirect':
				response.writeHead(302, { location: `https://127.0.0.1:9${request.url}` }).end(said)
				return
			case 'cut':
				response
					.writeHead(200, headers)
					.end(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":${JSON.stringify(said)}`)
				return
			case 'limited':
				response.writeHead(429, { 'retry-after': '1' }).end(said)
		}
	}

	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const node: TalkativeNode = {
		host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
		mood: 'good',
		delayMs: 0,
		asked,
		async close() {
			server.close()
			server.closeAllConnections()
		},
	}
	return node
}

/**
 * Everything secret in a request, in an order that differs from one to the next, so that each form is once the first.
 */
export function knowledgeOf({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
	const { host: _, connection: __, 'content-type': ___, ...others } = headers
	const decoded = decodeURIComponent(url.replace(/%(?![0-9a-f]{2})/gi, '%25'))
	const login = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
	const known = [url, decoded, ...login.split(':'), ...Object.values(others).map(String)].flatMap(repeated)
	turn = (turn + 7) % known.length
	return [...known.slice(turn), ...known.slice(0, turn)].join(' | ')
}

let turn = 0
