/** Logs when a queue begins to fail and when it works again, and each message that is given up: not each failure. */
import { isAside } from '../../core/aside.js'
import { queueOf } from '../../core/queue.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Log } from '../../model/ports.js'

export interface QueueLog {
	/** `outcome` as it was written down: a retry given up has become dead. */
	note(delivery: Delivery, outcome: Outcome): void
	/** The receiver fails at this one and took another. */
	setAside(delivery: Delivery, reason: string): void
}

export function createQueueLog(log: Log): QueueLog {
	const states = new Map<string, 'ok' | 'failing' | 'parked'>()
	const factsOf = ({ receiver, recipient, id }: Delivery) => ({
		receiver,
		...(recipient === null ? {} : { recipient }),
		delivery: id,
	})
	return {
		setAside(delivery, reason) {
			log.warn(
				{ ...factsOf(delivery), alert: delivery.message.data.id, reason },
				'a receiver fails at one message and takes others: that one is tried by itself, out of its order',
			)
		},
		note(delivery, outcome) {
			const key = queueOf(delivery)
			const facts = factsOf(delivery)
			const before = states.get(key) ?? 'ok'
			if (outcome.result === 'delivered') {
				states.set(key, 'ok')
				if (isAside(delivery)) log.info(facts, 'a message that was tried by itself is taken')
				if (before !== 'ok') log.info(facts, 'receiver takes messages again')
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
			if (outcome.result === 'retry' && isAside(delivery))
				return log.debug({ ...facts, reason }, 'delivery failed again, by itself')
			const now = outcome.result === 'parked' ? 'parked' : 'failing'
			states.set(key, now)
			if (before === now) return log.debug({ ...facts, reason }, 'delivery failed again')
			if (now === 'failing')
				return log.warn({ ...facts, reason }, 'receiver fails; its deliveries wait and are tried again')
			log.error({ ...facts, reason }, 'receiver takes nothing until somebody fixes it; its deliveries are kept')
		},
	}
}
