/** What the embedded node answers itself, and what it leaves to Anvil. */
import { type Call, codes, type Id, RpcFault, writeFault, writeResult } from './jsonrpc.js'
import { gatherTraces, planTraceFilter, readTraceFilter } from './trace-filter.js'
import type { Upstream } from './upstream.js'

/** Level of the Otterscan interface that Anvil offers. */
const otterscanLevel = 8

/** `answer`: text of a response. `forward`: Anvil's answer to that call is the answer. */
export type Reply = { readonly answer: string } | { readonly forward: Call }

/** Whether Anvil gets the call as it is. */
export function isPassedOn({ method }: Call): boolean {
	return method !== 'trace_filter' && method !== 'ots_getApiLevel'
}

/** Decides one call. Errors become answers. */
export async function reply(call: Call, node: Upstream, signal: AbortSignal): Promise<Reply> {
	if (isPassedOn(call)) return { forward: call }
	const id: Id = call.id ?? null
	try {
		if (call.method === 'trace_filter') return await replyTraces(call, id, node, signal)
		if (Array.isArray(call.params ?? []) && Object.keys(call.params ?? []).length === 0) {
			return { answer: writeResult(id, otterscanLevel) }
		}
		throw new RpcFault(codes.invalidParams, 'Invalid params: ots_getApiLevel takes none: []')
	} catch (error) {
		if (error instanceof RpcFault) return { answer: writeFault(id, error) }
		throw error
	}
}

async function replyTraces(call: Call, id: Id, node: Upstream, signal: AbortSignal): Promise<Reply> {
	const filter = readTraceFilter(call.params)
	const chunks = await planTraceFilter(filter, node, signal)
	// One request: Anvil's answer goes through as it is, however large.
	if (chunks.length === 1) return { forward: { ...call, params: chunks } }
	return { answer: writeResult(id, await gatherTraces(filter, chunks, node, signal)) }
}
