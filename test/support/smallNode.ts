/** The small chain behind a real HTTP server, with answers that a test may change. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerOf } from './smallChain.js'

export interface SmallNode {
	readonly url: string
	/** Methods of all calls, in order. */
	readonly asked: string[]
	/** What it says instead; text is written as it is. */
	edit: (method: string, params: readonly unknown[], result: unknown) => unknown
	close(): Promise<void>
}

/** Written into the answer as it is. */
export function raw(json: string): { readonly raw: string } {
	return { raw: json }
}

export async function startSmallNode(): Promise<SmallNode> {
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		response.on('error', () => {})
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body = JSON.parse(Buffer.concat(chunks).toString())
			const answers = [body].flat().map(({ id, method, params }) => {
				node.asked.push(method)
				const result = node.edit(method, params, answerOf(method, params))
				if (result === undefined) {
					const message = `the method ${method} does not exist/is not available`
					return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message } })
				}
				const isRaw = typeof result === 'object' && result !== null && 'raw' in result
				return `{"jsonrpc":"2.0","id":${id},"result":${isRaw ? result.raw : JSON.stringify(result)}}`
			})
			response.end(Array.isArray(body) ? `[${answers.join(',')}]` : answers[0])
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const node: SmallNode = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		asked: [],
		edit: (_method, _params, result) => result,
		async close() {
			server.closeAllConnections()
			server.close()
			await once(server, 'close')
		},
	}
	return node
}
