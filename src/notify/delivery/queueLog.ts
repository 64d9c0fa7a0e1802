/** Logs when a queue starts to fail, when it works again, and each message that is given up; not each failure. */
import { queueOf } from '../../core/outbox/queue.js'
import { isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Log } from '../../model/ports.js'

export interface QueueLog {
	/** `outcome` as recorded: an expired retry is already `dead`. */
	note(delivery: Delivery, outcome: Outcome): void
	/** The receiver failed at this message and accepted another. */
	failsAlone(delivery: Delivery, reason: string): void
}

export function createQueueLog(log: Log): QueueLog {
	const states = new Map<string, 'ok' | 'failing' | 'parked'>()
	const factsOf = ({ receiver, recipient, id }: Delivery) => ({
		receiver,
		...(recipient === null ? {} : { recipient }),
		delivery: id,
	})
	return {
		failsAlone(delivery, reason) {
			log.warn(
				{ ...factsOf(delivery), alert: delivery.message.data.id, reason },
				'a receiver refuses one message and accepts others: that one is retried separately, out of order',
			)
		},
		note(delivery, outcome) {
			const key = queueOf(delivery)
			const facts = factsOf(delivery)
			const before = states.get(key) ?? 'ok'
			if (outcome.result === 'delivered') {
				states.set(key, 'ok')
				if (isAlone(delivery)) log.info(facts, 'the receiver accepted a message that was retried separately')
				if (before !== 'ok') log.info(facts, 'the receiver accepts messages again')
				return
			}
			const { reason } = outcome
			if (outcome.result === 'dead') {
				log.error(
					{ ...facts, alert: delivery.message.data.id, reason },
					'delivery given up; see "tracewatch deliveries"',
				)
				return
			}
			if (isAlone(delivery))
				return log.debug({ ...facts, reason }, 'a delivery that is retried separately failed again')
			const now = outcome.result === 'parked' ? 'parked' : 'failing'
			states.set(key, now)
			if (before === now) return log.debug({ ...facts, reason }, 'delivery failed again')
			if (now === 'failing')
				return log.warn({ ...facts, reason }, 'the receiver fails; its deliveries wait and are retried')
			log.error({ ...facts, reason }, 'the receiver refuses messages; they wait, and are tried again')
		},
	}
}
