/**
 * When a receiver takes nothing, or refuses a message for good, its fallback is notified, in the same write that says
 * so: once for each way of failing, and of what is refused each alert by itself. What a fallback is sent does not go on
 * to its own fallback.
 */

import { sha256 } from '../../base/sha256.js'
import { splitDigest } from '../../core/digest.js'
import { isDigest, isUndelivered } from '../../core/messageKinds.js'
import { queueOf } from '../../core/queue.js'
import type { Message, UndeliveredData } from '../../model/alert.js'
import type { Delivery, ReasonCode, Resolution } from '../../model/delivery.js'
import type { Receiver, Store } from '../../model/ports.js'
import type { ReceiverSummary } from '../../model/state.js'
import { toEach } from './toEach.js'
import { createUndelivered, type Undelivered, type UndeliveredOptions } from './undelivered.js'

export interface Fallbacks extends Pick<Undelivered, 'look' | 'nextLookMs'> {
	/** What an earlier run has parked, its fallback was notified of, and is to be told the end of. */
	learn(): Promise<void>
	/** What to post along with this result of a delivery. */
	postsFor(delivery: Delivery, resolution: Resolution): Promise<readonly Delivery[]>
	/** A queue took a message: when it fails again, that is news. */
	taken(delivery: Delivery): void
}

export interface FallbackOptions extends UndeliveredOptions {
	readonly store: Store
	/** The receiver to notify when this one fails; null: none. */
	readonly fallbackOf: (receiver: string) => Receiver | null
}

type Why = { readonly code: ReasonCode; readonly error: string }

/** A receiver that refuses one message now and then is reported no more often. */
const refusalsEveryMs = 3_600_000

export function createFallbacks(options: FallbackOptions): Fallbacks {
	const { store, clock, fallbackOf } = options
	const undelivered = createUndelivered(options)
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

	/** Versions before this one told it, and wrote no end down. */
	async function learnOpen(): Promise<void> {
		await learn()
		for (const receiver of parked.keys()) {
			const fallback = fallbackOf(receiver)
			if (fallback !== null) await undelivered.begin(receiver, fallback.name)
		}
	}

	async function counts(receiver: string): Promise<ReceiverSummary | undefined> {
		return (await store.summary().catch(() => null))?.receivers.get(receiver)
	}

	async function suspendedPosts(delivery: Delivery, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		// Another instance may have found out before. A state that cannot be read is no reason to say nothing.
		if (!isKnown(delivery, why.code)) await learn().catch(() => undefined)
		// What was ended, and fails again, is news.
		const known = isKnown(delivery, why.code) && undelivered.isOpen(delivery.receiver, fallback.name)
		note(delivery, why.code)
		if (known) return []
		const { pending = 0, parked = 0 } = (await counts(delivery.receiver)) ?? {}
		return await notice(delivery, 'parked', Math.max(1, pending + parked), why, fallback)
	}

	async function deadLetterPosts(delivery: Delivery, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		const { receiver } = delivery
		const instead = alertsOf(delivery).flatMap((alert) => forwarded(alert, fallback, clock()))
		const lastMs = refusedAtMs.get(receiver)
		const isRecent = lastMs !== undefined && clock() - lastMs < refusalsEveryMs
		if (isRecent && undelivered.isOpen(receiver, fallback.name)) return instead
		refusedAtMs.set(receiver, clock())
		const dead = (await counts(receiver))?.dead ?? 0
		return [...(await notice(delivery, 'dead', dead + 1, why, fallback)), ...instead]
	}

	async function notice(
		delivery: Delivery,
		state: UndeliveredData['state'],
		count: number,
		{ code, error: reason }: Why,
		fallback: Receiver,
	): Promise<readonly Delivery[]> {
		const nowMs = clock()
		const { receiver, recipient } = delivery
		await undelivered.begin(receiver, fallback.name)
		const seed = [delivery.id, state, code]
		const since = new Date(nowMs).toISOString()
		// Named by the delivery and not by the time: sent again after a kill, it is the same.
		const id = `undelivered:${sha256(JSON.stringify(seed)).slice(0, 16)}`
		const data: UndeliveredData = { id, receiver, recipient, state, count, reason, since }
		return toEach(fallback, seed, nowMs, null, (deliveryId) => ({
			type: 'system.undelivered',
			timestamp: since,
			data: { ...data, deliveryId },
		}))
	}

	return {
		look: undelivered.look,
		nextLookMs: undelivered.nextLookMs,
		learn: learnOpen,
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
function isWord({ data }: Message): boolean {
	if (isDigest(data)) return data.alerts.every((alert) => alert.data.insteadOf !== undefined)
	return isUndelivered(data) || data.insteadOf !== undefined
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
