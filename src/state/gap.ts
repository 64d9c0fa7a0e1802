/** Gaps as both stores write them. */

import type { Address, Hash } from '../model/glossary.js'
import type { Gap } from '../model/state.js'

export interface StoredGap {
	readonly block: readonly [number: string, hash: string]
	/** Absent: for everybody. */
	readonly addresses?: readonly Address[]
	readonly tries: number
	readonly sinceMs: number
	readonly afterGood: boolean
	readonly openedAtMs: number | null
	readonly reason: string
}

export function storedGap({ block, addresses, tries, sinceMs, isAfterGood, openedAtMs, reason }: Gap): StoredGap {
	const facts = { tries, sinceMs, afterGood: isAfterGood, openedAtMs, reason }
	return { block: [String(block.number), block.hash], ...(addresses === null ? {} : { addresses }), ...facts }
}

/** By block number. */
export function gapsOf(stored: readonly StoredGap[]): ReadonlyMap<bigint, Gap> {
	return new Map(
		stored.map(({ block, addresses = null, afterGood, ...facts }) => {
			const number = BigInt(block[0])
			return [number, { ...facts, block: { number, hash: block[1] as Hash }, addresses, isAfterGood: afterGood }]
		}),
	)
}
