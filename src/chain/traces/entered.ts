/** Notes which contracts were entered in which block, from frames that are read anyway. */

import type { AddressSet, BlockRef, TouchedBlock } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { PlacelessFrame } from './tree.js'

export interface EnteredNotes {
	note(frame: PlacelessFrame, block: BlockRef, txHash: Hash | null): void
	/** In order of block; empty: none. */
	all(): readonly TouchedBlock[]
}

/** Of more transactions that enter one contract in one block, only these are kept. */
const MOST_TRANSACTIONS = 2

export function createEnteredNotes({ logsOf: entered }: Pick<AddressSet, 'logsOf'>): EnteredNotes {
	const blocks = new Map<Hash, Omit<TouchedBlock, 'contracts'> & { readonly contracts: Map<Address, Hash[]> }>()
	return {
		note(frame, { number, hash }, txHash) {
			if (entered === undefined || txHash === null || !mayChange(frame) || !entered.has(frame.to)) return
			const block = blocks.get(hash) ?? { number, hash, contracts: new Map<Address, Hash[]>() }
			blocks.set(hash, block)
			const own = block.contracts.get(frame.to)
			if (own === undefined) block.contracts.set(frame.to, [txHash])
			else if (own.length < MOST_TRANSACTIONS && !own.includes(txHash)) own.push(txHash)
		},
		all: () => [...blocks.values()].sort((one, other) => (one.number < other.number ? -1 : 1)),
	}
}

/** Whether the frame ran code that may write the storage of its `to`, even under a frame that failed. */
function mayChange(frame: PlacelessFrame): frame is PlacelessFrame & { readonly to: Address } {
	const { type, callType, to, error } = frame
	if (to === null || error !== null) return false
	return type === 'call' ? callType === 'call' : type === 'create' || type === 'create2'
}
