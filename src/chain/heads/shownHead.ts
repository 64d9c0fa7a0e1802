/** A reported head is a claim; what counts is the newest block that an endpoint gives when asked for it by number. */

import { newestOf } from '../../core/newest.js'
import { endingAt } from '../../core/target.js'
import type { Block, Head } from '../../model/chain.js'

/**
 * The same head if its newest block is shown; else a head that ends at the newest block that is shown, at least at
 * `known`, which was shown before. `show` resolves to null where no endpoint has the block.
 */
export async function shownHead<H extends Head>(
	head: H,
	known: bigint,
	show: (number: bigint) => Promise<Block | null>,
): Promise<H | Head> {
	const { number } = head.latest
	if (number <= known || (await show(number)) !== null) return head
	let newest: Block | null = null
	const isShown = async (each: bigint) => {
		const block = await show(each)
		if (block !== null) newest = block
		return block !== null
	}
	const end = await newestOf({ from: known, to: number }, isShown)
	const latest = newest ?? (await show(end))
	return latest === null ? head : endingAt(head, latest)
}
