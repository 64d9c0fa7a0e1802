/**
 * Notifies the fallback of a receiver, once, that every attempt has failed for 5 minutes, and how many deliveries wait.
 * An outage is recorded in the state when it starts, so that a restart does not start the count again. It is marked as
 * announced after its message was posted: a kill between the two posts the message again under the same id.
 * `undelivered.ts` ends the outage.
 */

import { sha256 } from '../../../base/sha256.js'
import { queueOf } from '../../../core/outbox/queue.js'
import { failedAttempts } from '../../../core/outbox/waiting.js'
import type { UndeliveredData } from '../../../model/alert.js'
import type { Delivery, Resolution } from '../../../model/delivery.js'
import type { Clock } from '../../../model/glossary.js'
import type { Receiver } from '../../../model/ports.js'
import type { UndeliveredTrouble } from '../../../model/trouble.js'
import { fallbackDeliveries } from './fallbackDeliveries.js'
import { isOfReceiver, isSame, type UndeliveredOptions } from './undelivered.js'

export interface Outages {
	/** Records the result of an attempt. */
	note(delivery: Delivery, resolution: Resolution): void
	/**
	 * Records new outages, and announces those that have lasted long enough. Never rejects: the next look tries again.
	 */
	look(): Promise<void>
	/** Time of the next look; infinite while no receiver fails. */
	nextLookMs(): number
}

export interface OutageOptions extends UndeliveredOptions {
	/** A monotonic clock. */
	readonly steady: Clock
	/** The fallback of a receiver; null: none. */
	readonly fallbackOf: (receiver: string) => Receiver | null
}

/** The fallback is notified after a receiver has failed for this long. */
export const outageMs = 5 * 60_000
/** Or after this many attempts of one delivery, if that is sooner. */
export const outageAttempts = 20

const lookEveryMs = 5_000
/** After a start, a receiver has this long to answer before an outage of an earlier run is announced. */
const graceMs = 60_000

interface Failing {
	readonly delivery: Delivery
	readonly sinceMs: number
	readonly sinceSteadyMs: number
	readonly attempts: number
	readonly error: string
}

export function createOutages(options: OutageOptions): Outages {
	const { store, troubles, clock, steady, log, receiverCalled, fallbackOf } = options
	/** By queue, since this process started. */
	const failing = new Map<string, Failing>()
	const startedSteadyMs = steady()
	let lookedAtSteadyMs = Number.NEGATIVE_INFINITY

	const open = () =>
		troubles?.current().open.flatMap((each) => (isOfReceiver(each) && each.outage !== undefined ? each : [])) ?? []
	const outageOf = (name: string) => open().find(({ receiver }) => receiver === name)

	async function begin({ delivery, sinceMs }: Failing, fallback: Receiver): Promise<void> {
		const { receiver, recipient } = delivery
		if (outageOf(receiver) !== undefined) return
		const outage: UndeliveredTrouble = {
			...{ kind: 'undelivered', receiver, sinceMs, receivers: [fallback.name] },
			outage: { recipient, announced: false },
		}
		await troubles?.change((before) => {
			// Another instance may have recorded the outage already.
			const isKnown = before.open.some(
				(each) => isOfReceiver(each) && each.outage !== undefined && each.receiver === receiver,
			)
			return isKnown ? before : { ...before, open: [...before.open, outage] }
		})
	}

	/** Last error of an outage that has lasted long enough; null: it is too short, or may be over. */
	async function lastErrorOf(trouble: UndeliveredTrouble): Promise<string | null> {
		const { receiver, sinceMs, outage } = trouble
		const ours = [...failing.values()].filter(({ delivery }) => delivery.receiver === receiver)
		for (const one of ours) {
			const isOfThisRun = sinceMs === one.sinceMs
			const lastedMs = isOfThisRun ? steady() - one.sinceSteadyMs : clock() - sinceMs
			if (lastedMs >= outageMs || one.attempts >= outageAttempts) return one.error
		}
		const isCarried = ours.length === 0 && steady() - startedSteadyMs >= graceMs && clock() - sinceMs >= outageMs
		if (!isCarried || outage === undefined) return null
		const pending = await store.deliveries('pending', { receiver, recipient: outage.recipient })
		return pending.find((delivery) => failedAttempts(delivery) > 0)?.lastError ?? null
	}

	async function notify(trouble: UndeliveredTrouble, reason: string): Promise<void> {
		const { receiver, sinceMs, receivers, outage } = trouble
		const { pending = 0, held = 0, aside = 0 } = (await store.summary()).receivers.get(receiver) ?? {}
		const count = pending + held - aside
		if (count === 0 || outage === undefined) return
		const id = `failing:${sha256(JSON.stringify([receiver, sinceMs])).slice(0, 16)}`
		const since = new Date(sinceMs).toISOString()
		const data: UndeliveredData = {
			...{ id, receiver, recipient: outage.recipient, state: 'failing', count, reason, since },
		}
		const nowMs = clock()
		const posts = receivers.flatMap((name) => {
			const fallback = receiverCalled(name)
			if (fallback === null) return []
			return fallbackDeliveries(fallback, { seed: [id], nowMs }, (deliveryId) => ({
				type: 'system.undelivered',
				timestamp: new Date(nowMs).toISOString(),
				data: { ...data, deliveryId },
			}))
		})
		if (posts.length > 0) await store.post(posts)
		await troubles?.change((before) => ({
			...before,
			open: before.open.map((each) =>
				isOfReceiver(each) && isSame(each, trouble) ? { ...each, outage: { ...outage, announced: true } } : each,
			),
		}))
		log.error({ receiver, fallbacks: receivers, since, waiting: count, reason }, 'a receiver has failed for minutes')
	}

	return {
		note(delivery, resolution) {
			const queue = queueOf(delivery)
			if (resolution.result === 'wait') return
			const isFailure =
				(resolution.result === 'retry' && resolution.refused === undefined) ||
				(resolution.result === 'dead' && resolution.code === 'expired')
			if (!isFailure) {
				failing.delete(queue)
				return
			}
			const known = failing.get(queue)
			failing.set(queue, {
				delivery,
				sinceMs: known?.sinceMs ?? clock(),
				sinceSteadyMs: known?.sinceSteadyMs ?? steady(),
				attempts: Math.max(known?.attempts ?? 0, delivery.attempts + 1),
				error: resolution.error,
			})
		},
		async look() {
			if (troubles === undefined || failing.size + open().length === 0) return
			if (steady() - lookedAtSteadyMs < lookEveryMs) return
			lookedAtSteadyMs = steady()
			try {
				const { receivers } = await store.summary()
				for (const [queue, one] of failing) {
					const { receiver } = one.delivery
					const fallback = fallbackOf(receiver)
					if (receivers.get(receiver)?.failedAttempts !== undefined) {
						if (fallback !== null) await begin(one, fallback)
					} else if (steady() - one.sinceSteadyMs >= lookEveryMs) {
						// The operator dropped the delivery. A recent failure may not be in the state yet, hence the delay.
						failing.delete(queue)
					}
				}
				for (const trouble of open()) {
					if (trouble.outage?.announced === true) continue
					const reason = await lastErrorOf(trouble)
					if (reason !== null) await notify(trouble, reason)
				}
			} catch (error) {
				log.debug({ err: error }, 'the fallback of a failing receiver cannot be notified; trying again')
			}
		},
		nextLookMs: () =>
			troubles === undefined || failing.size + open().length === 0 ? Number.POSITIVE_INFINITY : clock() + lookEveryMs,
	}
}
