/** The room is a receiver by mail: one message for each recipient, so that each has an outcome of its own. */

import type { SendMailOptions } from 'nodemailer'
import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import type { Delivery, Outcome } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'
import { judgeSmtp, outcomeOf, type SmtpPhase } from '../delivery/policy.js'
import { composeMessage } from '../text/message.js'
import { innermostCode, isTlsFault, notReached, quote } from '../text/words.js'
import { createSmtp, type SmtpSettings } from './smtp.js'

export interface EmailSettings extends SmtpSettings {
	readonly type: 'email'
	readonly name: string
	/** `tracewatch@example.org`, or `Tracewatch <tracewatch@example.org>` */
	readonly from: string
	readonly to: readonly string[]
}

export interface EmailOptions {
	/** For the whole of an attempt; default 90 s. */
	readonly timeLimitMs?: number
	/** Default 2, as many as the deliverer uses at once. */
	readonly connections?: number
}

/** The part of nodemailer's errors that tells what happened. */
interface SmtpError extends NodeJS.ErrnoException {
	readonly command?: string
	readonly response?: string
	readonly rejectedErrors?: readonly SmtpError[]
}

export function createEmailReceiver(settings: EmailSettings, options: EmailOptions = {}): Receiver {
	const { timeLimitMs = 90_000, connections = 2 } = options
	const { host, hideSecrets, transport } = createSmtp(settings, connections)
	const from = parseMailbox(settings.from)
	// The pool reports what the sender of the mail hears as well.
	transport.on('error', () => undefined)

	return {
		name: settings.name,
		recipients: settings.to,
		takesDigest: () => true,
		async deliver(delivery, signal) {
			if (delivery.recipient === null)
				return { result: 'dead', code: 'no-recipient', reason: 'the delivery names no recipient' }
			const mail = toMail(delivery, delivery.recipient, from)
			try {
				const send = (limited: AbortSignal) => transport.sendMail({ ...mail, signal: limited })
				const { response } = await withDeadline(timeLimitMs, send, signal)
				return { result: 'delivered', answer: `${host}: ${quote(response ?? '', hideSecrets)}` }
			} catch (error) {
				if (signal.aborted) return { result: 'retry', code: 'stopped', reason: 'stopped before the answer came' }
				if (!(error instanceof DeadlinePassed)) return judge(error as SmtpError)
				return { result: 'retry', code: 'no-answer', reason: `${host} did not finish within ${timeLimitMs / 1_000} s` }
			}
		},
		async close() {
			transport.close()
		},
	}

	function judge(failure: SmtpError): Outcome {
		const error = failure.rejectedErrors?.[0] ?? failure
		const phase = phaseOf(error)
		if (error.code === 'ETLS' || isTlsFault(innermostCode(error))) {
			// Not dropped, however long it lasts: certificates and STARTTLS are somebody's settings.
			return { result: 'parked', code: 'no-tls', reason: `${host}: no secure connection (${tlsFault(error)})` }
		}
		const reply = error.response ?? null
		if (reply === null && phase === 'login') {
			return { result: 'parked', code: 'no-login', reason: `${host} offers no login that we can use` }
		}
		if (reply === null) return notReached(host, error)
		const judged = judgeSmtp(phase, reply)
		return outcomeOf(judged, `${host}: ${judged.meaning} (“${quote(reply, hideSecrets)}”)`)
	}

	function tlsFault(error: SmtpError): string {
		const code = innermostCode(error)
		if (code !== null && code !== 'ETLS') return code
		return quote(error.message, hideSecrets)
	}
}

/** Only what the server says to one of these three commands can be about the mail itself. */
function phaseOf({ command = 'CONN' }: SmtpError): SmtpPhase {
	if (command.startsWith('AUTH')) return 'login'
	if (command === 'MAIL FROM') return 'sender'
	if (command === 'RCPT TO') return 'recipient'
	return command === 'DATA' ? 'data' : 'connect'
}

interface Mailbox {
	readonly name: string
	readonly address: string
	readonly domain: string
}

/** `name <address>` or the address alone; the settings have been checked before. */
function parseMailbox(text: string): Mailbox {
	const [, quotedName = '', bracketed] = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(text) ?? []
	const address = (bracketed ?? text).trim()
	return { name: quotedName.replace(/^"|"$/g, ''), address, domain: address.slice(address.lastIndexOf('@') + 1) }
}

/**
 * The same bytes on every attempt, up to nodemailer's own boundary: a mailbox can tell a repetition by its Message-ID.
 */
function toMail(delivery: Delivery, recipient: string, from: Mailbox): SendMailOptions {
	const { subject, text, html } = composeMessage(delivery.message)
	const answers = delivery.answers === null ? null : `<${delivery.answers}@${from.domain}>`
	return {
		// As objects: a comma in a string would add a recipient.
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
			'X-Tracewatch-Alert': delivery.message.data.id,
		},
	}
}
