/** POSTs JSON, many times over: what `fetch` costs beside it was a tenth of the whole run's processor. */

import { Agent, type IncomingMessage, request } from 'node:http'

/** Anvil cuts no idle connection. Who says how long it keeps one, as servers of Node do, is asked on new ones. */
const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })

export interface Answered {
	readonly status: number
	readonly text: string
}

/** Throws what the socket says, also of an answer that is cut. */
export async function postJson(url: string, body: string): Promise<Answered> {
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
		request(url, { method: 'POST', headers, agent }, resolve).on('error', reject).end(body)
	})
	// At the end of an answer whose connection is kept, the client has taken it off already.
	const { socket } = response
	if (response.headers['keep-alive'] !== undefined) response.once('end', () => socket.destroy())
	const chunks: Buffer[] = []
	for await (const chunk of response) chunks.push(chunk as Buffer)
	return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }
}

/** As `postJson`, of one answer that is JSON. */
export async function askNode<T>(url: string, body: unknown): Promise<T> {
	return JSON.parse((await postJson(url, JSON.stringify(body))).text) as T
}
