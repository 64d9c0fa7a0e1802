/** A filter cannot prove its answer complete, so a few blocks of each span are read whole and compared with it. */

import { sha256 } from '../../base/sha256.js'
import { eventsOf } from '../../core/events/events.js'
import type { AddressSet, Part, Span } from '../../model/chain.js'

export type Sampling = (span: Span) => readonly bigint[]

/** One block of each 64 is chosen, and at most 8 of a span. */
const EACH_BLOCKS = 64n
const MOST_BLOCKS = 8

/** The choice depends on the seed, which no endpoint knows, and stays the same when a span is read again. */
export function createSampling(seed: string): Sampling {
	return ({ from, to }) => {
		const chosen: bigint[] = []
		for (let window = from / EACH_BLOCKS; window <= to / EACH_BLOCKS && chosen.length < MOST_BLOCKS; window++) {
			const digest = BigInt(`0x${sha256(`${seed} ${window}`).slice(0, 16)}`)
			const number = window * EACH_BLOCKS + (digest % EACH_BLOCKS)
			if (from <= number && number <= to) chosen.push(number)
		}
		return chosen
	}
}

/** What moved for the addresses in a block, without rewards, which not every source gives. */
export function movedIn(
	{ transactions }: Pick<Part, 'transactions'>,
	block: bigint,
	addresses: AddressSet,
): Set<string> {
	const moved = new Set<string>()
	for (const tx of transactions) {
		if (tx.block.number !== block || tx.txHash === null) continue
		for (const { kind, trace, from, to, valueWei } of eventsOf(tx))
			if ((from !== null && addresses.has(from)) || addresses.has(to))
				moved.add([tx.txHash, trace, kind, from, to, valueWei].join(' '))
	}
	return moved
}
