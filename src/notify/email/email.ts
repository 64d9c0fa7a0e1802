/** The room is the mail receiver: one mail for each recipient, so that each has its own outcome. */

import type { SendMailOptions } from 'nodemailer'
import { systemWords } from '../../base/systemError.js'
import { withDeadline } from '../../base/waits/deadline.js'
import { isDigest } from '../../core/outbox/messageKinds.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'
import { judgeSmtp, outcomeOf, type SmtpPhase } from '../delivery/policy.js'
import { innermostCode, isTlsFault, notReached, quote } from '../text/connectionFailure.js'
import { composeMessage } from '../text/message.js'
import { createSmtp, type SmtpSettings } from './smtp.js'

export interface EmailSettings extends SmtpSettings {
	readonly type: 'email'
	readonly name: string
	/** `tracewatch@example.org`, or `Tracewatch <tracewatch@example.org>` */
	readonly from: string
	readonly to: readonly string[]
}

export interface EmailOptions {
	/** For a whole attempt; default 90 s. */
	readonly timeLimitMs?: number
	/** Default 2, the number that the deliverer uses in parallel. */
	readonly connections?: number
}

/** Alerts in a digest: in its short form, that many fit what mail programs show of a mail. */
export const MOST_IN_MAIL = 40

/** The fields of nodemailer's errors that are used here. */
interface SmtpError extends NodeJS.ErrnoException {
	readonly command?: string
	readonly response?: string
	readonly rejectedErrors?: readonly SmtpError[]
}

export interface EmailReceiver extends Receiver {
	/** Connects and logs in, and sends nothing. */
	login(signal: AbortSignal): Promise<Outcome>
}

export function createEmailReceiver(settings: EmailSettings, options: EmailOptions = {}): EmailReceiver {
	const { timeLimitMs = 90_000, connections = 2 } = options
	const { host, hideSecrets, transport, hangUp } = createSmtp(settings, connections)
	const from = parseMailbox(settings.from)
	// The pool emits the same errors that `sendMail` rejects with.
	transport.on('error', () => undefined)

	const attempt = async (act: (limited: AbortSignal) => Promise<Outcome>, signal: AbortSignal): Promise<Outcome> => {
		const late = (): Outcome => {
			return { result: 'retry', code: 'failed', reason: `${host} did not finish within ${timeLimitMs / 1_000} s` }
		}
		try {
			return await withDeadline(timeLimitMs, act, late, signal)
		} catch (error) {
			if (signal.aborted) return { result: 'retry', code: 'failed', reason: 'stopped before the answer came' }
			return judge(error as SmtpError)
		}
	}

	return {
		name: settings.name,
		recipients: settings.to,
		takesDigest: ({ data }) => isDigest(data) && data.alerts.length <= MOST_IN_MAIL,
		async login(signal) {
			const verify = async (limited: AbortSignal): Promise<Outcome> => {
				limited.addEventListener('abort', hangUp, { once: true })
				await transport.verify()
				return { result: 'delivered', answer: host }
			}
			return await attempt(verify, signal)
		},
		async deliver(delivery, signal) {
			if (delivery.recipient === null)
				return { result: 'dead', code: 'no-recipient', reason: 'the delivery names no recipient' }
			const mail = toMail(delivery, delivery.recipient, from)
			const send = async (limited: AbortSignal): Promise<Outcome> => {
				const { response } = await transport.sendMail({ ...mail, signal: limited })
				return { result: 'delivered', answer: `${host}: ${quote(response ?? '', hideSecrets)}` }
			}
			return await attempt(send, signal)
		},
		async close() {
			transport.close()
		},
	}

	function judge(failure: SmtpError): Outcome {
		const error = failure.rejectedErrors?.[0] ?? failure
		const phase = phaseOf(error)
		if (error.code === 'ETLS' || isTlsFault(innermostCode(error))) {
			// Never dropped: certificates and STARTTLS are settings that an operator can repair.
			return { result: 'parked', code: 'login-refused', reason: `${host}: no secure connection: ${tlsFault(error)}` }
		}
		const reply = error.response ?? null
		if (reply === null && phase === 'login') {
			return { result: 'parked', code: 'login-refused', reason: `${host} offers no login that we can use` }
		}
		if (reply === null) return notReached(host, error)
		const judged = judgeSmtp(phase, reply)
		return outcomeOf(judged, `${host}: ${judged.meaning} (“${quote(reply, hideSecrets)}”)`)
	}

	function tlsFault(error: SmtpError): string {
		const code = innermostCode(error)
		if (code === null || code === 'ETLS') return quote(error.message, hideSecrets)
		const words = systemWords(code)
		return words === null ? code : `${words} (${code})`
	}
}

/** Only the replies to MAIL FROM, RCPT TO and DATA can concern the mail itself. */
function phaseOf({ command = 'CONN' }: SmtpError): SmtpPhase {
	if (command.startsWith('AUTH')) return 'login'
	return ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command) ? 'mail' : 'connect'
}

interface Mailbox {
	readonly name: string
	readonly address: string
	readonly domain: string
}

/** `name <address>` or the address alone; already validated with the settings. */
function parseMailbox(text: string): Mailbox {
	const [, quotedName = '', bracketed] = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(text) ?? []
	const address = (bracketed ?? text).trim()
	return { name: quotedName.replace(/^"|"$/g, ''), address, domain: address.slice(address.lastIndexOf('@') + 1) }
}

/**
 * Identical bytes in every attempt except for nodemailer's boundary; a mailbox can recognise a repetition by its
 * Message-ID.
 */
function toMail(delivery: Delivery, recipient: string, from: Mailbox): SendMailOptions {
	const { subject, text, html } = composeMessage(delivery.message)
	const answers = delivery.answers === null ? null : `<${delivery.answers}@${from.domain}>`
	return {
		// Objects, because a comma in a string would add a recipient.
		from: { name: from.name, address: from.address },
		to: [{ name: '', address: recipient }],
		subject,
		text,
		html,
		messageId: `<${delivery.id}@${from.domain}>`,
		date: new Date(delivery.createdAtMs),
		...(answers === null ? {} : { inReplyTo: answers, references: answers }),
		headers: {
			'Auto-Submitted': 'auto-generated',
			'X-Auto-Response-Suppress': 'All',
			...alertHeader(delivery.message.data.id),
		},
	}
}

/**
 * Left out where its line would be longer than 998 characters (RFC 5322, 2.1.1): servers refuse such a mail. A stranger
 * can make ids of that length, by calls some hundred levels deep. The mail says the id.
 */
function alertHeader(id: string): Readonly<Record<string, string>> {
	const name = 'X-Tracewatch-Alert'
	return `${name}: ${id}`.length <= 998 ? { [name]: id } : {}
}
