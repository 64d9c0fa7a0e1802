/** Stored form of gaps, for both stores. */

import type { Hash } from '../../model/glossary.js'
import type { Gap } from '../../model/state.js'

export type StoredGap = Omit<Gap, 'block'> & { readonly block: readonly [number: string, hash: Hash] }

export function storedGap(gap: Gap): StoredGap {
	return { ...gap, block: [String(gap.block.number), gap.block.hash] }
}

/** By block number. */
export function gapsOf(stored: readonly StoredGap[]): ReadonlyMap<bigint, Gap> {
	return new Map(
		stored.map(({ block: [number, hash], ...facts }) => [
			BigInt(number),
			{ ...facts, block: { number: BigInt(number), hash } },
		]),
	)
}
