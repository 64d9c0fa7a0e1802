/** Joins many alerts into one message, and splits such a message again. */

import type { DigestData, DigestedAlert, Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import { isAlert, isDigest } from './messageKinds.js'
import { freshDelivery } from './posting.js'

/** How many alerts a message carries; a system message counts as one. */
export function alertsIn({ data }: Message): number {
	if (isDigest(data)) return data.alerts.reduce((sum, alert) => sum + 1 + (alert.data.folded?.count ?? 0), 0)
	return isAlert(data) ? 1 + (data.folded?.count ?? 0) : 1
}

/** The alert of a message in the form used in digests; null for tests and system messages, which are never digested. */
export function digested({ type, timestamp, data }: Message): DigestedAlert | null {
	if (!('txHash' in data) || data.test === true) return null
	return isDigested(type) ? { type, timestamp, data } : null
}

/** Any message about an event, also of a kind that this version does not know. */
function isDigested(type: Message['type']): type is DigestedAlert['type'] {
	return type.startsWith('alert.') && type !== 'alert.digest'
}

/**
 * One delivery that carries all members in their order: at least two, of one receiver and recipient, each accepted by
 * `digested`. The same members give the same id. Each keeps its own `deliveryId` inside, so that a receiver recognises
 * an alert that it also got alone.
 */
export function digestOf(members: readonly Delivery[], nowMs: number, hash: (text: string) => string): Delivery {
	const [first] = members
	if (first === undefined) throw new Error('a digest of nothing')
	const { receiver, recipient } = first
	const name = hash(JSON.stringify(['digest', ...members.map(({ id }) => id)])).slice(0, 32)
	const timestamp = new Date(nowMs).toISOString()
	const data: DigestData = {
		id: `digest:${name}`,
		alerts: members.flatMap(({ message }) => digested(message) ?? []),
	}
	const id = `msg_${name}`
	const message: Message = { type: 'alert.digest', timestamp, data: { ...data, deliveryId: id } }
	const digest = freshDelivery({ id, receiver, recipient, message }, nowMs)
	const isRefused = first.refused !== undefined && members.every(({ refused }) => refused !== undefined)
	return isRefused ? { ...digest, refused: first.refused } : digest
}

/** The alerts of a digest, each as a delivery that joins no other digest; empty if the message is no digest. */
export function splitDigest(
	{ message, receiver, recipient, createdAtMs, refused }: Delivery,
	nowMs: number,
): readonly Delivery[] {
	if (!isDigest(message.data)) return []
	return message.data.alerts.map((alert) => ({
		...freshDelivery({ id: alert.data.deliveryId, receiver, recipient, message: alert }, nowMs),
		createdAtMs,
		...(refused && { refused }),
		alone: true,
	}))
}
