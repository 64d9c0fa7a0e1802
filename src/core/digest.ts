/** Many alerts in one message, and such a message split again. */

import type { DigestData, DigestedAlert, Message } from '../model/alert.js'
import type { Delivery } from '../model/delivery.js'
import { freshDelivery } from './deliveries.js'
import { isDigest } from './messageKinds.js'

/** How many alerts a message carries; a word of the system counts as one. */
export function alertsIn({ data }: Message): number {
	return isDigest(data) ? data.alerts.length : 1
}

/**
 * The alert of a message, where it is one, as it stands in a digest; else null. Tests and words of the system stand in
 * none.
 */
export function digested({ type, timestamp, data }: Message): DigestedAlert | null {
	if (!('txHash' in data) || data.test === true) return null
	return isDigested(type) ? { type, timestamp, data } : null
}

/** Whatever is said of an event: a kind that is new tomorrow too. */
function isDigested(type: Message['type']): type is DigestedAlert['type'] {
	return type.startsWith('alert.') && type !== 'alert.digest'
}

/**
 * One delivery that carries all of them, in their order; at least two of one receiver and recipient, each of which
 * `digested` takes. The same ones make the same id. Each keeps its own `deliveryId` inside, so that one which came by
 * itself too is known again.
 */
export function digestOf(members: readonly Delivery[], nowMs: number, hash: (text: string) => string): Delivery {
	const [first] = members
	if (first === undefined) throw new Error('a digest of nothing')
	const { receiver, recipient } = first
	const name = hash(JSON.stringify(['digest', ...members.map(({ id }) => id)])).slice(0, 32)
	const timestamp = new Date(nowMs).toISOString()
	const wasSilent = members.some(({ heldBy }) => heldBy === 'silence')
	const heldFromMs = Math.min(...members.map(({ createdAtMs }) => createdAtMs))
	const data: DigestData = {
		id: `digest:${name}`,
		...(wasSilent ? { held: { from: new Date(heldFromMs).toISOString(), to: timestamp } } : {}),
		alerts: members.flatMap(({ message }) => digested(message) ?? []),
	}
	const id = `msg_${name}`
	const message: Message = { type: 'alert.digest', timestamp, data: { ...data, deliveryId: id } }
	return freshDelivery(id, receiver, recipient, message, nowMs)
}

/** The alerts of a digest, each a delivery of its own again that goes into no other; empty when it is none. */
export function splitDigest(
	{ message, receiver, recipient, createdAtMs }: Delivery,
	nowMs: number,
): readonly Delivery[] {
	if (!isDigest(message.data)) return []
	return message.data.alerts.map((alert) => ({
		...freshDelivery(alert.data.deliveryId, receiver, recipient, alert, nowMs),
		createdAtMs,
		alone: true,
	}))
}
