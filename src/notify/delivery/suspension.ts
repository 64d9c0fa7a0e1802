/**
 * A receiver that refuses everything rests: its deliveries are `parked`, and after each rest one of them is tried. The
 * state holds the rest (the latest `nextAttemptAtMs` of the parked deliveries), so that it survives a restart. An
 * accepted message frees all of them.
 */

import { subjectsOf } from '../../core/outbox/quarantine.js'
import { queueOf } from '../../core/outbox/queue.js'
import { isRefused, LONGEST_REST_MS } from '../../core/outbox/refusals.js'
import { inSendingOrder } from '../../core/outbox/urgency.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Store } from '../../model/ports.js'
import { isOfAll } from './refusalSampling.js'

export interface Suspension {
	/** Finds receivers that rest since an earlier run. */
	learn(): Promise<void>
	/** A delivery was parked until then. */
	parked(delivery: Delivery, untilMs: number): void
	/** The parked deliveries that rest together with this one; empty: its receiver does not rest. */
	resting(delivery: Delivery): Promise<readonly Delivery[]>
	/** A message was accepted: `others` and all that rest with it become due. Resolves to whether any did. */
	taken(delivery: Delivery, others: readonly string[]): Promise<boolean>
	/**
	 * Makes one delivery due of each receiver whose rest is over. `now`: the operator may have corrected something, so
	 * one of each that rests, and all that are refused alone.
	 */
	probe(now?: boolean): Promise<void>
	/** Time of the next probe; infinite while no delivery is known to be parked. */
	nextProbeMs(): number
}

/** `clock` gives the time from which deliveries become due. */
export function createSuspension(store: Store, clock: Clock): Suspension {
	/** Receivers with parked deliveries; it saves reading the deliveries on each call. */
	const receivers = new Set<string>()
	/** By group: before then nothing else of it is tried, even if the probe ended without an answer. */
	const probedUntilMs = new Map<string, number>()
	let nextMs = Number.POSITIVE_INFINITY

	async function groups(): Promise<ReadonlyMap<string, readonly Delivery[]>> {
		const all = await store.deliveries('parked')
		const wholly = new Set(all.filter(isOfAll).map(({ receiver }) => receiver))
		const found = new Map<string, Delivery[]>()
		for (const delivery of all) {
			const name = wholly.has(delivery.receiver) ? delivery.receiver : queueOf(delivery)
			const group = found.get(name)
			if (group === undefined) found.set(name, [delivery])
			else group.push(delivery)
		}
		return found
	}

	async function resting(delivery: Delivery): Promise<readonly Delivery[]> {
		if (!receivers.has(delivery.receiver)) return []
		const all = await groups()
		return all.get(delivery.receiver) ?? all.get(queueOf(delivery)) ?? []
	}

	return {
		async learn() {
			for (const { receiver } of await store.deliveries('parked')) receivers.add(receiver)
			nextMs = receivers.size === 0 ? Number.POSITIVE_INFINITY : clock()
		},
		parked({ receiver }, untilMs) {
			receivers.add(receiver)
			nextMs = Math.min(nextMs, untilMs)
		},
		resting,
		async taken(delivery, others) {
			const freed = [...others, ...(await resting(delivery)).map(({ id }) => id)]
			if (freed.length > 0) await store.retry(freed, clock())
			return freed.length > 0
		},
		async probe(now = false) {
			const nowMs = clock()
			// A time this far ahead is impossible: the clock was set back.
			const isAhead = (atMs: number) => atMs > nowMs && atMs <= nowMs + LONGEST_REST_MS
			if (!now && (nextMs === Number.POSITIVE_INFINITY || isAhead(nextMs))) return
			const due: string[] = []
			nextMs = Number.POSITIVE_INFINITY
			receivers.clear()
			for (const [name, group] of await groups()) {
				const restMs = Math.max(probedUntilMs.get(name) ?? 0, ...group.map(({ nextAttemptAtMs }) => nextAttemptAtMs))
				for (const { receiver } of group) receivers.add(receiver)
				if (now || !isAhead(restMs)) {
					due.push(probeOf(group).id)
					probedUntilMs.set(name, nowMs + AFTER_PROBE_MS)
				}
				nextMs = Math.min(nextMs, isAhead(restMs) && !now ? restMs : nowMs + AFTER_PROBE_MS)
			}
			if (now) due.push(...(await store.deliveries('pending')).flatMap((one) => (isRefused(one) ? one.id : [])))
			if (due.length > 0) await store.retry(due, nowMs)
		},
		nextProbeMs: () => nextMs,
	}
}

/** Shortest time between two probes. */
const AFTER_PROBE_MS = 60_000

/**
 * One of those that were tried least, since some messages may be the reason: the first and the last in sending order,
 * in turn. Never one that would overtake another about the same subject.
 */
function probeOf(group: readonly Delivery[]): Delivery {
	const subjects = new Set<string>()
	const ready = inSendingOrder(group).filter((delivery) => {
		const own = subjectsOf(delivery.message).map((subject) => `${queueOf(delivery)} ${subject}`)
		const isFirst = !own.some((subject) => subjects.has(subject))
		for (const subject of own) subjects.add(subject)
		return isFirst
	})
	const takesFirst = group.reduce((sum, { attempts }) => sum + attempts, 0) % 2 === 1
	return ready.reduce((least, one) =>
		one.attempts < least.attempts || (!takesFirst && one.attempts === least.attempts) ? one : least,
	)
}
