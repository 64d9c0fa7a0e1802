/**
 * Which failures are retried: one table for HTTP and one for SMTP. The first matching row decides.
 *
 * - delivered: the receiver accepted the message.
 * - retry: try again later, with the limits in `decide.ts`.
 * - parked: refused, because of the message, of a setting or of a quota, which cannot be known at once. It waits and
 *   is tried again; `core/outbox/refusals.ts` says when it is given up.
 */
import type { Outcome } from '../../model/delivery.js'

/** Longest wait that a receiver can ask for. */
export const LONGEST_WAIT_MS = 24 * 3_600_000

/** Meaning of an answer, in words for people. */
export interface Judgement {
	readonly verdict: Exclude<Outcome['result'], 'dead'>
	readonly meaning: string
	/** Refused before the server sees a message. */
	readonly isLogin?: true
}

/** Status codes, both ends included. */
export type HttpRow = Judgement & { readonly from: number; readonly to: number }

export const httpPolicy: readonly HttpRow[] = [
	{ from: 200, to: 299, verdict: 'delivered', meaning: 'taken' },
	// Following a redirect would turn the POST into a GET, whose 200 would be a false success.
	{ from: 300, to: 399, verdict: 'parked', meaning: 'the URL has moved; set the new one' },
	{ from: 401, to: 401, verdict: 'parked', meaning: 'the credentials were refused' },
	{ from: 403, to: 403, verdict: 'parked', meaning: 'the credentials were refused' },
	{ from: 404, to: 404, verdict: 'parked', meaning: 'nothing is listening at this URL' },
	{ from: 405, to: 405, verdict: 'parked', meaning: 'this URL takes no POST' },
	{ from: 408, to: 408, verdict: 'retry', meaning: 'it gave up waiting' },
	{ from: 410, to: 410, verdict: 'parked', meaning: 'the receiver has been removed' },
	{ from: 413, to: 413, verdict: 'parked', meaning: 'the message is too large for it' },
	{ from: 415, to: 415, verdict: 'parked', meaning: 'this URL does not take this format' },
	{ from: 425, to: 425, verdict: 'retry', meaning: 'too early' },
	{ from: 429, to: 429, verdict: 'retry', meaning: 'too many requests' },
	{ from: 400, to: 499, verdict: 'parked', meaning: 'the message was refused' },
	// Codes of 5xx that say "never", not "later".
	{ from: 501, to: 501, verdict: 'parked', meaning: 'the server does not support this request' },
	{ from: 505, to: 505, verdict: 'parked', meaning: 'the server does not support this request' },
	{ from: 511, to: 511, verdict: 'parked', meaning: 'the network asks for a login first' },
	{ from: 500, to: 599, verdict: 'retry', meaning: 'the server failed' },
]

/** An unknown answer must not lose a message. */
const UNEXPECTED: Judgement = { verdict: 'retry', meaning: 'an unexpected answer' }

/** Phase of the SMTP session in which it failed. */
export type SmtpPhase = 'connect' | 'login' | 'mail'

export type SmtpRow = Judgement & { readonly phases: readonly SmtpPhase[]; readonly reply: RegExp }

const ANY: readonly SmtpPhase[] = ['connect', 'login', 'mail']

export const smtpPolicy: readonly SmtpRow[] = [
	{ phases: ANY, reply: /^4/, verdict: 'retry', meaning: 'it asked to come again later' },
	{ phases: ['login'], reply: /^5/, verdict: 'parked', isLogin: true, meaning: 'the credentials were refused' },
	// 503 means that the session is out of step; it says nothing about the message.
	{ phases: ANY, reply: /^503/, verdict: 'retry', meaning: 'the session was out of step' },
	{ phases: ['connect'], reply: /^5/, verdict: 'parked', isLogin: true, meaning: 'the server will not talk with us' },
	{ phases: ['mail'], reply: /^53[0458]/, verdict: 'parked', isLogin: true, meaning: 'it asks for a login or for TLS' },
	{ phases: ['mail'], reply: /^5/, verdict: 'parked', meaning: 'the mail was refused' },
]

export function judgeStatus(status: number): Judgement {
	return httpPolicy.find(({ from, to }) => status >= from && status <= to) ?? UNEXPECTED
}

/** `reply` is the server's line, such as `550 5.1.1 …`. */
export function judgeSmtp(phase: SmtpPhase, reply: string): Judgement {
	return smtpPolicy.find((row) => row.phases.includes(phase) && row.reply.test(reply)) ?? UNEXPECTED
}

/** The outcome of an answer. `reason`: in words. `afterMs`: shortest wait, used only for a retry. */
export function outcomeOf({ verdict, isLogin }: Judgement, reason: string, afterMs?: number | null): Outcome {
	if (verdict === 'delivered') return { result: 'delivered' }
	if (verdict === 'parked') return { result: 'parked', code: isLogin ? 'login-refused' : 'refused', reason }
	return { result: 'retry', code: 'failed', reason, ...(typeof afterMs === 'number' && { afterMs }) }
}
