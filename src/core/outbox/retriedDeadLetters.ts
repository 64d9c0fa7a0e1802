/**
 * Parked or dead deliveries that are retried before it is known whether the receiver is fixed. They keep the code of
 * their last failure until the attempt has a result.
 */

import type { Delivery, ReasonCode } from '../../model/delivery.js'

/** Failures after which deliveries are parked or dead and not retried by themselves. */
export const againCodes: readonly ReasonCode[] = [
	'no-recipient',
	'expired',
	'no-tls',
	'no-login',
	'moved',
	'not-found',
	'removed',
	'no-post',
	'wrong-format',
	'login-refused',
	'login-wanted',
	'not-served',
	'sending-refused',
	'sender-refused',
	'recipient-refused',
	'message-refused',
	'too-large',
	'chat-unreachable',
]

const codes: ReadonlySet<ReasonCode | undefined> = new Set(againCodes)

export function isReread({ status, lastErrorCode }: Pick<Delivery, 'status' | 'lastErrorCode'>): boolean {
	return status !== 'dead' && codes.has(lastErrorCode)
}
