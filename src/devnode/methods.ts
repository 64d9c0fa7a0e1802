/** Decides which calls the embedded node answers itself; Anvil answers all others. */
import { type Call, codes, type Id, RpcFault, writeFault, writeResult } from './jsonrpc.js'
import { gatherTraces, planTraceFilter, readTraceFilter } from './trace-filter.js'
import type { Upstream } from './upstream.js'

/** The level of the Otterscan API that Anvil implements. */
const otterscanLevel = 8

/** `answer`: the text of the response. `forward`: send this call to Anvil and return its response. */
export type Reply = { readonly answer: string } | { readonly forward: Call }

/** Whether the call is sent to Anvil unchanged. */
export function isPassedOn({ method }: Call): boolean {
	return method !== 'trace_filter' && method !== 'ots_getApiLevel'
}

/** Handles one call. An RpcFault becomes an error response. */
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
	// A single request: Anvil's answer is streamed unchanged, whatever its size.
	if (chunks.length === 1) return { forward: { ...call, params: chunks } }
	return { answer: writeResult(id, await gatherTraces(filter, chunks, node, signal)) }
}
