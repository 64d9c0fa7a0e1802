import type { AddressSet, Part, Span } from '../../model.js'
import type { Rpc } from '../rpc.js'

export type SourceName = 'trace_filter' | 'trace_block' | 'debug_trace_block'

/**
 * One way of getting at the frames of a span. All of them give the same answer: the header of `span.to`, read before the
 * traces and from the same endpoint, and every transaction in which a frame touching the addresses may have moved
 * something, each frame with all its ancestors, each block held against its header. Anything in doubt is an RpcError,
 * never an empty answer.
 */
export interface Source {
	readonly name: SourceName
	read(rpc: Rpc, span: Span, addresses: AddressSet, signal: AbortSignal): Promise<Part>
}
