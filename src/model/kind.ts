/** The kinds of alerts, and the fields that only one kind has. */

import type { Address, Hash } from './glossary.js'

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

/** Fields that belong to one kind. Amounts are decimal text. */
export interface OwnData extends UnexplainedData, CodeData {
	/**
	 * For a call: its first four bytes; the function, null where it is not known; and its arguments, null likewise. For
	 * foreign code: the first four bytes that it was given, null where there are fewer.
	 */
	readonly selector: string | null
	readonly signature: string | null
	readonly arguments: readonly CallArgument[] | null
	readonly callType: 'call' | 'callcode' | 'delegatecall' | 'staticcall'
	/** For a call: false if it, or a frame above it, failed; `failure` then has the reason. */
	readonly success: boolean
	readonly failure: string | null
	/** For the last alert of a flood of calls, changes of control or foreign code: how many it stands for. */
	readonly count: number
	/** For a request: what was asked for; the keys of the validators, the second for a consolidation; and the amount. */
	readonly request: 'withdrawal' | 'exit' | 'consolidation' | 'compounding'
	readonly sourcePubkey: string
	readonly targetPubkey: string | null
	readonly amountGwei: string | null
	/** For a withdrawal: its number over the whole chain, and the validator's. */
	readonly index: string
	readonly validatorIndex: string
	/** For a change of control; see `ControlChanged`. `place`: the name of the value that was read. */
	readonly change: ControlChange
	readonly action: ControlAction
	readonly contract: string
	readonly current: string | null
	readonly role: Hash | null
	readonly evidence: ControlEvidence
	readonly event: string | null
	readonly slot: Hash | null
	readonly place: string
	readonly contradicted: true
	readonly contradicts: string | null
	readonly unseen: true
	readonly disputed: true
	/** Ids of other alerts about the same transaction. */
	readonly related: readonly string[]
	/**
	 * For a delegation: the address whose code runs from now on, and the one before; null: none, or unknown (see
	 * `confirmed`). `previous` also for a change of control.
	 */
	readonly delegate: string | null
	readonly previous: string | null
	/** For a delegation: false if it was signed and included, but its effect on the code was not checked. */
	readonly confirmed: boolean
	/** For a delegation: what was signed; null where only the state shows it. Chain id 0 is valid on every chain. */
	readonly authorisation: { readonly chainId: number; readonly nonce: number } | null
	/** For income: number of transactions that paid it. */
	readonly transactions: number
	/** For a crossing: the balance in wei and in whole coins, and the threshold in whole coins. */
	readonly balanceWei: string
	readonly balance: string
	readonly threshold: string
	readonly crossed: 'below' | 'above'
}

/** Fields of foreign code, and of own code that changed. */
export interface CodeData {
	/** Where the code stands. */
	readonly codeAddress: string
	/** Null: nothing is left of it. */
	readonly codeHash: string | null
	/** Of a known library. */
	readonly codeName: string | null
	/** First four bytes of the call that entered the address; null where there are fewer. */
	readonly entrySelector: string | null
	/** Its address stands in the call: it is reported each time. Else once. */
	readonly chosenByCaller: boolean
	/** What the transaction changed in the storage of the address, at most 50 slots; null: not known. */
	readonly changed: readonly SlotChange[] | null
	/** The address's own code changed. */
	readonly ownCode: boolean
	readonly previousHash: string | null
}

/** A storage slot before and after a transaction. */
export interface SlotChange {
	readonly slot: string
	/** What the slot holds, such as `implementation`; null: not known. */
	readonly name: string | null
	readonly previous: string
	readonly current: string
}

/** Numbers are decimal text. A list for an array; a list of arguments for a struct. */
export type CallValue = string | boolean | readonly CallValue[] | readonly CallArgument[]

export interface CallArgument {
	/** Empty where it is not known. */
	readonly name: string
	readonly type: string
	readonly value: CallValue
}

/** Fields of an unexplained balance. Amounts in wei are signed. */
export interface UnexplainedData {
	/** The smallest span found, both ends included. */
	readonly fromBlock: number
	readonly toBlock: number
	/** Balances before `fromBlock` and after `toBlock`. */
	readonly openingWei: string
	readonly closingWei: string
	/** Sum of all known movements. */
	readonly explainedWei: string
	/** closing − opening − explained. */
	readonly differenceWei: string
	/** `differenceWei` in whole coins, signed. */
	readonly difference: string
	/** Hosts that were asked. */
	readonly endpoints: readonly string[]
	readonly reason: string
}

/** Who rules a contract, and which witness showed it. `value`: one of the watch's `reads`. */
export type ControlChange =
	| 'owner'
	| 'pendingOwner'
	| 'role'
	| 'roleAdmin'
	| 'admin'
	| 'implementation'
	| 'beacon'
	| 'facets'
	| 'authority'
	| 'paused'
	| 'timelock'
	| 'safe.owner'
	| 'safe.threshold'
	| 'safe.module'
	| 'safe.guard'
	| 'safe.moduleGuard'
	| 'safe.fallbackHandler'
	| 'safe.singleton'
	| 'initialized'
	| 'module'
	| 'value'

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
