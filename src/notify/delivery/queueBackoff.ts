/**
 * Backoff for queues whose worker threw, which is a fault of tracewatch or of the store. The wait grows with each
 * failure, so that such a queue does not keep the processor busy; only the first failure is logged as an error.
 */

import { backoffMs } from '../../base/waits/backoff.js'
import { queueOf } from '../../core/outbox/queue.js'
import type { Delivery } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'

export interface QueueBackoff {
	/** Whether the queue of this delivery is in backoff. */
	isWaiting(delivery: Delivery): boolean
	failed(delivery: Delivery, error: unknown): void
	succeeded(delivery: Delivery): void
}

const firstWaitMs = 1_000
const longestWaitMs = 5 * 60_000

export function createQueueBackoff(clock: Clock, log: Log): QueueBackoff {
	const waiting = new Map<string, { failures: number; waitMs: number; untilMs: number }>()
	return {
		isWaiting(delivery) {
			const nowMs = clock()
			const found = waiting.get(queueOf(delivery))
			// Ignores the backoff if the clock was set back, because the wait would be too long.
			return found !== undefined && nowMs < found.untilMs && nowMs >= found.untilMs - found.waitMs
		},
		failed(delivery, error) {
			const known = waiting.get(queueOf(delivery))
			const failures = (known?.failures ?? 0) + 1
			const waitMs = backoffMs(failures, firstWaitMs, longestWaitMs)
			waiting.set(queueOf(delivery), { failures, waitMs, untilMs: clock() + waitMs })
			const facts = { err: error, receiver: delivery.receiver, delivery: delivery.id, waitMs }
			if (known === undefined)
				log.error(facts, 'a queue of deliveries broke off; it is tried again, at longer and longer intervals')
			else log.debug(facts, 'a queue of deliveries broke off again')
		},
		succeeded(delivery) {
			if (waiting.delete(queueOf(delivery)))
				log.info({ receiver: delivery.receiver }, 'a queue of deliveries that broke off continues')
		},
	}
}
