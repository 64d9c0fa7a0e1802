/**
 * What every receiver has to make of an answer, whatever it speaks. A receiver's test brings the way to make the other
 * side answer so; a case without a translation for its protocol says so itself. Written from the published rules, not
 * from the code: RFC 9110 and Standard Webhooks for HTTP, RFC 5321 and RFC 3463 for SMTP.
 */
import type { Outcome } from '../../src/model/delivery.js'

export interface PolicyCase {
	readonly name: string
	readonly http: HttpCase | null
	readonly smtp: SmtpCase | null
	readonly expected: Outcome['result']
	/** Exactly; absent: none was asked for. */
	readonly afterMs?: number
	/** The reason must hold this. */
	readonly says?: string
}

export interface HttpCase {
	readonly status: number | 'reset' | 'hang' | 'refused'
	readonly retryAfter?: string
	readonly body?: string
	readonly location?: string
}

export interface SmtpCase {
	readonly phase: 'connect' | 'login' | 'sender' | 'recipient' | 'data' | 'refused'
	/** Empty: taken. */
	readonly answer: string
}

/** The clock of the receiver under test stands here. */
export const policyNowMs = Date.UTC(2026, 10, 20, 10)

const both = (
	name: string,
	http: HttpCase | null,
	smtp: SmtpCase | null,
	expected: Outcome['result'],
	rest: { afterMs?: number; says?: string } = {},
): PolicyCase => ({ name, http, smtp, expected, ...rest })

const recipient = (answer: string): SmtpCase => ({ phase: 'recipient', answer })
const data = (answer: string): SmtpCase => ({ phase: 'data', answer })
const http = (status: number, rest: Omit<HttpCase, 'status'> = {}): HttpCase => ({ status, ...rest })

export const policyTable: readonly PolicyCase[] = [
	both('a message that is taken', http(200), { phase: 'data', answer: '' }, 'delivered'),
	both('a message that made something', http(201), null, 'delivered'),
	both('a message that is taken for later', http(202), null, 'delivered'),
	both('a message that is taken without a word', http(204), null, 'delivered'),
	both('a slow down without a time', http(429), recipient('450 4.2.1 slow down'), 'retry'),
	both('a slow down for 7 seconds', http(429, { retryAfter: '7' }), null, 'retry', { afterMs: 7_000 }),
	both('a slow down until a date', http(429, { retryAfter: 'Fri, 20 Nov 2026 10:02:00 GMT' }), null, 'retry', {
		afterMs: 120_000,
	}),
	both(
		'a slow down until a date that is over',
		http(429, { retryAfter: 'Fri, 20 Nov 2026 09:00:00 GMT' }),
		null,
		'retry',
		{
			afterMs: 1_000,
		},
	),
	both('a slow down in JSON, with a fraction', http(429, { body: '{"retry_after":2.5}' }), null, 'retry', {
		afterMs: 2_500,
	}),
	both(
		'a slow down in JSON, under parameters',
		http(429, { body: '{"ok":false,"parameters":{"retry_after":9}}' }),
		null,
		'retry',
		{
			afterMs: 9_000,
		},
	),
	both('a slow down for a day', http(503, { retryAfter: '86400' }), null, 'retry', { afterMs: 86_400_000 }),
	both('a slow down for a week', http(503, { retryAfter: '604800' }), null, 'retry', { afterMs: 86_400_000 }),
	both('a slow down for no time', http(429, { retryAfter: '0' }), null, 'retry', { afterMs: 1_000 }),
	both('a slow down in words', http(429, { retryAfter: 'soon' }), null, 'retry'),
	both('a slow down for less than nothing', http(429, { retryAfter: '-5' }), null, 'retry'),
	both('a server that failed', http(500), data('451 4.3.0 local error'), 'retry'),
	both('a gateway that failed', http(502), null, 'retry'),
	both('a server that is away', http(503), { phase: 'connect', answer: '421 4.3.2 closing' }, 'retry'),
	both('a gateway that waited too long', http(504), data('452 4.3.1 no room'), 'retry'),
	both('a server that waited too long', http(408), null, 'retry'),
	both('too early', http(425), null, 'retry'),
	both('a code that nobody knows', http(599), data('499 9.9.9 what'), 'retry'),
	both('a refusal by a code that nobody knows', http(499), data('599 9.9.9 what'), 'parked'),
	both('a payment that is wanted', http(402), data('550 5.4.5 Daily user sending limit exceeded'), 'parked'),
	both('a mailbox that is full', http(423), recipient('552 5.2.2 over quota'), 'parked'),
	both('a conflict', http(409), null, 'parked'),
	both('a connection that is refused', { status: 'refused' }, { phase: 'refused', answer: '' }, 'retry', {
		says: 'the connection was refused',
	}),
	both('a connection that is cut', { status: 'reset' }, { phase: 'sender', answer: 'cut' }, 'retry', {
		says: 'connection',
	}),
	both('a connection that is cut after the message', null, data('cut'), 'retry'),
	both('no answer', { status: 'hang' }, { phase: 'recipient', answer: 'hang' }, 'retry', { says: 'within' }),
	both('no answer after the message', null, data('hang'), 'retry', { says: 'within' }),
	both('a session out of step', null, recipient('503 5.5.1 bad sequence'), 'retry'),
	both('a login that does not work for now', http(503), { phase: 'login', answer: '454 4.7.0 not now' }, 'retry'),
	both('credentials that are refused', http(401), { phase: 'login', answer: '535 5.7.8 no' }, 'parked'),
	both('credentials that are not enough', http(403), recipient('530 5.7.0 authentication required'), 'parked'),
	both('a way that is not allowed', http(405), recipient('554 5.7.1 relay access denied'), 'parked'),
	both('a sender that is not allowed', null, { phase: 'sender', answer: '550 5.7.1 not your address' }, 'parked'),
	both('a server that wants none of us', null, { phase: 'connect', answer: '554 5.3.2 go away' }, 'parked'),
	both('a server that does not know the method', http(501), null, 'parked'),
	both('a server that does not speak this version', http(505), null, 'parked'),
	both('a network that asks for a login', http(511), null, 'parked'),
	both('a server without room', http(507), null, 'retry'),
	both('a receiver that is not there', http(404), null, 'parked'),
	both('a receiver that was removed', http(410), null, 'parked'),
	both('a URL that moved for good', http(301, { location: '/elsewhere?key=LOCATION-SECRET' }), null, 'parked', {
		says: 'moved',
	}),
	both('a URL that moved for now', http(302, { location: '/elsewhere' }), null, 'parked', { says: 'moved' }),
	both('a URL that moved, method kept', http(307, { location: '/elsewhere' }), null, 'parked', { says: 'moved' }),
	both('a URL that moved for good, method kept', http(308, { location: '/elsewhere' }), null, 'parked', {
		says: 'moved',
	}),
	both('a message that is refused', http(400), data('554 5.6.0 not like this'), 'parked'),
	both('a message that is not understood', http(422), data('554 5.7.1 looks like spam'), 'parked'),
	both('a message that is too large', http(413), data('552 5.3.4 too big'), 'parked'),
	both('a recipient that does not exist', null, recipient('550 5.1.1 no such user'), 'parked'),
	both('a sender that does not exist', null, { phase: 'sender', answer: '550 5.1.8 no such sender' }, 'parked'),
]
