/** A queue: the deliveries of one receiver and recipient, which are sent in order. */
import type { Delivery } from '../model/delivery.js'

/** Any two queues have different names. PostgreSQL keeps it, so it never changes. */
export function queueOf({ receiver, recipient }: Pick<Delivery, 'receiver' | 'recipient'>): string {
	return JSON.stringify([receiver, recipient])
}

/** By name, in the order in which each queue comes first. */
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
