/**
 * Which failures are retried: one table for HTTP and one for SMTP. The first matching row decides.
 *
 * - delivered: the receiver accepted the message.
 * - retry: try again later, with the limits in `decide.ts`.
 * - parked: refused, because of the message, of a setting or of a quota, which cannot be known at once. It waits and
 *   is tried again; `core/outbox/refusals.ts` says when it is given up.
 */
import type { Outcome, ReasonCode } from '../../model/delivery.js'

/** Longest wait that a receiver can ask for. */
export const LONGEST_WAIT_MS = 24 * 3_600_000

export type Verdict = Exclude<Outcome['result'], 'dead'>

/** Meaning of an answer: `code` for code to compare, `meaning` for people. */
export type Judgement =
	| { readonly verdict: 'delivered'; readonly meaning: string }
	| { readonly verdict: Exclude<Verdict, 'delivered'>; readonly code: ReasonCode; readonly meaning: string }

/** Status codes, both ends included. */
export type HttpRow = Judgement & { readonly from: number; readonly to: number }

export const httpPolicy: readonly HttpRow[] = [
	{ from: 200, to: 299, verdict: 'delivered', meaning: 'taken' },
	// Following a redirect would turn the POST into a GET, whose 200 would be a false success.
	{ from: 300, to: 399, verdict: 'parked', code: 'moved', meaning: 'the URL has moved; set the new one' },
	{ from: 401, to: 401, verdict: 'parked', code: 'login-refused', meaning: 'the credentials were refused' },
	{ from: 403, to: 403, verdict: 'parked', code: 'login-refused', meaning: 'the credentials were refused' },
	{ from: 404, to: 404, verdict: 'parked', code: 'not-found', meaning: 'nothing is listening at this URL' },
	{ from: 405, to: 405, verdict: 'parked', code: 'no-post', meaning: 'this URL takes no POST' },
	{ from: 408, to: 408, verdict: 'retry', code: 'later', meaning: 'it gave up waiting' },
	{ from: 410, to: 410, verdict: 'parked', code: 'removed', meaning: 'the receiver has been removed' },
	{ from: 413, to: 413, verdict: 'parked', code: 'too-large', meaning: 'the message is too large for it' },
	{ from: 415, to: 415, verdict: 'parked', code: 'wrong-format', meaning: 'this URL does not take this format' },
	{ from: 425, to: 425, verdict: 'retry', code: 'too-early', meaning: 'too early' },
	{ from: 429, to: 429, verdict: 'retry', code: 'too-many', meaning: 'too many requests' },
	{ from: 400, to: 499, verdict: 'parked', code: 'message-refused', meaning: 'the message was refused' },
	// Codes of 5xx that say "never", not "later".
	{ from: 501, to: 501, verdict: 'parked', code: 'no-post', meaning: 'the server does not support this request' },
	{ from: 505, to: 505, verdict: 'parked', code: 'no-post', meaning: 'the server does not support this request' },
	{ from: 511, to: 511, verdict: 'parked', code: 'login-refused', meaning: 'the network asks for a login first' },
	{ from: 500, to: 599, verdict: 'retry', code: 'server-failed', meaning: 'the server failed' },
]

/** An unknown answer must not lose a message. */
const UNEXPECTED: Judgement = { verdict: 'retry', code: 'unexpected', meaning: 'an unexpected answer' }

/** Phase of the SMTP session in which it failed. */
export type SmtpPhase = 'connect' | 'login' | 'sender' | 'recipient' | 'data'

/** `reply` matches `<code> <enhanced code>`, such as `550 5.1.1`; `none` where the server gave no reply. */
export type SmtpRow = Judgement & { readonly phases: readonly SmtpPhase[]; readonly reply: RegExp }

const MAIL: readonly SmtpPhase[] = ['sender', 'recipient', 'data']
const ANY: readonly SmtpPhase[] = ['connect', 'login', ...MAIL]

export const smtpPolicy: readonly SmtpRow[] = [
	{ phases: ANY, reply: /^none/, verdict: 'retry', code: 'no-answer', meaning: 'no answer' },
	{ phases: ANY, reply: /^4/, verdict: 'retry', code: 'later', meaning: 'it asked to come again later' },
	{ phases: ['login'], reply: /^5/, verdict: 'parked', code: 'login-refused', meaning: 'the credentials were refused' },
	// 503 means that the session is out of step; it says nothing about the message.
	{ phases: ANY, reply: /^503/, verdict: 'retry', code: 'out-of-step', meaning: 'the session was out of step' },
	{
		phases: ['connect'],
		reply: /^5/,
		verdict: 'parked',
		code: 'not-served',
		meaning: 'the server will not talk with us',
	},
	{
		...{ phases: MAIL, reply: /^53[0458]/, verdict: 'parked', code: 'login-wanted' },
		meaning: 'the server asks for a login or for TLS',
	},
	// 5.7.x before the message was sent (relaying denied, sender not allowed) is a matter of settings, not of this mail.
	{
		...{ phases: ['sender', 'recipient'], reply: /^5\d\d 5\.7\./, verdict: 'parked', code: 'sending-refused' },
		meaning: 'the server does not let us send this way',
	},
	{ phases: ['sender'], reply: /^5/, verdict: 'parked', code: 'sender-refused', meaning: 'the sender was refused' },
	{
		phases: ['recipient'],
		reply: /^5/,
		verdict: 'parked',
		code: 'recipient-refused',
		meaning: 'the recipient was refused',
	},
	{ phases: ['data'], reply: /^5/, verdict: 'parked', code: 'message-refused', meaning: 'the mail was refused' },
]

export function judgeStatus(status: number): Judgement {
	return httpPolicy.find(({ from, to }) => status >= from && status <= to) ?? UNEXPECTED
}

/** `reply` is the server's line, such as `550 5.1.1 …`; null where there was none. */
export function judgeSmtp(phase: SmtpPhase, reply: string | null): Judgement {
	const said = reply === null ? 'none' : reply.replace(/^(\d{3})-/, '$1 ')
	return smtpPolicy.find((row) => row.phases.includes(phase) && row.reply.test(said)) ?? UNEXPECTED
}

/** The outcome of an answer. `reason`: in words. `afterMs`: shortest wait, used only for a retry. */
export function outcomeOf(judgement: Judgement, reason: string, afterMs?: number | null): Outcome {
	if (judgement.verdict === 'delivered') return { result: 'delivered' }
	const { verdict: result, code } = judgement
	if (result !== 'retry' || afterMs === undefined || afterMs === null) return { result, code, reason }
	return { result, code, reason, afterMs }
}
