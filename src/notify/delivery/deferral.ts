/**
 * What is held back: alerts past the number that a receiver wants one by one, and whatever comes while a silence is in
 * force. It stands in the state as held, in its place, and is let go as digests, so that nothing of it depends on this
 * process.
 */

import { sha256 } from '../../base/sha256.js'
import { digested, digestOf } from '../../core/digest.js'
import { byQueue } from '../../core/queue.js'
import { silentUntil } from '../../core/silence.js'
import type { AlertData } from '../../model/alert.js'
import type { Delivery, HeldBy, Resolution } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Receiver, Store } from '../../model/ports.js'
import type { Silence } from '../../model/watch.js'
import { piecesOf } from './pieces.js'
import { createWindow, type DigestRate } from './window.js'

export type Deferral = Extract<Resolution, { readonly result: 'held' }>
/** Whether to hold a delivery instead of trying it. */
export type Judge = (delivery: Delivery) => Deferral | null

export interface Deferrals {
	/** For the deliveries of one queue, which are asked about in order, each when its turn has come. */
	judge(queue: readonly Delivery[]): Promise<Judge>
	/** A receiver took this. */
	taken(delivery: Delivery): void
	/** A receiver asked to be left alone until then. */
	mustWait(receiver: string, untilMs: number): void
	/** Lets go what was held long enough, if it is time to look; it is due at `nowMs`. */
	letGo(nowMs: number): Promise<void>
	nextLookMs(): number
	/** The rules have changed: looks at the next chance. */
	reconsider(): void
}

export interface DeferralRules {
	/** Past `max` alerts within `everyMs` the rest come as digests; null: each by itself. */
	readonly digest: DigestRate | null
	readonly silences: readonly Silence[]
}

export interface DeferralOptions {
	readonly store: Store
	readonly clock: Clock
	/** Null when it, or the recipient, is configured no more. */
	readonly receiverOf: (delivery: Delivery) => Receiver | null
	readonly rulesOf: (receiver: string) => DeferralRules | null
	/** Of the watch that an alert is sent for. */
	readonly silencesOf: (alert: AlertData) => readonly Silence[]
}

interface Silences {
	/** Of the receiver. */
	readonly own: readonly Silence[]
	/** Of the watch that an alert is sent for. */
	readonly watch: readonly Silence[]
}

const none: readonly Silence[] = []

/** Another instance may have held something, and died. */
const lookEveryMs = 60_000
/** What a receiver asks for is no longer. */
const longestWaitMs = 3_600_000
/** A silence without end has none to be written down either; each look asks anew. */
const longestDeferralMs = 366 * 24 * 3_600_000

export function createDeferrals({ store, clock, receiverOf, rulesOf, silencesOf }: DeferralOptions): Deferrals {
	const window = createWindow()
	const waitUntilMs = new Map<string, number>()
	let lookAtMs = 0
	let anyDeferred = false

	/** System messages are held by the silences of their receiver only, tests by none. */
	function silencesFor({ receiver, message }: Delivery): Silences {
		if (message.type === 'test' || message.data.test === true) return { own: none, watch: none }
		const alert = digested(message)
		return { own: rulesOf(receiver)?.silences ?? none, watch: alert === null ? none : silencesOf(alert.data) }
	}

	/** At one moment; the same silences are asked about once only. */
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
		// Nobody else adds to them while the queue is ours.
		const deferred = [...(await store.deliveries('held', first))]
		return (delivery) => {
			if (delivery.alone) return null
			const nowMs = clock()
			const reason = silenced(delivery, nowMs) ?? behind(delivery, deferred) ?? crowded(delivery, rate, nowMs)
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

	function crowded(delivery: Delivery, rate: DigestRate | null, nowMs: number): Reason | null {
		if (rate === null || digested(delivery.message) === null) return null
		const untilMs = window.fullUntilMs(delivery, rate, nowMs)
		return untilMs === null ? null : { by: 'digest', untilMs }
	}

	/** When it is let go; a silence counts as the settings have it now, not as they had it then. */
	function dueMs(delivery: Delivery, nowMs: number, silentUntilMs: (delivery: Delivery) => number | null): number {
		const untilMs = silentUntilMs(delivery)
		if (untilMs !== null) return untilMs
		const rate = rateOf(delivery)
		if (delivery.heldBy !== 'digest' || rate === null) return nowMs
		// Further ahead than a rate can hold it: the clock was set back, or the rate has become shorter.
		return delivery.nextAttemptAtMs > nowMs + rate.everyMs ? nowMs : delivery.nextAttemptAtMs
	}

	async function letGoOf(due: readonly Delivery[], receiver: Receiver, nowMs: number): Promise<void> {
		const dueAtMs = Math.max(nowMs, Math.min(waitUntilMs.get(receiver.name) ?? 0, nowMs + longestWaitMs))
		const others = due.filter(({ message }) => digested(message) === null)
		const alerts = due.filter(({ message }) => digested(message) !== null)
		const pieces = piecesOf(alerts, receiver, nowMs)
		const single = [...others, ...pieces.flatMap((piece) => (piece.length === 1 ? piece : []))]
		// All at once, so that they share a write.
		const merged = pieces.map(
			(piece) =>
				piece.length === 1 ||
				store.merge(
					piece.map(({ id }) => id),
					{ ...digestOf(piece, nowMs, sha256), nextAttemptAtMs: dueAtMs },
				),
		)
		if (single.length > 0)
			await store.retry(
				single.map(({ id }) => id),
				dueAtMs,
			)
		// Somebody has dropped one, or let it go by hand.
		if ((await Promise.all(merged)).includes(false)) lookAtMs = nowMs
	}

	return {
		judge,
		taken(delivery) {
			const rate = rateOf(delivery)
			const isAlert = delivery.message.type.startsWith('alert.')
			if (rate !== null && isAlert) window.note(delivery, rate, clock())
		},
		mustWait(receiver, untilMs) {
			waitUntilMs.set(receiver, untilMs)
		},
		async letGo(nowMs) {
			// Further ahead than it can be: the clock was set back.
			if (nowMs < lookAtMs && lookAtMs <= nowMs + lookEveryMs) return
			const deferred = await store.deliveries('held')
			anyDeferred = deferred.length > 0
			lookAtMs = nowMs + lookEveryMs
			const silentUntilMs = silentAt(nowMs)
			for (const queue of byQueue(deferred).values()) {
				const [first] = queue
				const receiver = first === undefined ? null : receiverOf(first)
				// Kept for when it comes back.
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
 * Whether something that is held must come first: in a digest all alerts wait for each other, in a silence those of a
 * watchlist.
 */
function behind({ message }: Delivery, deferred: readonly Delivery[]): Reason | null {
	const alert = digested(message)
	if (alert === null) return null
	const before = deferred.find(
		(other) =>
			other.heldBy === 'digest' || digested(other.message)?.data.watch.watchlist === alert.data.watch.watchlist,
	)
	return before?.heldBy === undefined ? null : { by: before.heldBy, untilMs: before.nextAttemptAtMs }
}
