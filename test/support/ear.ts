import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { postJson } from './askNode.js'
import { orCut } from './orCut.js'

/** Hands every request on to a node, and keeps what was asked. */
export async function startEar(url: string) {
	const heard: string[] = []
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		const answer = async () => {
			const body = Buffer.concat(chunks).toString('utf8')
			heard.push(body)
			const { text } = await postJson(url, body)
			response.setHeader('content-type', 'application/json').end(text)
		}
		request.on('end', () => orCut(response, answer()))
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	onTestFinished(() => {
		server.closeAllConnections()
		server.close()
	})
	return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
