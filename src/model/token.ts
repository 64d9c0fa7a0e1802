/** Tokens: which are known, and how they moved. */

import type { Address, Hash } from './glossary.js'

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155'

/** A token that the operator has named: its symbol is his. */
export interface KnownToken {
	readonly address: Address
	readonly symbol: string
	/** Null: not said, as of ERC-721 and ERC-1155, which have none. */
	readonly decimals: number | null
	/** Smaller transfers are not sent, in the smallest unit; null: no bound. */
	readonly minAmountRaw: bigint | null
}

export type KnownTokens = ReadonlyMap<Address, KnownToken>

/** Which tokens a watch is told of: those that the network names, all, none, or these contracts. */
export type TokenChoice = 'known' | 'all' | 'none' | ReadonlySet<Address>

/**
 * Blocks whose logs nothing proves to be all, as they were read first: one endpoint has given them, and their headers
 * do not rule out one more.
 */
export interface UnprovedLogs {
	/** The latest twenty runs of them, oldest first. */
	readonly runs: readonly UnprovedRun[]
	/** How many blocks in all. */
	readonly blocks: number
}

/** Of the blocks from one to the other so many; between two of them may be proved ones. */
export interface UnprovedRun {
	readonly fromBlock: number
	readonly toBlock: number
	readonly blocks: number
	/** Their receipts were read, but no header names them in a way that is known. Absent: they were not read. */
	readonly why?: UnprovedBlock['why']
}

export interface UnprovedBlock {
	readonly number: bigint
	/** `receipts`: they were read whole, and no header names them in a way that is known. Absent: they were not read. */
	readonly why?: 'receipts'
}

/** What a contract says of itself; nobody vouches for it. Null: it does not say, or cannot be understood. */
export interface TokenWords {
	readonly symbol: string | null
	readonly decimals: number | null
}

/** Whose balance of which token is asked for, after which block. */
export interface TokenBalanceQuestion {
	readonly contract: Address
	readonly owner: Address
	/** Of ERC-1155; null: one balance for the whole contract. */
	readonly tokenId: bigint | null
	readonly block: bigint
}

/** A transfer as the logs of a transaction tell it: one log, or one entry of an ERC-1155 batch. */
export interface TokenEvent {
	readonly kind: 'token'
	readonly standard: TokenStandard
	/** Of the token. */
	readonly contract: Address
	/** The zero address where tokens were made. */
	readonly from: Address
	/** The zero address where tokens were burnt. */
	readonly to: Address
	/** In the smallest unit, as the token tells it; 1 for ERC-721. */
	readonly amountRaw: bigint
	/** Null for ERC-20. */
	readonly tokenId: bigint | null
	/** Whom ERC-1155 names as the one who moved it; null for others. */
	readonly operator: Address | null
	/** Sender of the transaction; null where it is not known. */
	readonly initiator: Address | null
	readonly txHash: Hash
	readonly txIndex: number | null
	/** `log_<n>`: position among the logs of the transaction, from 0; `log_<n>_<i>` for entry i of a batch. */
	readonly trace: string
	/** A `BlockRef`. */
	readonly block: { readonly number: bigint; readonly hash: Hash }
}

/** What an alert says of a token; amounts and numbers are decimal text. */
export interface TokenData {
	readonly standard: TokenStandard
	readonly address: string
	/** The operator's for a known token; else the contract's own word, cleaned, or null. */
	readonly symbol: string | null
	readonly decimals: number | null
	/** Whether the operator has named it. */
	readonly known: boolean
	readonly amountRaw: string
	/** Null where the decimals are not known. */
	readonly amount: string | null
	/** Null for ERC-20. */
	readonly tokenId: string | null
	/** Of an unknown token: the one of the operator's that it is called like; no address: the network's coin. */
	readonly imitates?: { readonly symbol: string; readonly address: string | null }
}
