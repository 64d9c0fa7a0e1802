import { openAt } from '../core/gaps.js'
import { type Movements, movementsOf } from '../core/ledger/books.js'
import { lengthOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { Book } from '../model/books.js'
import type { Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'
import type { Gap } from '../model/state.js'

/** The known movements of an address since its book was closed. */
export interface Scanned {
	readonly address: Address
	readonly book: Book
	/** Movements of blocks from `scannedFrom` on. Earlier ones are only a sum in the book. */
	readonly movements: Movements
	readonly scannedFrom: bigint
	/** Blocks that no source could give: they are not read here. */
	readonly gaps: ReadonlyMap<bigint, Gap>
	/** Whether the book can be examined again later: temporary errors are then thrown. */
	readonly mayWait: boolean
}

/** Movements of an address since its book was closed, from the current part and from blocks read again. */
export interface ScannedAgain {
	readonly movements: Movements
	/** Reads the blocks before the part again whose movements are only a sum. Throws RpcError if a retry may help. */
	sinceTheBook(): Promise<void>
	/** Whether the movements in the block are known; reads the block if necessary. False: no source gives it. */
	isKnown(number: bigint): Promise<boolean>
}

/** Longer ranges are not read again for one address. */
const MOST_BLOCKS = 20_000n

export function scannedAgain(scanned: Scanned, chain: Pick<Chain, 'walk'>, signal: AbortSignal): ScannedAgain {
	const { address, book, scannedFrom, mayWait, gaps } = scanned
	const only = new Set<Address>([address])
	const movements = new Map(scanned.movements)
	/** The first block of the contiguous range already read. */
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
			// A sum of 0 may hide several movements; such blocks are read only if one does not close.
			if (book.movedWei === 0n || before.from > before.to || lengthOf(before) > MOST_BLOCKS) return
			let from = before.from
			for (const gap of [...openAt(gaps), before.to + 1n].toSorted((a, b) => (a < b ? -1 : 1))) {
				if (gap < from || gap > before.to + 1n) continue
				if (gap > from && !(await read({ from, to: gap - 1n }))) return
				from = gap + 1n
			}
			readFrom = before.from
		},
		isKnown: async (number) => number >= readFrom || read({ from: number, to: number }),
	}
}
