/** Joins many alerts into one message. */

import type { DigestData, DigestedAlert, Message, MessageContent } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import { isAlert, isDigest } from './messageKinds.js'

/** How many alerts a message carries, with those folded in them; a system message counts as one. */
export function alertsIn({ data }: { readonly data: MessageContent }): number {
	if (isDigest(data)) return data.alerts.reduce((sum, alert) => sum + 1 + (alert.data.folded?.count ?? 0), 0)
	return isAlert(data) ? 1 + (data.folded?.count ?? 0) : 1
}

/**
 * The alert of a message in the form used in digests, also of a kind that this version does not know; null for tests,
 * digests and system messages, which are never digested.
 */
export function digested({ type, timestamp, data }: Message): DigestedAlert | null {
	if (!isAlert(data) || data.test === true || !type.startsWith('alert.')) return null
	return { type: type as DigestedAlert['type'], timestamp, data }
}

/**
 * One message that carries all members in their order: at least two of one queue, each accepted by `digested`. It is
 * made anew for each attempt: the same members of the same time give the same id and content. Each keeps its own
 * `deliveryId` inside, so that a receiver recognises an alert that it also got alone.
 */
export function digestOf(members: readonly Delivery[], hash: (text: string) => string): Delivery {
	const [first] = members
	if (first === undefined) throw new Error('a digest of nothing')
	const { digestAtMs: createdAtMs = first.createdAtMs } = first
	const name = hash(JSON.stringify(['digest', ...members.map(({ id }) => id)])).slice(0, 32)
	const alerts = members.flatMap(({ message }) => digested(message) ?? [])
	const id = `msg_${name}`
	const data: DigestData = { id: `digest:${name}`, alerts }
	const timestamp = new Date(createdAtMs).toISOString()
	const message: Message = { type: 'alert.digest', timestamp, data: { ...data, deliveryId: id } }
	return { ...first, id, message, answers: null, createdAtMs }
}
