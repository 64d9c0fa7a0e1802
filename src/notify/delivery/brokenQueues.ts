/**
 * Queues whose worker threw: a fault of ours, or of the store. Each is left alone for a while, longer from time to
 * time, and logged once, so that a fault neither fills the log nor keeps the processor busy.
 */

import { backoffMs } from '../../base/backoff.js'
import { queueOf } from '../../core/queue.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

export interface BrokenQueues {
	/** Whether this one is to be left alone for now. */
	isResting(delivery: Delivery): boolean
	broke(delivery: Delivery, error: unknown): void
	worked(delivery: Delivery): void
}

const firstRestMs = 1_000
const longestRestMs = 5 * 60_000

export function createBrokenQueues(clock: Clock, log: Log): BrokenQueues {
	const broken = new Map<string, { failures: number; restMs: number; untilMs: number }>()
	return {
		isResting(delivery) {
			const nowMs = clock()
			const found = broken.get(queueOf(delivery))
			// A clock that was set back must not make a short rest a long one.
			return found !== undefined && nowMs < found.untilMs && nowMs >= found.untilMs - found.restMs
		},
		broke(delivery, error) {
			const known = broken.get(queueOf(delivery))
			const failures = (known?.failures ?? 0) + 1
			const restMs = backoffMs(failures, firstRestMs, longestRestMs)
			broken.set(queueOf(delivery), { failures, restMs, untilMs: clock() + restMs })
			const facts = { err: error, receiver: delivery.receiver, delivery: delivery.id, restMs }
			if (known === undefined)
				log.error(facts, 'a queue of deliveries broke off; it is tried again, at longer and longer intervals')
			else log.debug(facts, 'a queue of deliveries broke off again')
		},
		worked(delivery) {
			if (broken.delete(queueOf(delivery)))
				log.info({ receiver: delivery.receiver }, 'a queue of deliveries that broke off goes on')
		},
	}
}
