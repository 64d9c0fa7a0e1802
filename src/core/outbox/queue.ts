/** A queue: the deliveries of one receiver and recipient, sent in order. */
import type { Addressee, Delivery } from '../../model/delivery.js'

/** Unique for each queue. PostgreSQL stores it, so it must never change. */
export function queueOf({ receiver, recipient }: Addressee): string {
	return JSON.stringify([receiver, recipient])
}

/** `hook`, or for a mailbox `ops-mail (ops@example.org)`. */
export function addresseeInWords({ receiver, recipient }: Addressee): string {
	return recipient === null ? receiver : `${receiver} (${recipient})`
}

/** By name; the queues are in the order of their first deliveries. */
export function byQueue(deliveries: Iterable<Delivery>): ReadonlyMap<string, readonly Delivery[]> {
	const queues = new Map<string, Delivery[]>()
	for (const delivery of deliveries) {
		const name = queueOf(delivery)
		const queue = queues.get(name)
		if (queue === undefined) queues.set(name, [delivery])
		else queue.push(delivery)
	}
	return queues
}
