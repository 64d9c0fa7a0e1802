import type { Alert, Message, MessageData, MessageType } from '../model/alert.js'
import type { BlockRef } from '../model/chain.js'
import type { Delivery } from '../model/delivery.js'
import type { Announcement } from '../model/state.js'
import type { Difference } from './compare.js'
import { type Steps, stepItems } from './steps.js'

export interface Posting {
	/** Mail addresses of a receiver that gets one delivery each; null where the receiver is one. */
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	readonly nowMs: number
	/** Hex of a cryptographic hash of the text. */
	readonly digest: (text: string) => string
}

/**
 * Everything that a look has to say, news first, each alert once per receiver and recipient. What is announced anew
 * under the same id comes after its retraction, or whoever keeps alerts by their ids would be left without it.
 */
export function* deliveriesOf(difference: Difference, posting: Posting): Steps<readonly Delivery[]> {
	const deliveries: Delivery[] = []
	let made = 0
	const retracted = new Map(difference.retracted.map((gone) => [gone.id, gone]))
	const retract = (gone: Announcement) => {
		for (const alert of gone.alerts) deliveries.push(...removalsOf(alert, gone, posting))
		retracted.delete(gone.id)
	}
	for (const { alerts, revision } of difference.news) {
		if (++made % stepItems === 0) yield
		for (const alert of alerts) {
			const before = retracted.get(alert.data.id)
			if (before !== undefined) retract(before)
			deliveries.push(...fanOut(alert, alert.type, alert.data.blockHash, revision, posting))
		}
	}
	for (const gone of retracted.values()) {
		if (++made % stepItems === 0) yield
		retract(gone)
	}
	return deliveries
}

/**
 * The id of a delivery: the same for the same alert, block, receiver, recipient and revision, on every run and machine.
 * No full stop in it, as the signature's grammar wants.
 */
export function deliveryId(
	parts: { alertId: string; blockHash: string; receiver: string; recipient: string | null; revision: number },
	digest: Posting['digest'],
): string {
	const text = JSON.stringify([parts.alertId, parts.blockHash, parts.receiver, parts.recipient, parts.revision])
	return `msg_${digest(text).slice(0, 32)}`
}

/** A delivery that has not been tried. */
export function freshDelivery(
	id: string,
	receiver: string,
	recipient: string | null,
	message: Message,
	nowMs: number,
	answers: string | null = null,
): Delivery {
	return {
		id,
		receiver,
		recipient,
		message,
		answers,
		createdAtMs: nowMs,
		status: 'pending',
		attempts: 0,
		nextAttemptAtMs: nowMs,
		lastError: null,
	}
}

function fanOut(
	alert: Alert,
	type: MessageType,
	blockHash: BlockRef['hash'],
	revision: number,
	posting: Posting,
	answered?: number,
): Delivery[] {
	return alert.receivers.flatMap((receiver) =>
		(posting.recipientsOf(receiver) ?? [null]).map((recipient) => {
			const parts = { alertId: alert.data.id, blockHash, receiver, recipient }
			const id = deliveryId({ ...parts, revision }, posting.digest)
			const answers = answered === undefined ? null : deliveryId({ ...parts, revision: answered }, posting.digest)
			const data: MessageData = { ...alert.data, deliveryId: id }
			const timestamp = new Date(posting.nowMs).toISOString()
			return freshDelivery(id, receiver, recipient, { type, timestamp, data }, posting.nowMs, answers)
		}),
	)
}

/** A retraction goes to whom the alert went, under the block in which it was announced, and answers that delivery. */
function removalsOf(alert: Alert, gone: Announcement, posting: Posting): Delivery[] {
	return fanOut(alert, 'alert.removed', alert.data.blockHash, gone.revision, posting, gone.revision - 1)
}
