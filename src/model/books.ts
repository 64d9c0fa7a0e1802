/** What is needed to prove that nothing was missed: balances, and what moves them besides frames. */

import type { AddressSet, Block, BlockRef, Part, Span } from './chain.js'
import type { Address, Hash, Hex } from './glossary.js'

/**
 * The book of one address: closed up to a block, and what moved in the blocks scanned since, which is not proved yet.
 */
export interface Book {
	/** Last block at which balance and movements were seen to agree. */
	readonly block: bigint
	/** After that block. */
	readonly balanceWei: bigint
	/** In less out, fees taken off, of the blocks after `block` that were scanned. */
	readonly movedWei: bigint
	/** Mark of its code at that block, see `markOf`; null: it has none; absent: not known. */
	readonly code?: string | null
}

/** The books of a network. A book is made when it is asked for: there may be many. */
export interface BookSet extends ReadonlyMap<Address, Book> {
	/**
	 * What these books keep of a mark of code as `Balances` has it: shorter. What a book has already stays as it is.
	 * Absent: they keep it whole.
	 */
	markOf?(code: string): string
	/** With the changes in it, which change no more: the same again for the same; null: gone. Absent: a plain map. */
	after?(changes: ReadonlyMap<Address, Book | null>): BookSet
	/** The same, with a border after each step of it, for many. */
	afterSteps?(changes: ReadonlyMap<Address, Book | null>): Generator<undefined, BookSet>
	/** Of the blocks that they are closed at the lowest, and who has moved since: how many, and `most` of them. */
	facts?(most: number): {
		readonly lowest: bigint | null
		readonly waiting: number
		readonly some: readonly Address[]
	}
	/** Whose book stands on a block after this one, or who has moved since. Absent: by looking at all. */
	beyond?(block: bigint): Iterable<Address>
	/** `most` addresses or some more from a place on (0: the first), and the place after them; 0: the end. */
	some?(from: number, most: number): { readonly addresses: readonly Address[]; readonly next: number }
	/** The place to ask `some` for, to go on after the first `count`, and how many of these it begins with. */
	placeAfter?(count: number): { readonly from: number; readonly passed: number }
}

/** By address, in wei. */
export interface Balances extends ReadonlyMap<Address, bigint> {
	/**
	 * Of those that have code a mark of it, 16 hex digits: another mark is other code. Absent where the question could
	 * not tell.
	 */
	readonly codes?: ReadonlyMap<Address, string>
}

/** An authorisation of EIP-7702 that held. */
export interface Authorised {
	readonly txHash: Hash
	readonly txIndex: number
	/** Position in the transaction's list. */
	readonly at: number
	/** 0: for every chain. */
	readonly chainId: bigint
	readonly nonce: bigint
	/** Who sent the transaction. */
	readonly initiator: Address
	/** Whose code the address runs from then on; null: none. */
	readonly delegate: Address | null
}

/** What a block changes, by its access list (EIP-7928), which makes the hash in its header. */
export interface BlockChanges {
	/** How many transactions the block has. */
	readonly transactions: number
	/**
	 * Balances after the transactions that changed them, in the order of the block. `index`: 0 before the transactions,
	 * then each from 1, and one more after all of them. Whoever ends a transaction with what he had before is not listed.
	 */
	readonly balances: ReadonlyMap<Address, readonly { readonly index: number; readonly wei: bigint }[]>
	/** Code that was set, a delegation (EIP-7702) among it. */
	readonly codes: ReadonlyMap<Address, readonly { readonly index: number; readonly code: Hex }[]>
}

/** An authorisation of EIP-7702 as it was signed; whether it held is another matter. */
export interface Signed {
	/** Position in the transaction's list. */
	readonly at: number
	readonly authority: Address
	/** Null: it clears. */
	readonly delegate: Address | null
	/** 0: for every chain. */
	readonly chainId: bigint
	readonly nonce: bigint
}

/** How far the books of a network are; for `status` and metrics. */
export interface BooksSummary {
	/** Lowest block up to which a book is closed; null while none is. */
	readonly closedTo: number | null
	/** Watches with a book. */
	readonly closed: number
	/** Watches whose books are to be kept. */
	readonly kept: number
	/** Some of those without a book, or whose book waits for a node that can tell the balance: twenty at most. */
	readonly open: readonly Address[]
	/** How many there are of these. */
	readonly openCount: number
	/** Of these, those without a book; absent where an older version wrote it. */
	readonly unopened?: number
	/** Why books cannot be closed now, in words; null when they can. */
	readonly reason: string | null
	/** Blocks of which nothing was proved; the latest twenty entries, oldest first. Absent: none. */
	readonly unproved?: readonly Unproved[]
	/** How often that happened in all, each watch by itself. */
	readonly unprovedCount?: number
	/**
	 * On a private network: blocks whose access lists were checked against the books, without a hole between; both ends
	 * are included. A book is opened at the first list that names its watch. Absent: none were, or balances
	 * are asked for.
	 */
	readonly listed?: { readonly from: number; readonly to: number }
	/**
	 * On a private network: blocks that were scanned, and whose access lists are asked for again since the first one was
	 * not given yet; both ends are included. Absent: none.
	 */
	readonly waiting?: { readonly from: number; readonly to: number }
	/** How long it takes until each book was closed once, where that is too long. Absent: it is not. */
	readonly round?: BooksRound
}

