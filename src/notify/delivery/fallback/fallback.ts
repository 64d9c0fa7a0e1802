/**
 * The room notifies the fallback of a receiver that accepts nothing or refuses a message for good. The notice is posted
 * in the write that records the refusal: once per reason, plus each refused alert. Messages to a fallback are not
 * passed on to its own fallback.
 */

import { sha256 } from '../../../base/sha256.js'
import { isUndelivered } from '../../../core/outbox/messageKinds.js'
import { ALONE } from '../../../core/outbox/waiting.js'
import type { Message, UndeliveredData } from '../../../model/alert.js'
import type { Delivery, ReasonCode, Resolution } from '../../../model/delivery.js'
import type { Receiver, Store } from '../../../model/ports.js'
import type { ReceiverSummary } from '../../../model/state.js'
import { fallbackDeliveries } from './fallbackDeliveries.js'
import { createOutages, type OutageOptions } from './outage.js'
import { createUndelivered, type Undelivered, type UndeliveredOptions } from './undelivered.js'

export interface Fallbacks extends Pick<Undelivered, 'look' | 'nextLookMs'> {
	/** Deliveries to post in the same write as this resolution of what was sent in one message. */
	postsFor(sent: readonly Delivery[], resolution: Resolution): Promise<readonly Delivery[]>
}

export interface FallbackOptions extends UndeliveredOptions, OutageOptions {
	readonly store: Store
}

/** What was sent in one message. */
type Sent = readonly [Delivery, ...Delivery[]]
type Why = { readonly code: ReasonCode; readonly error: string }

/** Refusals of single messages by one receiver are announced at most this often. */
const refusalsEveryMs = 3_600_000

export function createFallbacks(options: FallbackOptions): Fallbacks {
	const { store, clock, fallbackOf } = options
	const undelivered = createUndelivered(options)
	const outages = createOutages(options)
	/** Receivers whose fallback was notified by this process. */
	const noticed = new Set<string>()
	const refusedAtMs = new Map<string, number>()

	async function counts(receiver: string): Promise<ReceiverSummary | undefined> {
		return (await store.summary().catch(() => null))?.receivers.get(receiver)
	}

	/**
	 * Each refused message is also sent to the fallback: once, in the write that first marks it as refused. A fallback
	 * that was not notified yet gets all that waits.
	 */
	async function refusalPosts(sent: Sent, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		const [first] = sent
		const { receiver } = first
		const { pending = 0, parked = 0, dead = 0, refused = 0 } = (await counts(receiver)) ?? {}
		// A trouble that was recorded just before a kill has no notice yet, and nothing that is marked as refused.
		const isNoticed = noticed.has(receiver) || parked + dead + refused > 0
		if (isNoticed && undelivered.isOpen(receiver, fallback.name)) return first.refused ? [] : insteadOf(sent, fallback)
		noticed.add(receiver)
		const waiting = (await store.deliveries()).filter(
			(one) => one.receiver === receiver && one.status !== 'dead' && one.refused !== undefined,
		)
		const report = await notice(first, { state: 'parked', count: Math.max(1, pending + parked) }, why, fallback)
		const own = new Set(sent.map(({ id }) => id))
		return [...report, ...insteadOf([...waiting.filter(({ id }) => !own.has(id)), ...sent], fallback)]
	}

	function insteadOf(sent: readonly Delivery[], fallback: Receiver): readonly Delivery[] {
		return sent.flatMap((one) => (isWord(one.message) ? [] : forwarded(one, fallback, clock())))
	}

	async function deadLetterPosts(sent: Sent, why: Why, fallback: Receiver): Promise<readonly Delivery[]> {
		const [first] = sent
		const { receiver } = first
		const instead = first.refused === undefined ? insteadOf(sent, fallback) : []
		const lastMs = refusedAtMs.get(receiver)
		const isRecent = lastMs !== undefined && clock() - lastMs < refusalsEveryMs
		if (isRecent && undelivered.isOpen(receiver, fallback.name)) return instead
		refusedAtMs.set(receiver, clock())
		const dead = (await counts(receiver))?.dead ?? 0
		return [...(await notice(first, { state: 'dead', count: dead + sent.length }, why, fallback)), ...instead]
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
		async postsFor([first, ...rest], resolution) {
			if (first === undefined) return []
			const isOwn = resolution.result === 'retry' && resolution.code === ALONE
			if (!isOwn) outages.note(first, resolution)
			const isRefusal = resolution.result === 'retry' && resolution.refused !== undefined
			if (!isRefusal && resolution.result !== 'dead') return []
			const fallback = fallbackOf(first.receiver)
			const sent = [first, ...rest] as const
			if (fallback === null || sent.every(({ message }) => isWord(message))) return []
			return isRefusal
				? await refusalPosts(sent, resolution, fallback)
				: await deadLetterPosts(sent, resolution, fallback)
		},
	}
}

/** A message that a fallback receives as a fallback. */
function isWord({ data }: Message): boolean {
	return isUndelivered(data) || data.insteadOf !== undefined
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
