/**
 * The room holds deliveries back: alerts above the rate of a digest rule, and messages during a silence. They stay in
 * the state as `held`, in their place, and are released as digests, so that a restart loses nothing.
 */

import { sha256 } from '../../../base/sha256.js'
import { digested, digestOf } from '../../../core/outbox/digest.js'
import { isAlert } from '../../../core/outbox/messageKinds.js'
import { byQueue } from '../../../core/outbox/queue.js'
import { silentUntil } from '../../../core/outbox/silence.js'
import { isImitation, urgencyOf } from '../../../core/outbox/urgency.js'
import type { AlertData } from '../../../model/alert.js'
import type { Delivery, HeldBy, Resolution } from '../../../model/delivery.js'
import type { Clock } from '../../../model/glossary.js'
import type { Receiver, Store } from '../../../model/ports.js'
import type { Silence } from '../../../model/watch.js'
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
	/** Looks at the next opportunity, because the rules have changed. */
	reconsider(): void
}

export interface DeferralRules {
	/** Alerts above `max` within `everyMs` are sent as digests; null: each is sent alone. */
	readonly digest: DigestRate | null
	readonly silences: readonly Silence[]
}

export interface DeferralOptions {
	readonly store: Store
	readonly clock: Clock
	/** Null when the receiver or the recipient is no longer configured. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	readonly rulesOf: (receiver: string) => DeferralRules | null
	/** Silences of the watch that an alert belongs to. */
	readonly silencesOf: (alert: AlertData) => readonly Silence[]
}

interface Silences {
	/** Silences of the receiver. */
	readonly own: readonly Silence[]
	/** Silences of the watch that an alert belongs to. */
	readonly watch: readonly Silence[]
}

const none: readonly Silence[] = []

/** Another instance may have held deliveries and ended. */
const lookEveryMs = 60_000
/** Longest wait that a receiver can ask for. */
const longestWaitMs = 3_600_000
/** Limit of the stored time for a silence without end; each look computes it again. */
const longestDeferralMs = 366 * 24 * 3_600_000

