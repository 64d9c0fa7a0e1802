/** Logs when a queue starts to fail, when it works again, and each message that is given up; not each failure. */
import { isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Log } from '../../model/ports.js'
import type { QueueState } from './queueStates.js'

const factsOf = ({ receiver, recipient, id }: Delivery) => ({
	receiver,
	...(recipient === null ? {} : { recipient }),
	delivery: id,
})

/** The receiver failed at this message and accepted another. */
export function logAlone(log: Log, delivery: Delivery, reason: string): void {
	log.warn(
		{ ...factsOf(delivery), alert: delivery.message.data.id, reason },
		'a receiver refuses one message and accepts others: that one is retried separately, out of order',
	)
}

/** `outcome` as recorded: an expired retry is already `dead`. */
export function logResult(log: Log, queue: QueueState, delivery: Delivery, outcome: Outcome): void {
	const facts = factsOf(delivery)
	const before = queue.logged
	if (outcome.result === 'delivered') {
		queue.logged = 'ok'
		if (isAlone(delivery)) log.info(facts, 'the receiver accepted a message that was retried separately')
		if (before !== 'ok') log.info(facts, 'the receiver accepts messages again')
		return
	}
	const failed = { ...facts, reason: outcome.reason }
	const alert = delivery.message.data.id
	if (outcome.result === 'dead') log.error({ ...failed, alert }, 'delivery given up; see "tracewatch deliveries"')
	else if (isAlone(delivery)) log.debug(failed, 'a delivery that is retried separately failed again')
	else {
		queue.logged = outcome.result === 'parked' ? 'parked' : 'failing'
		if (before === queue.logged) log.debug(failed, 'delivery failed again')
		else if (queue.logged === 'failing') log.warn(failed, 'the receiver fails; its deliveries wait and are retried')
		else log.error(failed, 'the receiver refuses messages; they wait, and are tried again')
	}
}
