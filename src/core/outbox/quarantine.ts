/**
 * Quarantine: if a receiver fails at one message while it takes others, that message is set aside. It is retried
 * separately, and delays only messages about the same event. The code of its last failure marks it, so that the mark
 * survives a restart.
 */

import type { Message } from '../../model/alert.js'
import type { Delivery, ReasonCode } from '../../model/delivery.js'
import { isDigest } from './messageKinds.js'
import { isReread } from './retriedDeadLetters.js'

/** PostgreSQL queries contain it, too. */
export const quarantineCode: ReasonCode = 'message-failed'

export function isQuarantined({ status, lastErrorCode }: Pick<Delivery, 'status' | 'lastErrorCode'>): boolean {
	return status === 'pending' && lastErrorCode === quarantineCode
}

/** Failed attempts of a delivery that blocks its queue; 0 for one in quarantine, or one that was parked or dead. */
export function failedAttempts(delivery: Pick<Delivery, 'status' | 'attempts' | 'lastErrorCode'>): number {
	return delivery.status === 'pending' && !isQuarantined(delivery) && !isReread(delivery) ? delivery.attempts : 0
}

/**
 * What a message is about. An alert, its retraction and its repetition share subjects; so do a stall or a gap and its
 * end. Their order matters for their meaning.
 */
export function subjectsOf({ data }: Message): readonly string[] {
	if (isDigest(data)) return data.alerts.map((alert) => alert.data.id)
	if ('receiver' in data) return [`undelivered:${data.receiver}`]
	return [data.id.replace(/:system_(stalled|gap|refused|recovered):/, ':system:')]
}