export function createDeferrals({ store, clock, receiverOf, rulesOf, silencesOf }: DeferralOptions): Deferrals {
	const window = createRateWindow()
	const waitUntilMs = new Map<string, number>()
	let lookAtMs = 0
	let anyDeferred = false

	/** System messages are held only by the silences of their receiver; tests are never held. */
	function silencesFor({ receiver, message }: Delivery): Silences {
		if (message.type === 'test' || message.data.test === true) return { own: none, watch: none }
		const alert = digested(message)
		return { own: rulesOf(receiver)?.silences ?? none, watch: alert === null ? none : silencesOf(alert.data) }
	}

	/** For one point in time; the result for each pair of silence lists is cached. */
	function silentAt(nowMs: number): (delivery: Delivery) => number | null {
		const known = new Map<readonly Silence[], Map<readonly Silence[], number | null>>()
		return (delivery) => {
			const { own, watch } = silencesFor(delivery)
			const byWatch = known.get(own) ?? new Map<readonly Silence[], number | null>()
			known.set(own, byWatch)
			const found = byWatch.get(watch)
			if (found !== undefined) return found
			const untilMs = silentUntil([...own, ...watch], nowMs)
			byWatch.set(watch, untilMs)
			return untilMs
		}
	}

	function rateOf(delivery: Delivery): DigestRate | null {
		return receiverOf(delivery)?.takesDigest === undefined ? null : (rulesOf(delivery.receiver)?.digest ?? null)
	}

	async function judge(queue: readonly Delivery[]): Promise<Judge> {
		const [first] = queue
		const rate = first === undefined ? null : rateOf(first)
		const applies = anyDeferred || rate !== null || queue.some(mayBeSilenced)
		if (first === undefined || !applies) return () => null
		// No other worker adds held deliveries while this one holds the claim on the queue.
		const deferred = [...(await store.deliveries('held', first))]
		return (delivery) => {
			if (delivery.alone) return null
			const nowMs = clock()
			const reason = silenced(delivery, nowMs) ?? behind(delivery, rate, deferred) ?? overLimit(delivery, rate, nowMs)
			if (reason === null) return null
			deferred.push({ ...delivery, heldBy: reason.by, nextAttemptAtMs: reason.untilMs })
			anyDeferred = true
			lookAtMs = Math.min(lookAtMs, reason.untilMs)
			return { id: delivery.id, result: 'held', ...reason }
		}
	}

	function mayBeSilenced(delivery: Delivery): boolean {
		const { own, watch } = silencesFor(delivery)
		return own.length + watch.length > 0
	}

	function silenced(delivery: Delivery, nowMs: number): Reason | null {
		const untilMs = silentAt(nowMs)(delivery)
		return untilMs === null ? null : { by: 'silence', untilMs: Math.min(untilMs, nowMs + longestDeferralMs) }
	}

	function overLimit(delivery: Delivery, rate: DigestRate | null, nowMs: number): Reason | null {
		if (rate === null || !mayDigest(delivery, rate)) return null
		const untilMs = window.fullUntilMs(delivery, rate, nowMs)
		return untilMs === null ? null : { by: 'digest', untilMs }
	}

	/** When a delivery is released. Silences of the present settings count, not those from when it was held. */
	function dueMs(delivery: Delivery, nowMs: number, silentUntilMs: (delivery: Delivery) => number | null): number {
		const untilMs = silentUntilMs(delivery)
		if (untilMs !== null) return untilMs
		const rate = rateOf(delivery)
		if (delivery.heldBy !== 'digest' || rate === null || !mayDigest(delivery, rate)) return nowMs
		// Longer than the rate can hold it: the clock was set back, or `everyMs` was shortened.
		return delivery.nextAttemptAtMs > nowMs + rate.everyMs ? nowMs : delivery.nextAttemptAtMs
	}

	async function letGoOf(due: readonly Delivery[], receiver: Receiver, nowMs: number): Promise<void> {
		const dueAtMs = Math.max(nowMs, Math.min(waitUntilMs.get(receiver.name) ?? 0, nowMs + longestWaitMs))
		const others = due.filter(({ message }) => digested(message) === null)
		const alerts = due.filter(({ message }) => digested(message) !== null)
		const chunks = chunksOf(alerts, receiver, nowMs)
		const single = [...others, ...chunks.flatMap((chunk) => (chunk.length === 1 ? chunk : []))]
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
			const counts = delivery.message.type === 'alert.digest' || (rate !== null && mayDigest(delivery, rate))
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
			const silentUntilMs = silentAt(nowMs)
			for (const queue of byQueue(deferred).values()) {
				const [first] = queue
				const receiver = first === undefined ? null : receiverOf(first)
				// Kept until the receiver is configured again.
				if (receiver === null) continue
				const due: Delivery[] = []
				for (const delivery of queue) {
					const atMs = dueMs(delivery, nowMs, silentUntilMs)
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

interface Reason {
	readonly by: HeldBy
	readonly untilMs: number
}

/**
 * Whether a digest rule may hold it. Alarms are always sent at once; so are outgoing movements, unless the rule has
 * `outgoing`.
 */
function mayDigest({ message }: Delivery, { outgoing = false }: DigestRate): boolean {
	const urgency = urgencyOf(message)
	if (digested(message) === null || urgency === 'alarm') return false
	if (urgency === 'outgoing') return outgoing
	return urgency === 'ordinary' || (outgoing && isAlert(message.data) && !isImitation(message.data))
}

/**
 * The held delivery that this one must not overtake, as a reason to hold it too: one about the same event; any alert
 * that a digest rule holds, if the rule may hold this one; in a silence, alerts of the same watchlist.
 */
function behind(delivery: Delivery, rate: DigestRate | null, deferred: readonly Delivery[]): Reason | null {
	const alert = digested(delivery.message)
	if (alert === null) return null
	const waitsForAll = rate === null || mayDigest(delivery, rate)
	const before = deferred.find((other) => {
		if (other.heldBy === 'digest' && waitsForAll) return true
		const held = digested(other.message)?.data
		if (held?.id === alert.data.id) return true
		return (waitsForAll || other.heldBy === 'silence') && held?.watch.watchlist === alert.data.watch.watchlist
	})
	return before?.heldBy === undefined ? null : { by: before.heldBy, untilMs: before.nextAttemptAtMs }
}
