import { type Movements, movementsOf } from '../core/books.js'
import { lengthOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { Book } from '../model/books.js'
import type { Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'

/** What is known of what moved an address since its book was closed. */
export interface Scanned {
	readonly address: Address
	readonly book: Book
	/** Of the blocks from `scannedFrom` on; what moved before it, since the book was closed, is a sum in the book. */
	readonly movements: Movements
	readonly scannedFrom: bigint
	/** It can be looked into again: then what fails in a way that may pass is thrown, and nothing is said yet. */
	readonly mayWait: boolean
}

/** What moved an address in blocks since its book was closed: of the part at hand, and of blocks read once more. */
export interface ScannedAgain {
	readonly movements: Movements
	/** What was scanned before the part and only added up is read again. Throws RpcError while it may be tried later. */
	sinceTheBook(): Promise<void>
	/** Whether what moved in the block is known, now that it was read where it was not; false: nobody gives it. */
	isKnown(number: bigint): Promise<boolean>
}

/** More blocks than this are not read again for one address. */
const MOST_BLOCKS = 20_000n

export function scannedAgain(scanned: Scanned, chain: Pick<Chain, 'walk'>, signal: AbortSignal): ScannedAgain {
	const { address, book, scannedFrom, mayWait } = scanned
	const only = new Set<Address>([address])
	const movements = new Map(scanned.movements)
	/** Blocks from here on were read, now or before. */
	let readFrom = scannedFrom

	async function read(span: Span): Promise<boolean> {
		try {
			for await (const part of chain.walk(span, only, signal)) {
				const found = movementsOf(part.transactions, only, part.blocks.values())
				for (const [block, moved] of found) movements.set(block, moved)
			}
			return true
		} catch (error) {
			if (mayWait || !(error instanceof RpcError)) throw error
			return false
		}
	}

	return {
		movements,
		async sinceTheBook() {
			const before = { from: book.block + 1n, to: scannedFrom - 1n }
			// A sum of 0 may be of many: those blocks are read when one of them does not close.
			if (book.movedWei === 0n || before.from > before.to || lengthOf(before) > MOST_BLOCKS) return
			if (await read(before)) readFrom = before.from
		},
		isKnown: async (number) => number >= readFrom || read({ from: number, to: number }),
	}
}
