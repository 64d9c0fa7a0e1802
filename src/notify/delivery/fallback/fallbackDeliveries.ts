/** Makes the deliveries of a message to a fallback: one for each recipient, with deterministic ids. */

import { sha256 } from '../../../base/sha256.js'
import { freshDelivery } from '../../../core/outbox/posting.js'
import type { Message } from '../../../model/alert.js'
import type { Delivery } from '../../../model/delivery.js'
import type { Receiver } from '../../../model/ports.js'

interface Seeds {
	/** Identifies the message. */
	readonly seed: readonly string[]
	/** The same for the message that it answers. */
	readonly answered?: readonly string[] | null
	readonly nowMs: number
}

export function fallbackDeliveries(
	{ name, recipients }: Receiver,
	{ seed, answered = null, nowMs }: Seeds,
	messageOf: (deliveryId: string) => Message,
): readonly Delivery[] {
	return (recipients ?? [null]).map((recipient) => {
		const idOf = (parts: readonly string[]) => `msg_${sha256(JSON.stringify([...parts, name, recipient])).slice(0, 32)}`
		const id = idOf(seed)
		const answers = answered === null ? null : idOf(answered)
		return freshDelivery({ id, receiver: name, recipient, message: messageOf(id), answers }, nowMs)
	})
}
