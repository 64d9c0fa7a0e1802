/** Books: balances, and the movements that change them besides frames. */

import type { AddressSet, Block, BlockRef, Part, Span } from './chain.js'
import type { Address, Hash } from './glossary.js'

/** Of one address: its balance at the block up to which it is closed, and the unproved movements since. */
export interface Book {
	/** Last block at which the balance and the movements agreed. */
	readonly block: bigint
	/** Balance after `block`. */
	readonly balanceWei: bigint
	/** Incoming less outgoing less fees, of the scanned blocks after `block`. */
	readonly movedWei: bigint
	/** First 16 hex digits of the hash of the address's code at `block`; null: no code; absent: not known. */
	readonly code?: string | null
	/** No later block is known to have moved the address or changed its code; the true one may be earlier. */
	readonly movedAt?: bigint
	/** The thresholds of its watches that a balance was last compared with, and at which block; absent: none was. */
	readonly compared?: { readonly limits: string; readonly at: bigint }
}

/** The books of a network. A plain Map is one too: without the optional methods, all books are visited. */
export interface BookSet extends Pick<ReadonlyMap<Address, Book>, 'size' | 'has' | 'get' | 'keys'> {
	[Symbol.iterator](): Iterator<[Address, Book]>
	/** A new, immutable set with the changes applied; null removes a book. Absent: a plain Map. */
	after?(changes: ReadonlyMap<Address, Book | null>): BookSet
	/** The same in steps, for many changes; it yields after each step. */
	afterSteps?(changes: ReadonlyMap<Address, Book | null>): Generator<undefined, BookSet>
	facts?(most: number): BooksProgress
	/** Addresses whose book is closed above `block`, or that moved since. Absent: visit all books. */
	beyond?(block: bigint): Iterable<Address>
	/** `most` addresses or slightly more from a place on ('': the first), and the next place; '': the end. */
	some?(from: string, most: number): SomeBooks
}

/** Lowest block that books are closed at, and the addresses that moved since: their number, and some of them. */
export interface BooksProgress {
	readonly lowest: bigint | null
	readonly waiting: number
	readonly some: readonly Address[]
}

export interface SomeBooks {
	readonly addresses: Iterable<Address>
	readonly next: string
}

/** Balance in wei by address. */
export interface Balances extends ReadonlyMap<Address, bigint> {
	/** For code, the first 16 hex digits of its hash. Absent where the request could not read code. */
	readonly codes?: ReadonlyMap<Address, string>
}

/** An EIP-7702 authorisation that took effect. */
export interface Authorised {
	readonly txHash: Hash
	readonly txIndex: number
	/** Position in the transaction's authorisation list. */
	readonly at: number
	/** 0: valid on every chain. */
	readonly chainId: bigint
	readonly nonce: bigint
	readonly initiator: Address
	/** Address whose code runs from then on; null: cleared. */
	readonly delegate: Address | null
}

/** What a block changes according to its access list (EIP-7928), whose hash is in the header. */
export interface BlockChanges {
	readonly transactions: number
	/**
	 * Balances after each transaction that changed them, in block order. `index`: 0 before the transactions, 1 to n for
	 * the transactions, n + 1 after them. A transaction that leaves a balance as it was is not listed.
	 */
	readonly balances: ReadonlyMap<Address, readonly { readonly index: number; readonly wei: bigint }[]>
	readonly codes: ReadonlyMap<Address, readonly ListedCode[]>
}

export interface ListedCode {
	/** As of balances. */
	readonly index: number
	/** Whose code the address runs from then on (EIP-7702); null: it has code of its own, or none. */
	readonly delegate: Address | null
	readonly isEmpty: boolean
}

/** An EIP-7702 authorisation as it was signed; it may have had no effect. */
export interface Signed {
	/** Position in the transaction's authorisation list. */
	readonly at: number
	readonly authority: Address
	/** Null: clears the delegation. */
	readonly delegate: Address | null
	/** 0: valid on every chain. */
	readonly chainId: bigint
	readonly nonce: bigint
}

/** Progress of a network's books, for `status` and metrics. */
export interface BooksSummary {
	/** Lowest block up to which a book is closed; null while there is no closed book. */
	readonly closedTo: number | null
	/** Number of watches with a book. */
	readonly closed: number
	/** Number of watches that should have a book. */
	readonly kept: number
	/** Watches without a book, or whose book waits for a node that can give the balance; at most 20. */
	readonly open: readonly Address[]
	readonly openCount: number
	/** How many of those have no book; absent: not known. */
	readonly unopened?: number
	/** Why books cannot be closed at present, in words; null while they can. */
	readonly reason: string | null
	/** The latest 20 unproved ranges, oldest first; absent: none. */
	readonly unproved?: readonly Unproved[]
	readonly unprovedCount?: number
	/**
	 * On a private network: the contiguous range of blocks whose access lists were checked against the books, both ends
	 * included. A book opens at the first list that names its watch. Absent: no list was checked, or balances are
	 * requested instead.
	 */
	readonly listed?: { readonly from: number; readonly to: number }
	/** On a private network: scanned blocks whose lists are asked for again, both ends included. Absent: none. */
	readonly waiting?: { readonly from: number; readonly to: number }
	/** Duration of one audit rotation, present only where it is too long. */
	readonly round?: BooksRound
}

