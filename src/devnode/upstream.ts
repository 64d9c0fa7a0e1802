/** The node behind the gateway. */
import type { IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { createConnections } from '../base/connections.js'
import { type Call, codes, RpcFault, writeRequest } from './jsonrpc.js'

export interface Upstream {
	/** Sends a body as it is; the answer is a stream. Throws RpcFault when the node is not there. */
	post(body: string, signal: AbortSignal): Promise<IncomingMessage>
	/** The answer to one request, as text. */
	text(call: Call, signal: AbortSignal): Promise<string>
	/** The result of one request; the node's error is thrown as an RpcFault with its code and words. */
	call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
	close(): Promise<void>
}

const connectTimeoutMs = 10_000
const mostConnections = 64

export function connectUpstream(url: string): Upstream {
	const { origin, pathname, search } = new URL(url)
	// Mining and tracing many blocks may take as long as it takes; whoever asked can hang up.
	const connections = createConnections(origin, { connections: mostConnections, connectTimeoutMs })
	const headers = { 'content-type': 'application/json' }

	const post = async (body: string, signal: AbortSignal) => {
		try {
			return await connections.send({ method: 'POST', path: pathname + search, headers, body }, signal)
		} catch (error) {
			signal.throwIfAborted()
			const why = error instanceof Error ? error.message : String(error)
			throw new RpcFault(codes.internal, `The node behind this endpoint does not answer: ${why}`)
		}
	}
	const text = async (call: Call, signal: AbortSignal) => {
		return await textOf(await post(writeRequest(call), signal))
	}
	return {
		post,
		text,
		async call(method, params, signal) {
			const answer = JSON.parse(await text({ id: 1, method, params }, signal))
			if (answer.error) throw new RpcFault(answer.error.code, answer.error.message, answer.error.data)
			return answer.result
		},
		close: async () => connections.close(),
	}
}
