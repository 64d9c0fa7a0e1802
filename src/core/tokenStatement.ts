/** What a token transfer changes one balance of an address by, and whose balances a statement of tokens holds apart. */

import type { Address } from '../model/glossary.js'
import type { TokenEvent } from '../model/token.js'
import type { Direction } from '../model/watch.js'

/** One balance: of a whole contract, or of one id of ERC-1155. */
export interface Account {
	readonly contract: Address
	readonly tokenId: bigint | null
}

export interface TokenEntry {
	readonly event: TokenEvent
	readonly direction: Direction
	/** Signed, in the smallest unit; of ERC-721 one of them. */
	readonly changeRaw: bigint
}

/** ERC-721 has one balance a contract, however many numbers there are. */
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
