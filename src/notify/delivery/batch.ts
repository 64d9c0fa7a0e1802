/**
 * The digest: above the rate of its rule an alert waits for a time at which it is sent together with the others that
 * wait for it. Which ones is seen when they are sent; in the state they are pending, each with that time.
 */

import { sha256 } from '../../base/sha256.js'
import { digested, digestOf } from '../../core/outbox/digest.js'
import { urgencyOf } from '../../core/outbox/urgency.js'
import { blockerOf, isAlone, isHeld } from '../../core/outbox/waiting.js'
import type { Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'
import { LONGEST_WAIT_MS } from './policy.js'
import type { Queue } from './queueMemory.js'

/** At most `max` alerts that a digest may hold are sent alone within any `everyMs`. */
export interface DigestRate {
	readonly everyMs: number
	readonly max: number
}

export const MOST_ALERTS = 100
export const MOST_BYTES = 500_000

interface Facts {
	/** Null: each alert is sent alone. */
	readonly rate: DigestRate | null
	readonly queue: Queue
	/** What waits beside the queue. */
	readonly aside: Iterable<Delivery>
	readonly nowMs: number
}

/**
 * The time of the digest that a delivery waits for; null: send it now. It joins a digest that waits already: any, if
 * the rule may hold it; else only one with an alert about the same event.
 */
export function digestTimeOf(delivery: Delivery, { rate, queue, aside, nowMs }: Facts): number | null {
	const alert = digested(delivery.message)
	if (alert === null || delivery.alone || isAlone(delivery)) return null
	const { askedUntilMs: askedMs } = queue
	// Longer than a receiver can ask for: the clock was set back.
	const isAsked = nowMs < askedMs && askedMs <= nowMs + LONGEST_WAIT_MS
	if (delivery.digestAtMs !== undefined) return isAsked && isHeld(delivery) ? askedMs : null
	const mayWait = rate !== null && mayBeHeld(delivery.message)
	for (const other of aside)
		if (isHeld(other) && (mayWait || digested(other.message)?.data.id === alert.data.id)) return other.nextAttemptAtMs
	const fullUntilMs = mayWait ? windowEndMs(queue, rate, nowMs) : null
	return fullUntilMs !== null && isAsked ? Math.max(fullUntilMs, askedMs) : fullUntilMs
}

/**
 * When the receiver accepted each message that counts for the digest's rule, this one included. Only in memory: after a
 * start, up to `max` are sent at once again.
 */
export function sentTimes({ message }: Delivery, rate: DigestRate | null, queue: Queue, nowMs: number) {
	if (rate === null || !(message.type === 'alert.digest' || mayBeHeld(message))) return queue.sentAtMs
	return [...recent(queue, rate, nowMs), nowMs]
}

/**
 * What is sent in one message with the first of `claimed`, in order: those of the same digest that overtake nothing
 * about their event, as many as one message can carry in full. A receiver that takes no digests gets only the first.
 */
export function batchOf(
	claimed: readonly Delivery[],
	aside: readonly Delivery[],
	{ takesDigest }: Pick<Receiver, 'takesDigest'>,
): readonly Delivery[] {
	const [head] = claimed
	if (head?.digestAtMs === undefined || head.alone || isAlone(head)) return claimed.slice(0, 1)
	const members: Delivery[] = []
	const inside = new Set<string>()
	const outside = () => aside.filter(({ id }) => !inside.has(id))
	for (const one of claimed) {
		if (members.length === MOST_ALERTS) break
		const isSame = one.digestAtMs === head.digestAtMs && (one.refused === undefined) === (head.refused === undefined)
		if (!isSame || isAlone(one)) continue
		if (one !== head && blockerOf(one, outside()) !== null) continue
		if (members.length > 0 && !fits(digestOf([...members, one], sha256).message, takesDigest)) break
		members.push(one)
		inside.add(one.id)
	}
	return members
}

function fits(digest: Message, takesDigest: Receiver['takesDigest']): boolean {
	return takesDigest?.(digest) === true && Buffer.byteLength(JSON.stringify(digest)) <= MOST_BYTES
}

/** Alarms and what leaves a watch are always sent at once. */
function mayBeHeld(message: Message): boolean {
	return digested(message) !== null && urgencyOf(message) === 'ordinary'
}

/** Times in the future were recorded before the clock was set back. */
function recent({ sentAtMs }: Queue, { everyMs }: DigestRate, nowMs: number): readonly number[] {
	return sentAtMs.filter((atMs) => atMs <= nowMs && nowMs < atMs + everyMs)
}

function windowEndMs(queue: Queue, rate: DigestRate, nowMs: number): number | null {
	const sent = recent(queue, rate, nowMs)
	const oldest = sent[sent.length - rate.max]
	return oldest === undefined ? null : oldest + rate.everyMs
}
