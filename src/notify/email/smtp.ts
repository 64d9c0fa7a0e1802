/** How a mail server is spoken to: the settings of nodemailer, each with its reason. */
import { connect, type Socket } from 'node:net'
import { createTransport, type Transporter } from 'nodemailer'
import { hiderOf } from '../../base/hide.js'
import { isLoopback } from '../../base/loopback.js'
import { decoded } from '../../base/urlSecrets.js'
import { allowedLookup, forbiddenError, isForbidden } from '../webhook/forbidden.js'

export interface SmtpSettings {
	/** `smtps://user:password@host:465`, or `smtp://host:587` */
	readonly smtp: string
	/** Certificates (PEM) to trust instead of the system's. */
	readonly ca?: string
	/** Default: unless the server stands on loopback. */
	readonly requireTls?: boolean
}

export interface Smtp {
	readonly host: string
	/** Takes the login out of a text. */
	readonly hideSecrets: (text: string) => string
	readonly transport: Transporter
}

const connectTimeLimitMs = 10_000

type SocketCallback = (error: Error | null, options?: { connection: Socket }) => void

export function createSmtp(settings: SmtpSettings, connections: number): Smtp {
	const url = new URL(settings.smtp)
	const secure = url.protocol === 'smtps:'
	const host = url.hostname.replace(/^\[|\]$/g, '')
	const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
	const user = decoded(url.username)
	const pass = decoded(url.password)
	const requireTLS = !secure && (settings.requireTls ?? !isThisMachine(host))
	const transport = createTransport({
		host,
		port,
		secure,
		// Opportunistic TLS would give password and mail to whoever strips STARTTLS.
		requireTLS,
		tls: {
			minVersion: 'TLSv1.2',
			...(settings.ca === undefined ? {} : { ca: settings.ca }),
			// A mail server on this machine often shows a certificate made for nobody; nobody is between us and it.
			rejectUnauthorized: secure || requireTLS || settings.ca !== undefined,
		},
		// Without `forceAuth` a server that hides AUTH would be sent the mail without login, and refuse it for good.
		...(user === '' ? {} : { auth: { user, pass }, forceAuth: true }),
		pool: true,
		maxConnections: connections,
		// Retries belong to the deliverer, where they are seen.
		maxRequeues: 0,
		// Ours ends before the server's, so that it does not end while a mail is being handed over.
		idleTimeout: 20_000,
		connectionTimeout: connectTimeLimitMs,
		greetingTimeout: connectTimeLimitMs,
		socketTimeout: 60_000,
		disableFileAccess: true,
		disableUrlAccess: true,
		getSocket: (_options: object, callback: SocketCallback) => openSocket(host, port, callback),
	})
	return { host: url.host === '' ? host : url.host, hideSecrets: hiderOf(secretsOf(user, pass)), transport }
}

/**
 * Connects by the system's own look-up, which reads the hosts file first (nodemailer asks DNS servers first, and waits
 * for them), tries IPv6 and IPv4, and leaves link-local addresses alone.
 */
function openSocket(host: string, port: number, callback: SocketCallback): void {
	if (isForbidden(host)) {
		callback(forbiddenError())
		return
	}
	const socket = connect({ host, port, lookup: allowedLookup, autoSelectFamily: true, noDelay: true })
	const finish = (error: Error | null) => {
		clearTimeout(timer)
		socket.removeListener('connect', connected)
		socket.removeListener('error', finish)
		if (error === null) return callback(null, { connection: socket })
		socket.on('error', () => undefined).destroy()
		callback(error)
	}
	const connected = () => finish(null)
	const timer = setTimeout(
		() => finish(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
		connectTimeLimitMs,
	)
	socket.once('connect', connected).once('error', finish)
}

/** By its address, or by the names that stand for it everywhere. */
function isThisMachine(host: string): boolean {
	return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)
}

/**
 * The login as it may come back in a server's answer, alone or as PLAIN and LOGIN wrap it. A user that is a mail
 * address stands in the mails themselves.
 */
function secretsOf(user: string, pass: string): readonly string[] {
	return pass === '' ? [] : [pass, ...(user.includes('@') ? [] : [user]), `\u0000${user}\u0000${pass}`]
}
