/**
 * A mail server on loopback: takes mails, reads them back with mailparser, and defers, refuses or breaks off as it is
 * told to.
 */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { createArrivals, enough } from './arrivals.js'

export interface Mail {
	/** Of the envelope. */
	readonly sender: string
	/** Of the envelope. */
	readonly recipients: readonly string[]
	readonly subject: string
	readonly text: string
	readonly html: string
	/** With its angle brackets. */
	readonly messageId: string
	readonly parsed: ParsedMail
	readonly raw: string
	/** Whether it came through TLS. */
	readonly secure: boolean
	/** Whether the sender was sent that it was taken. */
	readonly acknowledged: boolean
}

export type MailPhase = 'connect' | 'login' | 'sender' | 'recipient' | 'data'

/**
 * An SMTP reply to refuse with, `450 4.2.1 try later`; `cut` ends the connection; `hang` answers nothing; null takes
 * it.
 */
export type MailAnswer = string | 'cut' | 'hang' | null

export interface MailServerOptions {
	readonly port?: number
	/** Offers STARTTLS, or with `implicit` speaks TLS from the first byte. */
	readonly tls?: { readonly key: string; readonly cert: string; readonly implicit?: boolean }
	/** Demands this login. */
	readonly login?: { readonly user: string; readonly pass: string }
	/** Asks for the login even where there is no TLS. */
	readonly loginInClear?: boolean
}

export interface MailServer {
	readonly port: number
	/** `127.0.0.1:<port>` */
	readonly host: string
	/** Everything whose DATA was read to its end, acknowledged or not. */
	readonly mails: readonly Mail[]
	/** Logins tried: what a listener on the wire could have read. */
	readonly logins: readonly { readonly user: string; readonly pass: string }[]
	/** Connections opened so far. */
	connections(): number
	/** Decides at each step; `about` is the address of the step, or the subject at `data`; default: takes everything. */
	answer: (phase: MailPhase, about: string) => MailAnswer
	/** Resolves when so many mails have come, or when `done` says so. */
	until(done: number | ((mails: readonly Mail[]) => boolean)): Promise<readonly Mail[]>
	close(): Promise<void>
}

type Callback = (error?: Error | null) => void

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
	const mails: Mail[] = []
	const logins: { user: string; pass: string }[] = []
	const arrivals = createArrivals(() => mails.map(({ recipients, subject }) => `${recipients}: ${subject}`).join('\n'))
	const hanging = new Set<Callback>()
	let connections = 0

	const { tls, login } = options
	const smtp = new SMTPServer({
		...(tls === undefined ? {} : { key: tls.key, cert: tls.cert, secure: tls.implicit ?? false }),
		disabledCommands: [
			...(tls === undefined ? ['STARTTLS' as const] : []),
			...(login === undefined ? ['AUTH' as const] : []),
		],
		authOptional: login === undefined,
		allowInsecureAuth: options.loginInClear ?? false,
		disableReverseLookup: true,
		closeTimeout: 100,
		onConnect(session, callback) {
			connections += 1
			act('connect', session.remoteAddress, session, callback)
		},
		onAuth({ username = '', password }, session, callback) {
			logins.push({ user: username, pass: password ?? '' })
			act('login', username, session, (error) => {
				if (error) return callback(error)
				if (username === login?.user && password === login.pass) return callback(null, { user: username })
				callback(replyError('535 5.7.8 authentication failed'))
			})
		},
		onMailFrom: ({ address }, session, callback) => act('sender', address, session, callback),
		onRcptTo: ({ address }, session, callback) => act('recipient', address, session, callback),
		onData(stream, session, callback) {
			const chunks: Buffer[] = []
			stream.on('data', (chunk: Buffer) => chunks.push(chunk))
			stream.on('end', () => void take(Buffer.concat(chunks), session, callback))
		},
	})
	smtp.on('error', () => undefined)
	smtp.listen(options.port ?? 0, '127.0.0.1')
	await once(smtp.server, 'listening')
	const { port } = smtp.server.address() as AddressInfo

	function act(phase: MailPhase, about: string, session: SMTPServerSession, callback: Callback): void {
		work(server.answer(phase, about), session, callback)
	}

	function work(answer: MailAnswer, session: SMTPServerSession, callback: Callback): void {
		if (answer === null) callback()
		else if (answer === 'cut') cut(session)
		else if (answer === 'hang') hanging.add(callback)
		else callback(replyError(answer))
	}

	function cut(session: SMTPServerSession): void {
		for (const connection of smtp.connections as Set<{ id: string; _socket: Socket }>) {
			if (connection.id === session.id) connection._socket.destroy()
		}
	}

	async function take(raw: Buffer, session: SMTPServerSession, callback: Callback): Promise<void> {
		const parsed = await simpleParser(raw)
		const subject = parsed.subject ?? ''
		let acknowledged = false
		const note = () => {
			mails.push({
				sender: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
				recipients: session.envelope.rcptTo.map(({ address }) => address),
				subject,
				text: parsed.text ?? '',
				html: parsed.html === false ? '' : parsed.html,
				messageId: parsed.messageId ?? '',
				parsed,
				raw: raw.toString('utf8'),
				secure: session.secure,
				acknowledged,
			})
			arrivals.changed()
		}
		const answer = server.answer('data', subject)
		acknowledged = answer === null
		if (answer === null || answer === 'cut' || answer === 'hang') note()
		work(answer, session, callback)
	}

	const server: MailServer = {
		port,
		host: `127.0.0.1:${port}`,
		mails,
		logins,
		connections: () => connections,
		answer: () => null,
		until: (done) => arrivals.wait(enough(mails, done), done),
		close: () => new Promise((resolve) => smtp.close(() => resolve())),
	}
	return server
}

/** Addresses of a header, as text. */
export function addressesOf(header: AddressObject | AddressObject[] | undefined): readonly string[] {
	return [header ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address ?? ''))
}

function replyError(reply: string): Error {
	const [, code = '450', text = ''] = /^(\d{3}) ?(.*)$/.exec(reply) ?? []
	return Object.assign(new Error(text), { responseCode: Number(code) })
}
