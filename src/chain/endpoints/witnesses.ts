/** Remembers which endpoint read a block first, so that another one reads it the second time as a second witness. */

import type { Span } from '../../model/chain.js'
import type { Rpc } from '../rpc/rpc.js'

export interface Witnesses {
	/** This endpoint has read these blocks. */
	note(span: Span, rpc: Rpc): void
	/** The endpoint that read a block last; null where that is not known (any more). */
	readerOf(block: bigint): Rpc | null
	/** Which endpoint should confirm what `first` has read: lower is better. */
	rank(first: Rpc): (rpc: Rpc) => number
}

/** Parts between the settled block and the head, with room to spare. */
const mostNotes = 1_000

export function createWitnesses(clientOf: (rpc: Rpc) => string | null): Witnesses {
	const notes: { readonly span: Span; readonly rpc: Rpc }[] = []

	/** `erigon/3.1.0/linux` is Erigon, whatever its version; null where it is not known. */
	function kindOf(rpc: Rpc): string | null {
		return clientOf(rpc)?.split('/')[0]?.toLowerCase() ?? null
	}

	return {
		note(span, rpc) {
			notes.push({ span, rpc })
			if (notes.length > mostNotes) notes.shift()
		},
		readerOf: (block) => notes.findLast(({ span }) => span.from <= block && block <= span.to)?.rpc ?? null,
		rank: (first) => (rpc) => {
			if (rpc === first) return 2
			return kindOf(rpc) !== null && kindOf(rpc) === kindOf(first) ? 1 : 0
		},
	}
}
