/** Which of many alerts go into one digest: as many from the front as one message can carry in full. */

import { sha256 } from '../../base/sha256.js'
import { digestOf } from '../../core/digest.js'
import type { Delivery } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'

export const mostAlerts = 100
export const mostBytes = 500_000

/**
 * Cuts alerts of one queue into pieces, in order; what stands alone in its piece is sent by itself. A receiver that
 * takes no digest gets each by itself.
 */
export function piecesOf(
	members: readonly Delivery[],
	{ takesDigest }: Receiver,
	nowMs: number,
): readonly (readonly Delivery[])[] {
	const isTaken = (some: readonly Delivery[]) => {
		const { message } = digestOf(some, nowMs, sha256)
		return takesDigest?.(message) === true && Buffer.byteLength(JSON.stringify(message)) <= mostBytes
	}
	const pieces: (readonly Delivery[])[] = []
	for (let at = 0; at < members.length; ) {
		const piece = longest(members.slice(at, at + mostAlerts), isTaken)
		pieces.push(piece)
		at += piece.length
	}
	return pieces
}

/** The longest beginning that is taken, but at least one. What is taken is taken as well when it is shorter. */
function longest<T>(all: readonly T[], isTaken: (some: readonly T[]) => boolean): readonly T[] {
	let [good, bad] = [1, all.length + 1]
	while (bad - good > 1) {
		// First the whole: most often it fits.
		const middle = bad > all.length ? all.length : Math.floor((good + bad) / 2)
		if (isTaken(all.slice(0, middle))) good = middle
		else bad = middle
	}
	return all.slice(0, good)
}
