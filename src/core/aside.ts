/**
 * What is set aside: a message at which a receiver fails while it takes others. It is tried by itself, and holds up
 * nobody but what is said of the same thing. The code of its last failure marks it, so that a restart knows.
 */

import type { Message } from '../model/alert.js'
import type { Delivery, ReasonCode } from '../model/delivery.js'
import { isDigest } from './messageKinds.js'

/** PostgreSQL's queries name it too. */
export const asideCode: ReasonCode = 'message-failed'

export function isAside({ status, lastErrorCode }: Pick<Delivery, 'status' | 'lastErrorCode'>): boolean {
	return status === 'pending' && lastErrorCode === asideCode
}

/**
 * What a message is about: an alert, its retraction and its return have the same, a stall or a gap and its end too. Out
 * of their order they would say something that is not so.
 */
export function subjectsOf({ data }: Message): readonly string[] {
	if (isDigest(data)) return data.alerts.map((alert) => alert.data.id)
	if ('receiver' in data) return [`undelivered:${data.receiver}`]
	return [data.id.replace(/:system_(stalled|gap|refused|recovered):/, ':system:')]
}
