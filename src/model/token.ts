/** Tokens: which ones are known, and their transfers. */

import type { Address, Hash } from './glossary.js'

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155'

/** A token that the operator has named; the symbol is the operator's. */
export interface KnownToken {
	readonly address: Address
	readonly symbol: string
	/** Null: not given; ERC-721 and ERC-1155 tokens have none. */
	readonly decimals: number | null
	/** Smaller transfers are not sent; in the smallest unit; null: no minimum. */
	readonly minAmountRaw: bigint | null
}

export type KnownTokens = ReadonlyMap<Address, KnownToken>

/** Tokens that make alerts for a watch: those that the network names, all, none, or these contracts. */
export type TokenChoice = 'known' | 'all' | 'none' | ReadonlySet<Address>

/**
 * Blocks whose logs may be incomplete: one endpoint gave them, and the headers do not exclude another log. Includes
 * blocks whose authorisations (EIP-7702) were not all read.
 */
export interface UnprovedLogs {
	/** The latest 20 runs of those blocks, oldest first. */
	readonly runs: readonly UnprovedRun[]
	readonly blocks: number
}

/** A range of blocks, both ends included, and how many of them are unproved; the others are proved. */
export interface UnprovedRun {
	readonly fromBlock: number
	readonly toBlock: number
	readonly blocks: number
	readonly why?: UnprovedBlock['why']
}

export interface UnprovedBlock {
	readonly number: bigint
	/** Last block of a range; absent: it is one block. */
	readonly to?: bigint
	/**
	 * `receipts`: all receipts were read, but no header commits to them in a known way. `authorisations`: the delegations
	 * that the block changed are not known; this says nothing about logs. `second look`: the block could be read once and
	 * not a second time. `backfill`: no balances prove that a backfill was given all movements. `self-destruct`: none
	 * prove what one without heir and amount moved. `withdrawals`: some of the header's cannot be read. `audit`: the
	 * block could be read once and not again for the books. Absent: receipts were not read.
	 */
	readonly why?:
		| 'receipts'
		| 'authorisations'
		| 'second look'
		| 'code'
		| 'backfill'
		| 'self-destruct'
		| 'withdrawals'
		| 'audit'
}

/** What a token contract says about itself, unverified. Null: no answer, or one that cannot be decoded. */
export interface TokenWords {
	readonly symbol: string | null
	readonly decimals: number | null
}

export interface TokenBalanceQuestion {
	readonly contract: Address
	readonly owner: Address
	/** For ERC-1155; null: one balance for the whole contract. */
	readonly tokenId: bigint | null
	readonly block: bigint
}

/** A transfer from the logs of a transaction: one log, or one entry of an ERC-1155 batch. */
export interface TokenEvent {
	readonly kind: 'token'
	readonly standard: TokenStandard
	readonly contract: Address
	/** The zero address for a mint. */
	readonly from: Address
	/** The zero address for a burn. */
	readonly to: Address
	/** In the smallest unit, as the log says; 1 for ERC-721. */
	readonly amountRaw: bigint
	/** Null for ERC-20. */
	readonly tokenId: bigint | null
	/** Operator in the ERC-1155 log; null for other standards. */
	readonly operator: Address | null
	/** Sender of the transaction; null where it is not known. */
	readonly initiator: Address | null
	readonly txHash: Hash
	readonly txIndex: number | null
	/** `log_<n>`: position among the transaction's logs, from 0; `log_<n>_<i>`: entry i of a batch. */
	readonly trace: string
	/** A `BlockRef`. */
	readonly block: { readonly number: bigint; readonly hash: Hash }
}