export interface BooksRound {
	readonly blocks: number
	readonly minutes: number
}

/** Blocks over which a book was opened anew, since nothing could be proved of them; both ends are included. */
export interface Unproved {
	readonly fromBlock: number
	readonly toBlock: number
	/** How many times, each watch by itself: the blocks are the lowest and the highest of these. */
	readonly count: number
	/** Some of the watches; none: it is all of them. */
	readonly addresses: readonly Address[]
	/** In words. */
	readonly why: string
}

/**
 * Coins that a block moves without a frame. `fee`: of a transaction that the address sent. `income`: priority fees of a
 * block that it is the author of. `mint`: made by the chain for a transaction of the address.
 */
export interface Posting {
	readonly kind: 'fee' | 'income' | 'mint' | 'withdrawal'
	readonly address: Address
	/**
	 * Signed, from the address's side. Two numbers only where two rules are in force on chains whose receipts do not say
	 * which (the operator fee before and after OP Jovian); else the same twice.
	 */
	readonly wei: Amounts
	/** Of the transaction; null for a withdrawal and for income. */
	readonly txHash: Hash | null
	/** Only for income: how many paid it. */
	readonly transactions?: number
	/** Only for a withdrawal. */
	readonly withdrawal?: { readonly index: bigint; readonly validatorIndex: bigint }
}

export type Amounts = readonly [wei: bigint, orWei: bigint]

/** Balances and what moves them; every method throws RpcError when no endpoint could answer. */
export interface Accounts {
	/**
	 * Balances after this very block, in wei: one for each address. `no-data` where no endpoint has the state (any more).
	 */
	balances(addresses: readonly Address[], block: BlockRef, signal: AbortSignal): Promise<Balances>
	/** One balance as each endpoint that can tell it by itself does, in order; who cannot is left out. */
	balanceByEach(
		address: Address,
		block: BlockRef,
		signal: AbortSignal,
	): Promise<readonly { readonly endpoint: string; readonly wei: bigint }[]>
	/** Whose code the address runs after a block; null: none but its own. */
	delegate(address: Address, block: Pick<BlockRef, 'number'>, signal: AbortSignal): Promise<Address | null>
	/** Authorisations of this very block that held for the address, in order, the last of each transaction. */
	authorisations(block: BlockRef, address: Address, signal: AbortSignal): Promise<readonly Authorised[]>
	/**
	 * Authorisations in a block that one of these signed for this chain, in order, the last of each transaction and
	 * signer; whether they held is another matter. No address is named to anybody. `block`: as it was read. `left`: how
	 * many there are besides, which were not looked at.
	 */
	signedIn(
		number: bigint,
		authorities: AddressSet,
		signal: AbortSignal,
	): Promise<{
		readonly block: Block
		readonly signed: readonly (Authorised & Pick<Signed, 'authority'>)[]
		readonly left: number
	}>
	/** Authorisations in a transaction that are signed for this chain, in order; none where it has no list. */
	signed(txHash: Hash, signal: AbortSignal): Promise<readonly Signed[]>
	/**
	 * All that this very block moves for the addresses without a frame. `no-data` where this chain's rules are not known.
	 * `endpoint`: who is asked first; default: whoever is preferred.
	 */
	postings(block: BlockRef, addresses: AddressSet, signal: AbortSignal, endpoint?: string): Promise<readonly Posting[]>
	/**
	 * What this very block changes, proved by its header; null where the header names no list, or nobody gives the one
	 * that it names.
	 */
	changes(block: Block, signal: AbortSignal): Promise<BlockChanges | null>
	/**
	 * Reads a span once more, by each source of each endpoint in turn; one that cannot is passed over. For the moment in
	 * which something is missing and nobody knows where. Throws RpcError after the last one where an endpoint failed by
	 * every source in a way that may pass: it was not heard.
	 */
	witnesses(span: Span, addresses: AddressSet, signal: AbortSignal): AsyncIterable<Witness>
	/** No address is named to anybody: whoever asks for balances or code gets `no-data`. */
	readonly isPrivate: boolean
	/** Whether a receipt is known to say all that its transaction cost, on this chain. */
	readonly feesAreKnown: boolean
	/** Postings that this chain is known to pay as the node gives them; of others a book may close without them. */
	readonly surePostings: ReadonlySet<Posting['kind']>
	/** Hosts that balances are asked of. */
	readonly endpoints: readonly string[]
}

export interface Witness {
	/** Host and port. */
	readonly endpoint: string
	readonly part: Part
}
