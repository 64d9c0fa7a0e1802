/** What a fallback is sent, once for each of its recipients, under ids that follow from what it is about. */

import { sha256 } from '../../base/sha256.js'
import { freshDelivery } from '../../core/deliveries.js'
import type { Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'

/** `seed` and `answered` name the message, and the one that it answers; null: none. */
export function toEach(
	{ name, recipients }: Receiver,
	seed: readonly string[],
	nowMs: number,
	answered: readonly string[] | null,
	messageOf: (deliveryId: string) => Message,
): readonly Delivery[] {
	return (recipients ?? [null]).map((recipient) => {
		const idOf = (parts: readonly string[]) => `msg_${sha256(JSON.stringify([...parts, name, recipient])).slice(0, 32)}`
		const id = idOf(seed)
		const answers = answered === null ? null : idOf(answered)
		return freshDelivery(id, name, recipient, messageOf(id), nowMs, answers)
	})
}
