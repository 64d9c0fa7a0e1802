/** Logs when a queue starts to fail, when it works again, and each message that is given up; not each failure. */
import { ALONE, isAlone } from '../../core/outbox/waiting.js'
import type { Delivery, Outcome, Resolution } from '../../model/delivery.js'
import type { Log } from '../../model/ports.js'
import type { Queue } from './queueMemory.js'

interface Attempted {
	readonly sent: Delivery
	readonly resolution: Resolution
	/** As recorded: an expired retry is already `dead`. */
	readonly outcome: Outcome
}

/** `before`: the state of which it spoke last. Returns the one of which it has spoken now. */
export function logResult(
	log: Log,
	before: Queue['logged'],
	{ sent, resolution, outcome }: Attempted,
): Queue['logged'] {
	const { receiver, recipient, id, message } = sent
	const facts = { receiver, ...(recipient === null ? {} : { recipient }), delivery: id }
	if (outcome.result === 'delivered') {
		if (before !== 'ok') log.info(facts, 'the receiver accepts messages again')
		return 'ok'
	}
	const failed = { ...facts, alert: message.data.id, reason: outcome.reason }
	if (outcome.result === 'dead') {
		log.error(failed, 'delivery given up; see "tracewatch deliveries"')
		return before
	}
	const isAloneNow = outcome.result === 'retry' && 'code' in resolution && resolution.code === ALONE
	const isOwn = isAloneNow || isAlone(sent)
	const failing = outcome.result === 'parked' ? 'parked' : 'failing'
	const now = isOwn ? before : failing
	if (isOwn && !isAlone(sent))
		log.warn(failed, 'a receiver refuses one message and accepts others: that one is retried separately, out of order')
	else if (before === now) log.debug(failed, 'delivery failed again')
	else if (now === 'failing') log.warn(failed, 'the receiver fails; its deliveries wait and are retried')
	else log.error(failed, 'the receiver refuses messages; they wait, and are tried again')
	return now
}
