/** When a network waits with polling, since too much waits for its receivers: rather late than lost. Pure. */

import type { Message } from '../model/alert.js'
import { isDigest } from './messageKinds.js'

export interface Backlog {
	/** Deliveries about the network that wait, by receiver. */
	readonly own: ReadonlyMap<string, number>
	/** Deliveries that wait, of all networks. */
	readonly all: number
	/** Whom anything on the network is sent to. */
	readonly receivers: readonly string[]
}

/** While one of its receivers has room a network goes on, up to so many times `most`. */
const withRoom = 4
/** So many times `most` in all: whoever has a good part of them waits. */
const inAll = 8
const goodPart = 1 / 8

/**
 * `most`: deliveries about one network that may wait for one receiver. A stranger can make any number of alerts on a
 * cheap chain: they hold up neither other networks nor, for long, receivers that keep up. Null: it need not wait; else
 * how many of its own wait.
 */
export function tooMuchWaits({ own, all, receivers }: Backlog, most: number): number | null {
	let sum = 0
	for (const count of own.values()) sum += count
	const isEachFull = sum >= most && receivers.every((receiver) => (own.get(receiver) ?? 0) >= most)
	const isTooMuch = isEachFull || sum >= withRoom * most || (all >= inAll * most && sum >= goodPart * most)
	return isTooMuch ? sum : null
}

/** Whether a message tells of a network; a digest may tell of several. */
export function isAbout({ data }: Message, network: string): boolean {
	if (isDigest(data)) return data.alerts.some((alert) => alert.data.network === network)
	return 'network' in data && data.network === network
}
