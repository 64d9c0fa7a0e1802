/** The room holds the sources: how to read a span of blocks, a method per file, behind the interface in this file. */

import type { AddressSet, Part, Span } from '../../model/chain.js'
import type { Costs } from '../blocks/costs.js'
import type { WithdrawalLists } from '../blocks/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire/wire.js'

export type SourceName = 'trace_filter' | 'trace_block' | 'debug_traceBlockByNumber'

export interface ReadRequest {
	readonly rpc: Rpc
	readonly span: Span
	readonly addresses: AddressSet
	/** Header of `span.to`, when this endpoint has given it already. */
	readonly last: Header | null
	/** This endpoint says that `span.to` has settled: its chain is not expected to change any more. */
	readonly isSettled?: boolean
}

/**
 * Reads the frames of a span. All sources give the same answer: the header of `span.to`, from the same endpoint and not
 * younger than the traces (unless the block has settled), and every transaction in which a frame that touches the
 * addresses may have moved something. Each frame comes with all its ancestors; each block is checked against its
 * header. Anything in doubt is an RpcError, never an empty answer.
 */
export interface Source {
	readonly name: SourceName
	read(request: ReadRequest, signal: AbortSignal): Promise<SourcePart>
}

export interface SourcePart extends Part {
	/** All headers that were asked for, at least that of the last block. */
	readonly headers: readonly Header[]
	/** Number of rows that the node sent: the weight of the answer. */
	readonly rows: number
}

export interface SourceOptions {
	/** Default: needs are not known. */
	readonly costs?: Costs
	/** No request may name a watched address or one of its transactions. */
	readonly isPrivate?: boolean
	/** Default: withdrawals are not read. */
	readonly withdrawals?: WithdrawalLists
	/** Called for a trace or call type that this program does not know. */
	readonly onUnknown?: (type: string) => void
	readonly onForeign?: (block: bigint, count: number) => void
	/** Transactions that no answer gives are named in the part; by default their block fails. */
	readonly mayLack?: boolean
}
