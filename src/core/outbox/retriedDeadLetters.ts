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

type Failed = Pick<Delivery, 'status' | 'lastErrorCode' | 'refused'>

export function isReread({ status, lastErrorCode, refused }: Failed): boolean {
	// A mail server without TLS refuses; a webhook without it fails like one that is down, and is retried by itself.
	if (lastErrorCode === 'no-tls' && refused === undefined) return false
	return status !== 'dead' && codes.has(lastErrorCode)
}
