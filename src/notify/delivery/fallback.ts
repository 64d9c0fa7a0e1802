/**
 * When a receiver takes nothing, or refuses a message for good, its fallback is notified, in the same write that says
 * so: once for each way of failing, and of what is refused each alert by itself. What a fallback is sent does not go on
 * to its own fallback.
 */

import { hash } from '../../base/hash.js'
import { freshDelivery } from '../../core/deliveries.js'
import { isDigest, splitDigest } from '../../core/digest.js'
import { queueOf } from '../../core/queue.js'
import type { Message, UndeliveredData } from '../../model/alert.js'
import type { Delivery, ReasonCode, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Receiver, Store } from '../../model/ports.js'
import type { ReceiverSummary } from '../../model/state.js'

export interface Fallbacks {
	/** What an earlier run has parked, its fallback was notified of. */
	learn(): Promise<void>
	/** What to post along with this result of a delivery. */
	postsFor(delivery: Delivery, resolution: Resolution): Promise<readonly Delivery[]>
	/** A queue took a message: when it fails again, that is news. */
	taken(delivery: Delivery): void
}

export interface FallbackOptions {
	readonly store: Store
	readonly clock: Clock
	/** The receiver to notify when this one fails; null: none. */
	readonly fallbackOf: (receiver: string) => Receiver | null
}

type Why = { readonly code: ReasonCode; readonly error: string }

/** A receiver that refuses one message now and then is reported no more often. */
const refusalsEveryMs = 3_600_000

export function createFallbacks({ store, clock, fallbackOf }: FallbackOptions): Fallbacks {
	/**
	 * What queues are parked for, as far as their fallback knows; by receiver, then queue. Null: parked by version 0.1.0,
	 * which wrote no code down; whatever it turns out to be was told then.
	 */
	const parked = new Map<string, Map<string, ReasonCode | null>>()
	const refusedAtMs = new Map<string, number>()

	function note(delivery: Delivery, code: ReasonCode | null): void {
		const queues = parked.get(delivery.receiver) ?? new Map<string, ReasonCode | null>()
		queues.set(queueOf(delivery), code)
		parked.set(delivery.receiver, queues)
	}

	/** Another queue of the receiver failing the same way is the same news. */
	function isKnown(delivery: Delivery, code: ReasonCode): boolean {
		const queues = parked.get(delivery.receiver)
		return queues !== undefined && (queues.get(queueOf(delivery)) === null || [...queues.values()].includes(code))
	}

	async function learn(): Promise<void> {
		for (const delivery of await store.deliveries('parked')) {
			if (!isWord(delivery.message)) note(delivery, delivery.lastErrorCode ?? null)
		}
	}

	async function counts(receiver: string): Promise<ReceiverSummary | undefined> {
		return (await store.summary().catch(() => null))?.receivers.get(receiver)
	}

	async function suspendedPosts(delivery: Delivery, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		// Another instance may have found out before. A state that cannot be read is no reason to say nothing.
		if (!isKnown(delivery, why.code)) await learn().catch(() => undefined)
		const known = isKnown(delivery, why.code)
		note(delivery, why.code)
		if (known) return []
		const { pending = 0, parked = 0 } = (await counts(delivery.receiver)) ?? {}
		return notice(delivery, 'parked', Math.max(1, pending + parked), why, fallback)
	}

	async function deadLetterPosts(delivery: Delivery, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		const { receiver } = delivery
		const instead = alertsOf(delivery).flatMap((alert) => forwarded(alert, fallback, clock()))
		const lastMs = refusedAtMs.get(receiver)
		if (lastMs !== undefined && clock() - lastMs < refusalsEveryMs) return instead
		refusedAtMs.set(receiver, clock())
		const dead = (await counts(receiver))?.dead ?? 0
		return [...notice(delivery, 'dead', dead + 1, why, fallback), ...instead]
	}

	function notice(
		delivery: Delivery,
		state: UndeliveredData['state'],
		count: number,
		{ code, error: reason }: Why,
		fallback: Receiver,
	): readonly Delivery[] {
		const nowMs = clock()
		const { receiver, recipient } = delivery
		const seed = [delivery.id, state, code]
		const since = new Date(nowMs).toISOString()
		// Named by the delivery and not by the time: sent again after a kill, it is the same.
		const id = `undelivered:${hash(JSON.stringify(seed)).slice(0, 16)}`
		const data: UndeliveredData = { id, receiver, recipient, state, count, reason, since }
		return toEach(fallback, seed, nowMs, null, (deliveryId) => ({
			type: 'system.undelivered',
			timestamp: since,
			data: { ...data, deliveryId },
		}))
	}

	return {
		learn,
		async postsFor(delivery, resolution) {
			if (resolution.result !== 'parked' && resolution.result !== 'dead') return []
			const fallback = fallbackOf(delivery.receiver)
			if (fallback === null || isWord(delivery.message)) return []
			return resolution.result === 'parked'
				? await suspendedPosts(delivery, resolution, fallback)
				: await deadLetterPosts(delivery, resolution, fallback)
		},
		taken(delivery) {
			parked.get(delivery.receiver)?.delete(queueOf(delivery))
		},
	}
}

/** What a fallback is sent, as a fallback. */
function isWord({ type, data }: Message): boolean {
	if (isDigest(data)) return data.alerts.every((alert) => alert.data.insteadOf !== undefined)
	return type === 'system.undelivered' || data.insteadOf !== undefined
}

/** Of a digest each alert by itself: the fallback may take no digests, or smaller ones. */
function alertsOf(delivery: Delivery): readonly Delivery[] {
	if (!isDigest(delivery.message.data)) return [delivery]
	return splitDigest(delivery, delivery.nextAttemptAtMs).filter(({ message }) => !isWord(message))
}

/** The message itself, once for each recipient of the fallback. */
function forwarded(delivery: Delivery, fallback: Receiver, nowMs: number): readonly Delivery[] {
	const { id, receiver, message, answers } = delivery
	const seed = [id, 'instead']
	return toEach(fallback, seed, nowMs, answers === null ? null : [answers, 'instead'], (deliveryId) => ({
		...message,
		data: { ...message.data, deliveryId, insteadOf: receiver },
	}))
}

function toEach(
	{ name, recipients }: Receiver,
	seed: readonly string[],
	nowMs: number,
	answered: readonly string[] | null,
	messageOf: (deliveryId: string) => Message,
): readonly Delivery[] {
	return (recipients ?? [null]).map((recipient) => {
		const idOf = (parts: readonly string[]) => `msg_${hash(JSON.stringify([...parts, name, recipient])).slice(0, 32)}`
		const id = idOf(seed)
		const answers = answered === null ? null : idOf(answered)
		return freshDelivery(id, name, recipient, messageOf(id), nowMs, answers)
	})
}
