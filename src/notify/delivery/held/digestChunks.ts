/** Splits alerts into digests, each as large as one message can carry in full. */

import { sha256 } from '../../../base/sha256.js'
import { digestOf } from '../../../core/outbox/digest.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Receiver } from '../../../model/ports.js'

export const mostAlerts = 100
export const mostBytes = 500_000

/**
 * Splits alerts of one queue into chunks, in order: at most 100 alerts and 500 kB of JSON each. A chunk of one alert is
 * sent as that alert. A receiver that takes no digests gets only such chunks.
 */
export function chunksOf(
	members: readonly Delivery[],
	{ takesDigest }: Receiver,
	nowMs: number,
): readonly (readonly Delivery[])[] {
	const isTaken = (some: readonly Delivery[]) => {
		const { message } = digestOf(some, nowMs, sha256)
		return takesDigest?.(message) === true && Buffer.byteLength(JSON.stringify(message)) <= mostBytes
	}
	const chunks: (readonly Delivery[])[] = []
	for (let at = 0; at < members.length; ) {
		const chunk = longest(members.slice(at, at + mostAlerts), isTaken)
		chunks.push(chunk)
		at += chunk.length
	}
	return chunks
}

/** The longest prefix that is taken, at least one alert. Assumes that every prefix of a taken prefix is taken too. */
function longest<T>(all: readonly T[], isTaken: (some: readonly T[]) => boolean): readonly T[] {
	let [good, bad] = [1, all.length + 1]
	while (bad - good > 1) {
		// The first try is the whole list, because it usually fits.
		const middle = bad > all.length ? all.length : Math.floor((good + bad) / 2)
		if (isTaken(all.slice(0, middle))) good = middle
		else bad = middle
	}
	return all.slice(0, good)
}
