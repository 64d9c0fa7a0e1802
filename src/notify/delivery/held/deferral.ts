/**
 * The room holds deliveries back: alerts above the rate of a digest rule. They stay in the
 * state as `held`, in their place, and are released as digests, so that a restart loses nothing.
 */

import { sha256 } from '../../../base/sha256.js'
import { digested, digestOf } from '../../../core/outbox/digest.js'
import { byQueue } from '../../../core/outbox/queue.js'
import { urgencyOf } from '../../../core/outbox/urgency.js'
import type { Delivery, Resolution } from '../../../model/delivery.js'
import type { Clock } from '../../../model/glossary.js'
import type { Receiver, Store } from '../../../model/ports.js'
import { chunksOf } from './digestChunks.js'
import { createRateWindow, type DigestRate } from './rateWindow.js'

export type Deferral = Extract<Resolution, { readonly result: 'held' }>
/** The resolution that holds a delivery; null: try it. */
export type Judge = (delivery: Delivery) => Deferral | null

export interface Deferrals {
	/** Returns the judge for the deliveries of one queue. Call it for each of them in order, just before its attempt. */
	judge(queue: readonly Delivery[]): Promise<Judge>
	/** Counts a delivery that the receiver accepted. */
	taken(delivery: Delivery): void
	/** The receiver asked for no messages until then. */
	mustWait(receiver: string, untilMs: number): void
	/** Releases deliveries that were held long enough, if a look is due; they are due at `nowMs`. */
	letGo(nowMs: number): Promise<void>
	nextLookMs(): number
	/** Looks at the next opportunity, because the receivers have changed. */
	reconsider(): void
}

export interface DeferralRules {
	/** Alerts above `max` within `everyMs` are sent as digests; null: each is sent alone. */
	readonly digest: DigestRate | null
}

export interface DeferralOptions {
	readonly store: Store
	readonly clock: Clock
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	readonly rulesOf: (receiver: string) => DeferralRules | null
}

/** Another instance may have held deliveries and ended. */
const lookEveryMs = 60_000
/** Longest wait that a receiver can ask for. */
const longestWaitMs = 3_600_000
export function createDeferrals({ store, clock, receiverOf, rulesOf }: DeferralOptions): Deferrals {
	const window = createRateWindow()
	const waitUntilMs = new Map<string, number>()
	let lookAtMs = 0
	let anyDeferred = false

	function rateOf(delivery: Delivery): DigestRate | null {
		return receiverOf(delivery)?.takesDigest === undefined ? null : (rulesOf(delivery.receiver)?.digest ?? null)
	}

	async function judge(queue: readonly Delivery[]): Promise<Judge> {
		const [first] = queue
		const rate = first === undefined ? null : rateOf(first)
		if (first === undefined || (!anyDeferred && rate === null)) return () => null
		// No other worker adds held deliveries while this one holds the claim on the queue.
		const deferred = [...(await store.deliveries('held', first))]
		return (delivery) => {
			if (delivery.alone) return null
			const nowMs = clock()
			const untilMs = behind(delivery, rate, deferred) ?? overLimit(delivery, rate, nowMs)
			if (untilMs === null) return null
			deferred.push({ ...delivery, nextAttemptAtMs: untilMs })
			anyDeferred = true
			lookAtMs = Math.min(lookAtMs, untilMs)
			return { id: delivery.id, result: 'held', by: 'digest', untilMs }
		}
	}

	function overLimit(delivery: Delivery, rate: DigestRate | null, nowMs: number): number | null {
		return rate === null || !mayDigest(delivery) ? null : window.fullUntilMs(delivery, rate, nowMs)
	}

	/** When a delivery is released. */
	function dueMs(delivery: Delivery, nowMs: number): number {
		const rate = rateOf(delivery)
		if (rate === null || !mayDigest(delivery)) return nowMs
		// Longer than the rate can hold it: the clock was set back, or `everyMs` was shortened.
		return delivery.nextAttemptAtMs > nowMs + rate.everyMs ? nowMs : delivery.nextAttemptAtMs
	}

	async function letGoOf(due: readonly Delivery[], receiver: Receiver, nowMs: number): Promise<void> {
		const dueAtMs = Math.max(nowMs, Math.min(waitUntilMs.get(receiver.name) ?? 0, nowMs + longestWaitMs))
		const chunks = chunksOf(due, receiver, nowMs)
		const single = chunks.flatMap((chunk) => (chunk.length === 1 ? chunk : []))
		// Started together, so that they share one write.
		const merged = chunks.map(
			(chunk) =>
				chunk.length === 1 ||
				store.merge(
					chunk.map(({ id }) => id),
					{ ...digestOf(chunk, nowMs, sha256), nextAttemptAtMs: dueAtMs },
				),
		)
		if (single.length > 0)
			await store.retry(
				single.map(({ id }) => id),
				dueAtMs,
			)
		// The operator dropped or released one of them meanwhile.
		if ((await Promise.all(merged)).includes(false)) lookAtMs = nowMs
	}

	return {
		judge,
		taken(delivery) {
			const rate = rateOf(delivery)
			const counts = delivery.message.type === 'alert.digest' || (rate !== null && mayDigest(delivery))
			if (rate !== null && counts) window.note(delivery, rate, clock())
		},
		mustWait(receiver, untilMs) {
			waitUntilMs.set(receiver, untilMs)
		},
		async letGo(nowMs) {
			// A look this far ahead is impossible: the clock was set back.
			if (nowMs < lookAtMs && lookAtMs <= nowMs + lookEveryMs) return
			const deferred = await store.deliveries('held')
			anyDeferred = deferred.length > 0
			lookAtMs = nowMs + lookEveryMs
			for (const queue of byQueue(deferred).values()) {
				const [first] = queue
				const receiver = first === undefined ? null : receiverOf(first)
				// Kept until the receiver is configured again.
				if (receiver === null) continue
				const due: Delivery[] = []
				for (const delivery of queue) {
					const atMs = dueMs(delivery, nowMs)
					if (atMs <= nowMs) due.push(delivery)
					else lookAtMs = Math.min(lookAtMs, atMs)
				}
				await letGoOf(due, receiver, nowMs)
			}
		},
		nextLookMs: () => lookAtMs,
		reconsider() {
			lookAtMs = 0
		},
	}
}

/** Whether a digest rule may hold it. Alarms and outgoing movements are always sent at once. */
function mayDigest({ message }: Delivery): boolean {
	return digested(message) !== null && urgencyOf(message) === 'ordinary'
}

/**
 * Until when a delivery must be held so that it does not overtake a held one: any of them if a digest rule may hold
 * this delivery too, else one about the same event.
 */
function behind(delivery: Delivery, rate: DigestRate | null, deferred: readonly Delivery[]): number | null {
	const alert = digested(delivery.message)
	if (alert === null) return null
	const waitsForAll = rate === null || mayDigest(delivery)
	const before = deferred.find((other) => waitsForAll || digested(other.message)?.data.id === alert.data.id)
	return before?.nextAttemptAtMs ?? null
}
