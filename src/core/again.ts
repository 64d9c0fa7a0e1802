/**
 * What was parked or dead and is tried once more: nobody knows yet whether its receiver is fixed. It keeps the code of
 * its last failure until something else comes of it.
 */

import type { Delivery, ReasonCode } from '../model/delivery.js'

/** All that deliveries are parked or dead for, and that none is tried again for by itself. PostgreSQL's too. */
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

export function isAgain({ status, lastErrorCode }: Pick<Delivery, 'status' | 'lastErrorCode'>): boolean {
	return (status === 'pending' || status === 'held') && codes.has(lastErrorCode)
}
