/** Logs when a queue starts to fail, when it works again, and each message that is given up; not each failure. */
import { isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Log } from '../../model/ports.js'
import type { QueueState } from './queueStates.js'

interface Attempted {
	readonly delivery: Delivery
	/** As recorded: an expired retry is already `dead`. */
	readonly outcome: Outcome
	/** The receiver accepts others. */
	readonly isOwn: boolean
}

export function logResult(log: Log, queue: QueueState, { delivery, outcome, isOwn }: Attempted): void {
	const { receiver, recipient, id, message } = delivery
	const facts = { receiver, ...(recipient === null ? {} : { recipient }), delivery: id }
	const before = queue.logged
	if (outcome.result === 'delivered') {
		queue.logged = 'ok'
		if (before !== 'ok') log.info(facts, 'the receiver accepts messages again')
		return
	}
	const failed = { ...facts, alert: message.data.id, reason: outcome.reason }
	if (outcome.result === 'dead') {
		log.error(failed, 'delivery given up; see "tracewatch deliveries"')
		return
	}
	if (!isOwn) queue.logged = outcome.result === 'parked' ? 'parked' : 'failing'
	if (isOwn && !isAlone(delivery))
		log.warn(failed, 'a receiver refuses one message and accepts others: that one is retried separately, out of order')
	else if (isOwn || before === queue.logged) log.debug(failed, 'delivery failed again')
	else if (queue.logged === 'failing') log.warn(failed, 'the receiver fails; its deliveries wait and are retried')
	else log.error(failed, 'the receiver refuses messages; they wait, and are tried again')
}
