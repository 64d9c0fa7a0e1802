/** The room holds the ways to read a span of blocks, one a file, behind one interface: this one. */

import type { AddressSet, Part, Span } from '../../model/chain.js'
import type { WithdrawalLists } from '../balances/withdrawals.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire.js'
import type { Costs } from './costs.js'

export type SourceName = 'trace_filter' | 'trace_block' | 'debug_traceBlockByNumber'

export interface ReadRequest {
	readonly rpc: Rpc
	readonly span: Span
	readonly addresses: AddressSet
	/** Header of `span.to`, when this same endpoint has given it already. */
	readonly last: Header | null
	/** `span.to` has settled, as this endpoint says: its chain is not expected to change any more. */
	readonly isSettled?: boolean
}

/**
 * One way of getting at the frames of a span. All of them give the same answer: the header of `span.to`, as old as the
 * traces or older (unless it has settled) and from the same endpoint, and every transaction in which a frame that
 * touches the addresses may have moved something, each frame with all its ancestors, each block checked against its
 * header. Anything in doubt is an RpcError, never an empty answer.
 */
export interface Source {
	readonly name: SourceName
	read(request: ReadRequest, signal: AbortSignal): Promise<SourcePart>
}

export interface SourcePart extends Part {
	/** As many as were asked for; the last block's at least. */
	readonly headers: readonly Header[]
	/** How many rows the node sent for it: what the answer weighed. */
	readonly rows: number
}

export interface SourceOptions {
	/** Default: nothing is known of costs. */
	readonly costs?: Costs
	/** No question may name a watched address or one of its transactions. */
	readonly isPrivate?: boolean
	/** Also transactions that an address merely sent: they move nothing but the fee. Default: false. */
	readonly withSent?: boolean
	/** Default: withdrawals are not looked for. */
	readonly withdrawals?: WithdrawalLists
	/** Called for a trace or call type that this program does not know. */
	readonly onUnknown?: (type: string) => void
}
