/**
 * Determines the urgency of a message: the order in which a queue sends, and what a digest may delay. Within a rank, a
 * queue sends in order of posting. The rank depends on who can cause a message: a stranger can cause neither an alarm
 * nor an outgoing movement, so a flood delays neither.
 */

import { recordOf } from '../../kinds/all.js'
import type { AlertData, Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import { isAlert } from './messageKinds.js'

/**
 * `alarm`: messages about tracewatch itself, and kinds whose record defines an alarm (`unexplained`, `balance`, …).
 * `outgoing`: value left the watch, or the watch created a contract.
 * `claim`: what anyone can cause at will but must not be overlooked: look-alikes, and outgoing movements that only the
 * log of an unknown contract reports.
 * `ordinary`: the rest.
 */
export type Urgency = 'alarm' | 'outgoing' | 'claim' | 'ordinary'

/** The lowest is sent first. The database stores these numbers. */
export const ranks: Readonly<Record<Urgency, number>> = { alarm: 0, outgoing: 1, claim: 2, ordinary: 3 }

export function urgencyOf({ type, data }: Message): Urgency {
	if (data.test === true) return 'alarm'
	// A retraction has the data of its alert, and so the same rank: it cannot overtake the alert.
	if (isAlert(data)) return urgencyOfAlert(data)
	// Alerts of a gap are sent before the notice that it is closed.
	return type === 'system.recovered' && 'fromBlock' in data && data.fromBlock !== undefined ? 'ordinary' : 'alarm'
}

export function rankOf({ message, rank = 0 }: Pick<Delivery, 'message' | 'rank'>): number {
	return Math.max(rank, ranks[urgencyOf(message)])
}

/** Takes one queue in order of posting, and returns it in sending order. */
export function inSendingOrder<T extends Pick<Delivery, 'message' | 'rank'>>(queue: readonly T[]): readonly T[] {
	const own = queue.map(rankOf)
	return Object.values(ranks).flatMap((rank) => queue.filter((_, at) => own[at] === rank))
}

/** Whether the counterparty or the token imitates one that the reader knows. */
export function isImitation({ lookalike, token }: AlertData): boolean {
	return lookalike !== undefined || token?.imitates !== undefined
}

export function urgencyOfAlert(data: AlertData): Urgency {
	// If the effect of an authorisation was not checked, it may be an old one that anyone replayed.
	if (recordOf(data.kind).alarm !== null) return data.confirmed === false ? 'claim' : 'alarm'
	if (data.direction !== 'in') return isOwn(data) ? 'outgoing' : 'claim'
	return isImitation(data) ? 'claim' : 'ordinary'
}

/** Anyone can deploy a contract that logs a transfer from the watch, or log a transfer of zero of a real token. */
function isOwn({ token, initiator, watch }: AlertData): boolean {
	if (token === undefined || initiator?.toLowerCase() === watch.address.toLowerCase()) return true
	return token.known && token.amountRaw !== '0'
}
