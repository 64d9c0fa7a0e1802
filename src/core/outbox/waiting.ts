/**
 * How a delivery waits. It is pending until it is delivered or dead. It holds back its queue until it was tried five
 * times or refused; then it waits beside the queue, and holds back only deliveries about the same subject. So does one
 * that waits for a digest. Pure.
 */

import type { Message } from '../../model/alert.js'
import type { Delivery, ReasonCode, ShownStatus } from '../../model/delivery.js'
import { isAlert, isDigest, isUndelivered, networkTroubleOf } from './messageKinds.js'

/** Attempts after which a delivery holds back its queue no longer. */
const BLOCKING_ATTEMPTS = 5

/** Code of the last failure where the receiver accepts others: the message fails alone, or waits for one that does. */
export const ALONE: ReasonCode = 'message-failed'

type Waiting = Pick<Delivery, 'status' | 'attempts' | 'refused' | 'lastErrorCode'>
type Held = Pick<Delivery, 'status' | 'digestAtMs' | 'nextAttemptAtMs'>

/** Fails alone: its receiver has accepted others since. */
export function isAlone({ status, lastErrorCode }: Pick<Delivery, 'status' | 'lastErrorCode'>): boolean {
	return status === 'pending' && lastErrorCode === ALONE
}

/** Waits beside its queue. */
export function isAside(delivery: Waiting): boolean {
	const { status, attempts, refused } = delivery
	return status === 'pending' && (attempts >= BLOCKING_ATTEMPTS || refused !== undefined || isAlone(delivery))
}

/** Waits until its receiver accepts anything again. */
export function isParked({ status, refused, lastErrorCode }: Waiting): boolean {
	return status === 'pending' && refused?.times === 0 && lastErrorCode !== ALONE && lastErrorCode !== 'expired'
}

/** Waits for a digest, beside its queue until then. */
export function isHeld({ status, digestAtMs, nextAttemptAtMs }: Held): boolean {
	return status === 'pending' && digestAtMs === nextAttemptAtMs
}

/** What operators are shown. */
export function statusOf(delivery: Waiting & Held): ShownStatus {
	if (isParked(delivery)) return 'parked'
	return isHeld(delivery) ? 'held' : delivery.status
}

/**
 * Refused or given up before, and pending again, perhaps before anybody has repaired the receiver: its failures are old
 * news until an attempt has a result.
 */
export function isTriedAgain({ status, refused, lastErrorCode }: Waiting): boolean {
	if (status === 'dead') return false
	return refused !== undefined || lastErrorCode === 'expired' || lastErrorCode === 'no-recipient'
}

/** Failed attempts of a delivery whose receiver may fail as a whole. */
export function failedAttempts(delivery: Waiting): number {
	return delivery.status === 'pending' && !isAlone(delivery) && !isTriedAgain(delivery) ? delivery.attempts : 0
}

/** Deliveries in order for each one beside the queue, where more are due than can be claimed. */
const IN_ORDER_EACH = 9

/**
 * What can be tried now of a queue in sending order: deliveries up to the first that holds the queue back, then those
 * beside it. Of more than `most`, every tenth is one beside it: a backlog that does not end must not starve them.
 */
export function claimable<D extends Waiting & Held>(queue: readonly D[], nowMs: number, most: number): readonly D[] {
	const inOrder: D[] = []
	const aside: D[] = []
	let isHeldBack = false
	for (const delivery of queue) {
		const isDue = delivery.nextAttemptAtMs <= nowMs
		if (isAside(delivery)) {
			if (isDue) aside.push(delivery)
		} else if (!isDue) isHeldBack ||= !isHeld(delivery)
		else if (!isHeldBack) inOrder.push(delivery)
	}
	if (inOrder.length + aside.length <= most) return [...inOrder, ...aside]
	const mixed = inOrder.slice(0, most).flatMap((one, at) => {
		const turn = at / IN_ORDER_EACH
		return Number.isInteger(turn) ? [one, ...aside.slice(turn, turn + 1)] : [one]
	})
	return [...mixed, ...aside.slice(Math.ceil(inOrder.length / IN_ORDER_EACH))].slice(0, most)
}

/** What holds back one of these in a queue in sending order, and is none of them. */
export function holdersOf(queue: readonly Delivery[], ids: ReadonlySet<string>): readonly Delivery[] {
	const inOrder = queue.filter((one) => !isAside(one))
	const last = inOrder.findLastIndex(({ id }) => ids.has(id))
	return inOrder.slice(0, Math.max(0, last)).filter((one) => !isHeld(one) && !ids.has(one.id))
}

/** When something of a queue in sending order can be tried next; null: nothing waits. */
export function nextDueMsOf(queue: readonly Delivery[]): number | null {
	let next: number | null = null
	let isHeldBack = false
	for (const delivery of queue) {
		if (isHeldBack && !isAside(delivery)) continue
		next = Math.min(next ?? delivery.nextAttemptAtMs, delivery.nextAttemptAtMs)
		isHeldBack ||= !isAside(delivery) && !isHeld(delivery)
	}
	return next
}

/**
 * What a message is about. An alert, its retraction and its repetition share subjects; so do the stalls of a network
 * and their ends, and all that is said of one balance. Their order matters for their meaning.
 */
function subjectsOf({ type, data }: Message): readonly string[] {
	if (isDigest(data)) return data.alerts.flatMap(subjectsOf)
	if (isUndelivered(data)) return [`undelivered:${data.receiver}`]
	if (!isAlert(data)) return [`${data.network}:${networkTroubleOf(type, data)}`]
	return data.kind === 'balance' ? [data.id, `${data.network}:balance:${data.watch.address}`] : [data.id]
}

/** The earliest delivery beside its queue that this one must not overtake. `aside`: in sending order. */
export function blockerOf(delivery: Delivery, aside: Iterable<Delivery>): Delivery | null {
	const subjects = new Set(subjectsOf(delivery.message))
	for (const other of aside) {
		if (other.id === delivery.id) return null
		if (subjectsOf(other.message).some((subject) => subjects.has(subject))) return other
	}
	return null
}

/** Those of deliveries in sending order that overtake none about the same subject. */
export function readyOf(inOrder: readonly Delivery[]): readonly Delivery[] {
	const seen = new Set<string>()
	return inOrder.filter(({ message }) => {
		const own = subjectsOf(message)
		const isFirst = !own.some((subject) => seen.has(subject))
		for (const subject of own) seen.add(subject)
		return isFirst
	})
}
