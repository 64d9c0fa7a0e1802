/** When a network stops polling because too many deliveries wait for its receivers: late rather than lost. Pure. */

import type { Message } from '../../model/alert.js'

export interface Backlog {
	/** Deliveries about the network that wait, by receiver. */
	readonly own: ReadonlyMap<string, number>
	/** Deliveries that wait, of all networks. */
	readonly all: number
	/** Receivers of the network's watches. */
	readonly receivers: readonly string[]
}

/** Deliveries about one network that may wait for one receiver; from half of it on, floods are folded. */
export const MOST_PENDING = 10_000

/** While one of its receivers has room, a network goes on up to this multiple of `most`. */
const withRoom = 4
/** Above this multiple of `most` in total, networks with a large share of the deliveries wait. */
const inAll = 8
const goodPart = 1 / 8

/**
 * `most`: how many deliveries about one network may wait for one receiver. An attacker can cause any number of alerts
 * on a cheap chain; they delay neither other networks nor, for long, receivers that keep up. Returns how many of the
 * network's own deliveries wait, or null if it need not wait.
 */
export function tooMuchWaits({ own, all, receivers }: Backlog, most: number): number | null {
	let sum = 0
	for (const count of own.values()) sum += count
	const isEachFull = sum >= most && receivers.every((receiver) => (own.get(receiver) ?? 0) >= most)
	const isTooMuch = isEachFull || sum >= withRoom * most || (all >= inAll * most && sum >= goodPart * most)
	return isTooMuch ? sum : null
}

/** Whether a message is about a network. */
export function isAbout({ data }: Message, network: string): boolean {
	return 'network' in data && data.network === network
}
