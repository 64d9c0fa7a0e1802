/** Makes rows of history from deliveries, and selects them by the alerts in them. */

import type { AlertData, Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type {
	DeliveryRow,
	HistoryEntry,
	HistoryHole,
	HistoryQuery,
	HistoryResult,
	HistoryRow,
} from '../../model/history.js'
import { isAlert } from './messageKinds.js'
import { statusOf } from './waiting.js'

/** A row without its position. `answer`: the receiver's answer; null if it was not contacted. */
export function historyRowOf(
	{ id, receiver, recipient, createdAtMs, attempts, lastError, message }: Delivery,
	ended: { readonly result: HistoryResult; readonly atMs: number; readonly answer?: string | undefined },
): Omit<HistoryRow, 'seq'> {
	const { result, atMs, answer = null } = ended
	// The final attempt is not counted yet; a dropped or folded delivery had none.
	const tries = result === 'dropped' || result === 'folded' ? attempts : attempts + 1
	return { endedAtMs: atMs, result, id, receiver, recipient, createdAtMs, attempts: tries, lastError, answer, message }
}

export function rowOfDelivery(delivery: Delivery): DeliveryRow {
	const { id, receiver, recipient, attempts, lastError, message, createdAtMs, nextAttemptAtMs } = delivery
	const status = statusOf(delivery)
	const isTriedAgain = status === 'pending' || status === 'held'
	return {
		...{ id, receiver, recipient, createdAtMs, attempts, lastError, message, result: status },
		...{ endedAtMs: null, answer: null },
		nextAttemptAtMs: isTriedAgain && Number.isFinite(nextAttemptAtMs) ? nextAttemptAtMs : null,
	}
}

export function isHole(entry: HistoryEntry): entry is HistoryHole {
	return 'hole' in entry
}

/** The alert that a message carries; null in a message about the system. */
export function alertOf({ data }: Message): AlertData | null {
	return isAlert(data) ? data : null
}

/** Whether a message matches a query. The caller checks `sinceMs` against the appropriate time. */
export function isAbout(message: Message, receiver: string, query: HistoryQuery): boolean {
	const { address, network, kind, text } = query
	if (query.receiver !== undefined && query.receiver !== receiver) return false
	if (address === undefined && network === undefined && kind === undefined && text === undefined) return true
	const alert = alertOf(message)
	const ending = message.type.slice(message.type.indexOf('.') + 1)
	if (alert === null) {
		const own = 'network' in message.data ? message.data.network : null
		if (address !== undefined || (network !== undefined && network !== own)) return false
		if (kind !== undefined && kind !== ending) return false
		return text === undefined || JSON.stringify(message.data).toLowerCase().includes(text.toLowerCase())
	}
	return (
		(address === undefined || alert.watch.address.toLowerCase() === address.toLowerCase()) &&
		(network === undefined || alert.network === network) &&
		(kind === undefined || alert.kind === kind || ending === kind) &&
		(text === undefined || speaksOf(alert, text.toLowerCase()))
	)
}

function speaksOf({ id, txHash, from, to, watch, counterpartyLabel }: AlertData, text: string): boolean {
	const words = [watch.label, ...watch.tags, watch.address, watch.watchlist, from, to, txHash, id, counterpartyLabel]
	return words.some((word) => word?.toLowerCase().includes(text))
}
