/** Stored form of gaps, for both stores. */

import type { Address, Hash } from '../model/glossary.js'
import type { Gap } from '../model/state.js'

export interface StoredGap {
	readonly block: readonly [number: string, hash: string]
	/** Absent: all covered addresses. */
	readonly addresses?: readonly Address[]
	readonly tries: number
	readonly transactions?: readonly Hash[]
	readonly sinceMs: number
	readonly afterGood: boolean
	readonly openedAtMs: number | null
	readonly reason: string
	readonly acceptedAtMs?: number
	readonly acceptanceTold?: true
	readonly wantedAtMs?: number
	readonly readAtMs?: number
}

export function storedGap(gap: Gap): StoredGap {
	const { block, addresses, tries, sinceMs, isAfterGood, openedAtMs, reason } = gap
	const { acceptedAtMs, isAcceptanceAnnounced, wantedAtMs, readAtMs, transactions } = gap
	const marks = {
		...(acceptedAtMs !== undefined && { acceptedAtMs }),
		...(isAcceptanceAnnounced && { acceptanceTold: true as const }),
		...(wantedAtMs !== undefined && { wantedAtMs }),
		...(readAtMs !== undefined && { readAtMs }),
		...(transactions && { transactions }),
	}
	const facts = { tries, sinceMs, afterGood: isAfterGood, openedAtMs, reason, ...marks }
	return { block: [String(block.number), block.hash], ...(addresses === null ? {} : { addresses }), ...facts }
}

/** By block number. */
export function gapsOf(stored: readonly StoredGap[]): ReadonlyMap<bigint, Gap> {
	return new Map(
		stored.map(({ block, addresses = null, afterGood, acceptanceTold, ...facts }) => {
			const number = BigInt(block[0])
			const accepted = acceptanceTold === undefined ? {} : { isAcceptanceAnnounced: acceptanceTold }
			const gap = {
				...facts,
				...accepted,
				block: { number, hash: block[1] as Hash },
				addresses,
				isAfterGood: afterGood,
			}
			return [number, gap]
		}),
	)
}
