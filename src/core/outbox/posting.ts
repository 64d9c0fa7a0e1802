/** The room makes deliveries from alerts, and orders them: queues, ranks, digests, how they wait. */

import type { Alert, Message, MessageData, MessageType } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { Announcement } from '../../model/state.js'
import type { Difference } from '../reconcile/reconcile.js'
import { type Steps, stepItems } from '../steps.js'
import { ranks, urgencyOfAlert } from './urgency.js'

export interface Posting {
	/** The mail addresses of a receiver, each with its own delivery; null if the receiver is not split. */
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	readonly nowMs: number
	/** Hex of a cryptographic hash of the text. */
	readonly digest: (text: string) => string
}

/**
 * All deliveries of a look, news first, each alert once per receiver and recipient. A repeated announcement under the
 * same id must follow its retraction, or a receiver that stores alerts by id would lose it: its rank is therefore no
 * better than the retraction's, and later ones get the last rank.
 */
export function* deliveriesOf(difference: Difference, posting: Posting): Steps<readonly Delivery[]> {
	const deliveries: Delivery[] = []
	let made = 0
	const retracted = new Map(difference.retracted.map((gone) => [gone.id, gone]))
	const retract = (gone: Announcement) => {
		for (const alert of gone.alerts) deliveries.push(...removalsOf(alert, gone, posting))
		retracted.delete(gone.id)
	}
	for (const { alerts, revision, before = [], refersTo } of difference.news) {
		if (++made % stepItems === 0) yield
		const rank = revision > 2 ? ranks.ordinary : Math.max(0, ...before.map(({ data }) => ranks[urgencyOfAlert(data)]))
		for (const alert of alerts) {
			const gone = retracted.get(alert.data.id)
			if (gone !== undefined) retract(gone)
			deliveries.push(...fanOut(alert, { type: alert.type, revision, rank, ...answering(refersTo) }, posting))
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
 * It contains no full stop, because the signature's grammar forbids it.
 */
export function deliveryId(
	parts: { alertId: string; blockHash: string; receiver: string; recipient: string | null; revision: number },
	digest: Posting['digest'],
): string {
	const text = JSON.stringify([parts.alertId, parts.blockHash, parts.receiver, parts.recipient, parts.revision])
	return `msg_${digest(text).slice(0, 32)}`
}

/** The id of a message that is no alert: the same for the same parts, receiver and recipient. */
export function copyId(
	parts: readonly (string | number)[],
	{ receiver, recipient }: Pick<Delivery, 'receiver' | 'recipient'>,
	digest: Posting['digest'],
): string {
	return `msg_${digest(JSON.stringify([...parts, receiver, recipient])).slice(0, 32)}`
}

/** A message that is no alert, once for each recipient of a receiver. */
export function copiesOf(
	parts: readonly (string | number)[],
	{ receiver, recipients }: { readonly receiver: string; readonly recipients: readonly string[] | null },
	{ nowMs, digest }: Pick<Posting, 'nowMs' | 'digest'>,
	messageOf: (deliveryId: string) => Message,
): readonly Delivery[] {
	return (recipients ?? [null]).map((recipient) => {
		const id = copyId(parts, { receiver, recipient }, digest)
		return freshDelivery({ id, receiver, recipient, message: messageOf(id) }, nowMs)
	})
}

/** A delivery that has not been tried. */
function freshDelivery(
	{ answers = null, ...parts }: Pick<Delivery, 'id' | 'receiver' | 'recipient' | 'message'> & Partial<Delivery>,
	nowMs: number,
): Delivery {
	return {
		...parts,
		answers,
		createdAtMs: nowMs,
		status: 'pending',
		attempts: 0,
		nextAttemptAtMs: nowMs,
		lastError: null,
	}
}

interface Kept {
	readonly type: MessageType
	readonly revision: number
	readonly rank: number
	/** The alert that a mail refers to, where it is another than its own of this revision. */
	readonly answered?: { readonly revision: number; readonly alertId?: string; readonly blockHash?: string }
}

function answering(entry: Announcement | undefined): Pick<Kept, 'answered'> {
	const blockHash = entry?.alerts[0]?.data.blockHash
	if (entry === undefined || blockHash === undefined) return {}
	return { answered: { alertId: entry.id, blockHash, revision: entry.revision } }
}

function fanOut(alert: Alert, { type, revision, rank, answered }: Kept, posting: Posting): Delivery[] {
	return alert.receivers.flatMap((receiver) =>
		(posting.recipientsOf(receiver) ?? [null]).map((recipient) => {
			const parts = { alertId: alert.data.id, blockHash: alert.data.blockHash, receiver, recipient }
			const id = deliveryId({ ...parts, revision }, posting.digest)
			const answers = answered === undefined ? null : deliveryId({ ...parts, ...answered }, posting.digest)
			const data: MessageData = { ...alert.data, deliveryId: id }
			const timestamp = new Date(posting.nowMs).toISOString()
			const delivery = freshDelivery(
				{ id, receiver, recipient, message: { type, timestamp, data }, answers },
				posting.nowMs,
			)
			return rank === 0 ? delivery : { ...delivery, rank }
		}),
	)
}

/**
 * A retraction goes to the receivers of the alert, under the block in which it was announced, and refers to that
 * delivery.
 */
function removalsOf(alert: Alert, gone: Announcement, posting: Posting): Delivery[] {
	const { revision } = gone
	const rank = revision > 2 ? ranks.ordinary : 0
	return fanOut(alert, { type: 'alert.removed', revision, rank, answered: { revision: revision - 1 } }, posting)
}