export interface BooksRound {
	readonly blocks: number
	readonly minutes: number
}

/** A range of blocks that could not be proved, so that a book was opened anew after it; both ends included. */
export interface Unproved {
	readonly fromBlock: number
	readonly toBlock: number
	/** Number of times, counted per watch; the range spans the lowest and the highest block of these. */
	readonly count: number
	/** Some of the watches concerned; empty: all watches. */
	readonly addresses: readonly Address[]
	readonly why: string
}

/**
 * Coins that a block moves without a frame. `fee`: of a transaction that the address sent. `income`: priority fees of a
 * block that the address authored. `mint`: created by the chain for a transaction of the address.
 */
export interface Posting {
	readonly kind: 'fee' | 'income' | 'mint' | 'withdrawal'
	readonly address: Address
	/**
	 * Signed: positive is incoming. The two amounts differ only on chains whose receipts do not say which of two rules is
	 * in force (the operator fee before and after OP Jovian).
	 */
	readonly wei: Amounts
	/** Null for a withdrawal and for income. */
	readonly txHash: Hash | null
	/** Only for income: number of transactions that paid it. */
	readonly transactions?: number
	/** Only for a withdrawal. */
	readonly withdrawal?: { readonly index: bigint; readonly validatorIndex: bigint }
}

export type Amounts = readonly [wei: bigint, orWei: bigint]

/** Balances and postings. Every method throws RpcError when no endpoint could answer. */
export interface Accounts {
	/** In wei, after this block by hash, one for each address. Throws RpcError `no-data`: no endpoint has the state. */
	balances(addresses: readonly Address[], block: BlockRef, signal: AbortSignal): Promise<Balances>
	/** One balance from each endpoint in order; endpoints that cannot give it are left out. */
	balanceByEach(
		address: Address,
		block: BlockRef,
		signal: AbortSignal,
	): Promise<readonly { readonly endpoint: string; readonly wei: bigint }[]>
	/** Address whose code the address runs after a block (EIP-7702); null: no delegation. */
	delegate(address: Address, block: Pick<BlockRef, 'number'>, signal: AbortSignal): Promise<Address | null>
	/** Authorisations of this exact block that took effect for the address, in order: the last of each transaction. */
	authorisations(block: BlockRef, address: Address, signal: AbortSignal): Promise<readonly Authorised[]>
	/**
	 * Authorisations in a block that one of these addresses signed for this chain, in order: the last one of each
	 * transaction and signer, whether or not it took effect. The request names no address. `block`: as it was read.
	 * `left`: number of authorisations that were not examined.
	 */
	authorizationsIn(
		number: bigint,
		authorities: AddressSet,
		signal: AbortSignal,
	): Promise<{
		readonly block: Block
		readonly signed: readonly (Authorised & Pick<Signed, 'authority'>)[]
		readonly left: number
	}>
	/** Authorisations in a transaction that are valid on this chain, in order; empty for a transaction without a list. */
	signed(txHash: Hash, signal: AbortSignal): Promise<readonly Signed[]>
	/**
	 * Everything that this exact block moves for the addresses without a frame. Throws RpcError `no-data` where this
	 * chain's rules are not known. `endpoint` is asked first; default: the preferred one.
	 */
	postings(block: BlockRef, addresses: AddressSet, signal: AbortSignal, endpoint?: string): Promise<readonly Posting[]>
	/**
	 * What this exact block changes, proved by the hash in its header; null where the header has no such hash, or no
	 * endpoint gives a list. Throws RpcError `malformed` where one gives a list that does not match, and none the right
	 * one; `endpoint` is then its host.
	 */
	changes(block: Block, signal: AbortSignal): Promise<BlockChanges | null>
	/**
	 * Reads a span again by each source of each endpoint in turn, leaving out those that cannot: used when a balance does
	 * not close and the missing event is unknown. Throws RpcError after the last source if an endpoint failed by every
	 * source in a way that may pass: its answer is still missing.
	 */
	witnesses(span: Span, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Witness>
	/** On a private network no request names an address; requests for balances or code throw `no-data`. */
	readonly isPrivate: boolean
	/** Whether this chain's receipts are known to contain the full cost of a transaction. */
	readonly feesAreKnown: boolean
	/** Kinds of postings that this chain is known to pay as reported. A book may close without the others. */
	readonly surePostings: ReadonlySet<Posting['kind']>
	/** Hosts that balances are requested from. */
	readonly endpoints: readonly string[]
}

export interface Witness {
	/** Host and port. */
	readonly endpoint: string
	/** Whether it read each block whole: a filter shows no more than it was asked for. */
	readonly isWhole: boolean
	readonly part: Part
}
