/** How much recent blocks held for each set of addresses; the source of the next span is chosen by it. */

import { type Density, denser, nothingKnown } from '../../core/cost/cost.js'
import { lengthOf } from '../../core/spans.js'
import type { AddressSet, Part } from '../../model/chain.js'

export interface Densities {
	of(addresses: AddressSet): Density
	/** Rows of a whole block, for any addresses; null before one was read. */
	rowsPerBlock(): number | null
	/** `rows`: of all blocks of the part; null where the source gave only some rows. */
	note(addresses: AddressSet, part: Part, rows: number | null): void
}

export function createDensities(): Densities {
	const densities = new WeakMap<AddressSet, Density>()
	let rowsPerBlock: number | null = null
	return {
		of: (addresses) => ({ ...(densities.get(addresses) ?? nothingKnown), rows: rowsPerBlock }),
		rowsPerBlock: () => rowsPerBlock,
		note(addresses, { span, transactions }, rows) {
			const blocks = Number(lengthOf(span))
			// Transactions come in the order of their blocks.
			const hit = transactions.filter(({ block }, at) => block.number !== transactions[at - 1]?.block.number).length
			const trees = transactions.filter(({ frames }) =>
				frames.some(({ traceAddress }) => traceAddress.length > 0),
			).length
			const seen = { hitBlocks: hit / blocks, trees: trees / blocks, rows: rows === null ? null : rows / blocks }
			const now = denser(densities.get(addresses) ?? null, seen, blocks)
			densities.set(addresses, now)
			rowsPerBlock = seen.rows === null ? rowsPerBlock : denser({ ...now, rows: rowsPerBlock }, seen, blocks).rows
		},
	}
}
