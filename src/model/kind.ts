/** The kinds of alerts. */

import type { Address, Hash } from './glossary.js'
import type { ControlChange } from './ownFields.js'

/** Kinds found in frames. */
export type EventKind = 'transfer' | 'deployment'

/**
 * `call`: a function that the watch names was called. `code`: the address ran code that is not its own in its own
 * storage, or its own code changed. `request`: the address asked the consensus layer for a
 * withdrawal, an exit or a consolidation. `token`: a log of a token contract. `withdrawal`: paid by the consensus
 * layer. `delegation`: an EIP-7702 authorisation set, changed or cleared the address's code. `control`: who rules the
 * contract changed. `income`: priority fees of a block that the address authored. `balance`: the balance crossed a
 * threshold. `unexplained`: the balance changed and no event explains it.
 */
export type Kind =
	| EventKind
	| 'call'
	| 'code'
	| 'request'
	| 'token'
	| 'withdrawal'
	| 'delegation'
	| 'control'
	| 'income'
	| 'balance'
	| 'unexplained'

export type ControlAction = 'set' | 'added' | 'removed' | 'scheduled' | 'executed' | 'cancelled'

/** `event`: a log of the contract. `storage`: what the contract's state holds. */
export type ControlEvidence = 'event' | 'storage' | 'both'

/**
 * A change of who rules a contract. Addresses and hashes are lower-case hex, numbers decimal text. A member that was
 * added to a list is `current`, one that was removed is `previous`.
 */
export interface ControlChanged {
	readonly kind: 'control'
	readonly change: ControlChange
	readonly action: ControlAction
	/** The watch that it concerns. */
	readonly watch: Address
	/** The contract whose state changed: the watch, or the beacon or admin that it depends on. */
	readonly contract: Address
	/** Null: not known, or none. */
	readonly previous: string | null
	readonly current: string | null
	readonly role: Hash | null
	/** What was known when it was reported. */
	readonly evidence: ControlEvidence
	/** Signature of the event; null: only storage shows the change. */
	readonly event: string | null
	/** Null: a getter was asked, or no slot is known. */
	readonly slot: Hash | null
	/** The member of a list; null: it is no list. */
	readonly member: Address | null
	/** The place of `Contract.values` that proves it, such as `owner` or `slot 7`; null: none. */
	readonly place: string | null
	/** Null where several transactions can have made the change. */
	readonly txHash: Hash | null
	readonly txIndex: number | null
	readonly initiator: Address | null
	/** Position among the transaction's logs, from 0; null: the state shows it. */
	readonly logIndex: number | null
	/** First block that can contain the change; equal to the number of `block` in most cases. */
	readonly fromBlock: bigint
	/** The block that contains the change; of a span, the last one, whose state was read. */
	/** A `BlockRef`. */
	readonly block: { readonly number: bigint; readonly hash: Hash }
	/** The state after the block denies an event. `contradicts`: id of the event's alert; null: it has none. */
	readonly contradicted?: true
	readonly contradicts?: string | null
	/** No frame entered the contract in these blocks: the trace source left one out. */
	readonly unseen?: true
	/** Another endpoint shows another value at the same block. */
	readonly disputed?: true
}
