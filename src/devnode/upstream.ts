/** The connection to the node behind the gateway. */
import type { IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { createConnections } from '../base/net/connections.js'
import { type Call, codes, RpcFault, writeRequest } from './jsonrpc.js'

export interface Upstream {
	/** Sends a body unchanged; the response is a stream. Throws RpcFault when the node does not answer. */
	post(body: string, signal: AbortSignal): Promise<IncomingMessage>
	/** Sends one request and returns the response as text. */
	text(call: Call, signal: AbortSignal): Promise<string>
	/**
	 * Sends one request and returns its result. An error of the node is thrown as an RpcFault with the same code and
	 * message.
	 */
	call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
	close(): Promise<void>
}

const connectTimeoutMs = 10_000
const mostConnections = 64

export function connectUpstream(url: string): Upstream {
	const { origin, pathname, search } = new URL(url)
	// No timeout for answers, since mining and tracing many blocks may take long. Clients can disconnect.
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
