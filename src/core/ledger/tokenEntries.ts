/** By how much a token transfer changes a balance of an address, and which balances a token statement separates. */

import type { Address } from '../../model/glossary.js'
import type { TokenEvent } from '../../model/token.js'
import type { Direction } from '../../model/watch.js'

/** One balance: of a whole contract, or of one id of ERC-1155. */
export interface Account {
	readonly contract: Address
	readonly tokenId: bigint | null
}

export interface TokenEntry {
	readonly event: TokenEvent
	readonly direction: Direction
	/** Signed, in the smallest unit; for ERC-721, the number of tokens. */
	readonly changeRaw: bigint
}

/** ERC-721 has one balance per contract, not one per id. */
export function accountOf({ contract, standard, tokenId }: TokenEvent): Account {
	return { contract, tokenId: standard === 'erc1155' ? tokenId : null }
}

export function keyOf({ contract, tokenId }: Account): string {
	return `${contract} ${tokenId ?? ''}`
}

export function tokenEntryOf(address: Address, event: TokenEvent): TokenEntry {
	const { from, to, amountRaw } = event
	const direction: Direction = from === to ? 'self' : from === address ? 'out' : 'in'
	return { event, direction, changeRaw: direction === 'self' ? 0n : direction === 'out' ? -amountRaw : amountRaw }
}
