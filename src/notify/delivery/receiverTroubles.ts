/** What is wrong with a receiver, from its deliveries: it fails, it refuses messages, or some were given up. Pure. */

import { isUndelivered } from '../../core/outbox/messageKinds.js'
import { failedAttempts, isAlone, isTriedAgain, statusOf } from '../../core/outbox/waiting.js'
import type { UndeliveredData } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { UndeliveredTrouble } from '../../model/trouble.js'

/** A receiver is in trouble after it has failed for this long, or after this many attempts of one delivery. */
const OUTAGE_MS = 5 * 60_000
const OUTAGE_ATTEMPTS = 20

/** A receiver can fail and refuse at the same time. */
type Side = 'undelivered' | 'failing'
export const sideOf = ({ state }: UndeliveredTrouble): Side => (state === 'failing' ? 'failing' : 'undelivered')

/** What is known of a receiver. */
interface Standing {
	readonly receiver: string
	/** Null: none. */
	readonly fallback: string | null
	readonly deliveries: readonly Delivery[]
	/** The deliveries whose mailbox is still configured: the others are not tried. */
	readonly configured: readonly Delivery[]
	readonly lastDeliveredAtMs: number | null
	/** Whether it had time to answer this process. */
	readonly isTried: boolean
	/** Its troubles so far. */
	readonly recorded: readonly UndeliveredTrouble[]
	readonly nowMs: number
}

/** The troubles of a receiver now. One that begins is recorded before it is announced, if it must last first. */
export function receiverTroubles(standing: Standing): readonly UndeliveredTrouble[] {
	const { receiver, fallback, deliveries, configured, recorded, nowMs } = standing
	const receivers = fallback === null ? [] : [fallback]
	return (['undelivered', 'failing'] as const).flatMap((side) => {
		const ours = recorded.filter((one) => sideOf(one) === side)
		const found = findingOf(side, side === 'failing' ? configured : deliveries)
		if (found === null) return ours.filter((one) => !isOver(one, standing))
		const { state, delivery } = found
		const isKnown = ours.some((one) => receivers.every((name) => one.receivers.includes(name)))
		const begun = { receiver, recipient: delivery.recipient, sinceMs: nowMs, receivers, state, announced: false }
		const isNew = !isKnown && (fallback !== null || side === 'failing')
		const all = isNew ? [...ours, { kind: 'undelivered', ...begun } as const] : ours
		return all.map((one) => (isNews(one, found, standing) ? { ...one, state, announced: true } : one))
	})
}

interface Finding {
	readonly state: UndeliveredData['state']
	/** One that shows it. */
	readonly delivery: Delivery
}

/** Null: nothing is wrong. */
export function findingOf(side: Side, deliveries: readonly Delivery[]): Finding | null {
	if (side === 'failing') {
		const delivery = deliveries.reduce<Delivery | null>(
			(worst, one) => (failedAttempts(one) > (worst === null ? 0 : failedAttempts(worst)) ? one : worst),
			null,
		)
		return delivery && { state: 'failing', delivery }
	}
	// A report that is refused would cause the next one, between two receivers that name each other without end.
	const own = deliveries.filter(({ message }) => !isUndelivered(message.data))
	const dead = own.findLast(({ status }) => status === 'dead')
	if (dead !== undefined) return { state: 'dead', delivery: dead }
	const refused = own.find((one) => one.refused !== undefined)
	return refused === undefined ? null : { state: 'parked', delivery: refused }
}

function isNews(trouble: UndeliveredTrouble, found: Finding, { isTried, nowMs }: Standing): boolean {
	const { state, announced, sinceMs } = trouble
	if (found.state !== 'failing') return !announced || (state === 'parked' && found.state === 'dead')
	if (announced || !isTried) return false
	return Math.abs(nowMs - sinceMs) >= OUTAGE_MS || failedAttempts(found.delivery) >= OUTAGE_ATTEMPTS
}

function isOver(trouble: UndeliveredTrouble, { deliveries, configured, lastDeliveredAtMs }: Standing): boolean {
	const hasAccepted = lastDeliveredAtMs !== null && lastDeliveredAtMs >= trouble.sinceMs
	if (trouble.state === 'failing') return hasAccepted || configured.every(({ status }) => status === 'dead')
	const isLeft = deliveries.some((one) => one.status === 'dead' || isTriedAgain(one))
	return !isLeft && (deliveries.length === 0 || hasAccepted)
}

/** How many messages a trouble is about. */
export function countOf(state: UndeliveredData['state'], deliveries: readonly Delivery[]): number {
	return deliveries.filter((one) => {
		const status = statusOf(one)
		if (state === 'failing') return (status === 'pending' || status === 'held') && !isAlone(one)
		return state === 'dead' ? status === 'dead' : status === 'pending' || status === 'parked'
	}).length
}
