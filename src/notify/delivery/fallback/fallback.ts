/**
 * The room notifies the fallback of a receiver that accepts nothing or refuses a message for good. The notice is posted
 * in the write that records the refusal: once per reason, plus each refused alert. Messages to a fallback are not
 * passed on to its own fallback.
 */

import { sha256 } from '../../../base/sha256.js'
import { splitDigest } from '../../../core/outbox/digest.js'
import { isDigest, isUndelivered } from '../../../core/outbox/messageKinds.js'
import { quarantineCode } from '../../../core/outbox/quarantine.js'
import { queueOf } from '../../../core/outbox/queue.js'
import type { Message, UndeliveredData } from '../../../model/alert.js'
import type { Delivery, ReasonCode, Resolution } from '../../../model/delivery.js'
import type { Receiver, Store } from '../../../model/ports.js'
import type { ReceiverSummary } from '../../../model/state.js'
import { fallbackDeliveries } from './fallbackDeliveries.js'
import { createOutages, type OutageOptions } from './outage.js'
import { createUndelivered, type Undelivered, type UndeliveredOptions } from './undelivered.js'

export interface Fallbacks extends Pick<Undelivered, 'look' | 'nextLookMs'> {
	/** Finds deliveries that an earlier run parked: their fallbacks were notified, and need the message that ends it. */
	learn(): Promise<void>
	/** Deliveries to post in the same write as this resolution. */
	postsFor(delivery: Delivery, resolution: Resolution): Promise<readonly Delivery[]>
	/** A queue accepted a message: its next failure is announced again. */
	taken(delivery: Delivery): void
}

export interface FallbackOptions extends UndeliveredOptions, OutageOptions {
	readonly store: Store
}

type Why = { readonly code: ReasonCode; readonly error: string }

/** Refusals of single messages by one receiver are announced at most this often. */
const refusalsEveryMs = 3_600_000

export function createFallbacks(options: FallbackOptions): Fallbacks {
	const { store, clock, fallbackOf } = options
	const undelivered = createUndelivered(options)
	const outages = createOutages(options)
	/**
	 * The reasons that fallbacks were notified of; by receiver, then by queue. Null: parked by version 0.1.0, which
	 * stored no code; its fallback was notified, whatever the reason.
	 */
	const parked = new Map<string, Map<string, ReasonCode | null>>()
	const refusedAtMs = new Map<string, number>()

	function note(delivery: Delivery, code: ReasonCode | null): void {
		const queues = parked.get(delivery.receiver) ?? new Map<string, ReasonCode | null>()
		queues.set(queueOf(delivery), code)
		parked.set(delivery.receiver, queues)
	}

	/** The same failure of another queue of the receiver is already known. */
	function isKnown(delivery: Delivery, code: ReasonCode): boolean {
		const queues = parked.get(delivery.receiver)
		return queues !== undefined && (queues.get(queueOf(delivery)) === null || [...queues.values()].includes(code))
	}

	async function learn(): Promise<void> {
		for (const delivery of await store.deliveries('parked')) {
			if (!isWord(delivery.message)) note(delivery, delivery.lastErrorCode ?? null)
		}
	}

	/** Earlier versions notified the fallback without recording it, so that nothing would end it. */
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
		// Another instance may have notified the fallback already. If the state cannot be read, notify it anyway.
		if (!isKnown(delivery, why.code)) await learn().catch(() => undefined)
		// After it was ended, the same failure is announced again.
		const known = isKnown(delivery, why.code) && undelivered.isOpen(delivery.receiver, fallback.name)
		note(delivery, why.code)
		if (known) return []
		const { pending = 0, parked = 0 } = (await counts(delivery.receiver)) ?? {}
		return await notice(delivery, { state: 'parked', count: Math.max(1, pending + parked) }, why, fallback)
	}

	async function deadLetterPosts(delivery: Delivery, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		const { receiver } = delivery
		const instead = alertsOf(delivery).flatMap((alert) => forwarded(alert, fallback, clock()))
		const lastMs = refusedAtMs.get(receiver)
		const isRecent = lastMs !== undefined && clock() - lastMs < refusalsEveryMs
		if (isRecent && undelivered.isOpen(receiver, fallback.name)) return instead
		refusedAtMs.set(receiver, clock())
		const dead = (await counts(receiver))?.dead ?? 0
		return [...(await notice(delivery, { state: 'dead', count: dead + 1 }, why, fallback)), ...instead]
	}

	async function notice(
		delivery: Delivery,
		{ state, count }: Pick<UndeliveredData, 'state' | 'count'>,
		{ code, error: reason }: Why,
		fallback: Receiver,
	): Promise<readonly Delivery[]> {
		const nowMs = clock()
		const { receiver, recipient } = delivery
		await undelivered.begin(receiver, fallback.name)
		const seed = [delivery.id, state, code]
		const since = new Date(nowMs).toISOString()
		// Made from the delivery and not from the time, so that a repetition after a kill has the same id.
		const id = `undelivered:${sha256(JSON.stringify(seed)).slice(0, 16)}`
		const data: UndeliveredData = { id, receiver, recipient, state, count, reason, since }
		return fallbackDeliveries(fallback, { seed, nowMs }, (deliveryId) => ({
			type: 'system.undelivered',
			timestamp: since,
			data: { ...data, deliveryId },
		}))
	}

	return {
		async look() {
			await outages.look()
			await undelivered.look()
		},
		nextLookMs: () => Math.min(outages.nextLookMs(), undelivered.nextLookMs()),
		learn: learnOpen,
		async postsFor(delivery, resolution) {
			const isOfQuarantined = resolution.result === 'retry' && resolution.code === quarantineCode
			if (!isOfQuarantined) outages.note(delivery, resolution)
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

/** A message that a fallback receives as a fallback. */
function isWord({ data }: Message): boolean {
	if (isDigest(data)) return data.alerts.every((alert) => alert.data.insteadOf !== undefined)
	return isUndelivered(data) || data.insteadOf !== undefined
}

/** The alerts of a digest, each alone: the fallback may take no digests, or only smaller ones. */
function alertsOf(delivery: Delivery): readonly Delivery[] {
	if (!isDigest(delivery.message.data)) return [delivery]
	return splitDigest(delivery, delivery.nextAttemptAtMs).filter(({ message }) => !isWord(message))
}

/** The message itself, once for each recipient of the fallback. */
function forwarded(delivery: Delivery, fallback: Receiver, nowMs: number): readonly Delivery[] {
	const { id, receiver, message, answers } = delivery
	const answered = answers === null ? null : [answers, 'instead']
	return fallbackDeliveries(fallback, { seed: [id, 'instead'], answered, nowMs }, (deliveryId) => ({
		...message,
		data: { ...message.data, deliveryId, insteadOf: receiver },
	}))
}
