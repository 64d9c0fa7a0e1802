/** The SMTP transport: the settings of nodemailer, with reasons. */
import { connect, type Socket } from 'node:net'
import { createTransport, type Transporter } from 'nodemailer'
import { allowedLookup, forbiddenError, isForbidden } from '../../base/net/forbidden.js'
import { isLocal } from '../../base/net/loopback.js'
import { hiderOf } from '../../base/secrets/hide.js'
import { decoded } from '../../base/secrets/urlSecrets.js'

export interface SmtpSettings {
	/** `smtps://user:password@host:465`, or `smtp://host:587` */
	readonly smtp: string
	/** PEM certificates to trust instead of the system's. */
	readonly ca?: string
	/** Default: true, unless the server is on loopback. */
	readonly requireTls?: boolean
}

export interface Smtp {
	readonly host: string
	/** Removes the login from a text. */
	readonly hideSecrets: (text: string) => string
	readonly transport: Transporter
	/** Ends every connection at once: nodemailer's `verify` takes no signal. */
	hangUp(): void
}

const connectTimeLimitMs = 10_000
/** Servers let senders wait against spam. RFC 5321 allows five minutes, and a whole mail has 90 s here. */
const greetingTimeLimitMs = 60_000

type SocketCallback = (error: Error | null, options?: { connection: Socket }) => void

export function createSmtp(settings: SmtpSettings, connections: number): Smtp {
	const url = new URL(settings.smtp)
	const secure = url.protocol === 'smtps:'
	const host = url.hostname.replace(/^\[|\]$/g, '')
	const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
	const user = decoded(url.username)
	const pass = decoded(url.password)
	const requireTLS = !secure && (settings.requireTls ?? !isThisMachine(host))
	const sockets = new Set<Socket>()
	const transport = createTransport({
		host,
		port,
		secure,
		// With opportunistic TLS, an attacker who strips STARTTLS would get password and mail.
		requireTLS,
		tls: {
			minVersion: 'TLSv1.2',
			...(settings.ca === undefined ? {} : { ca: settings.ca }),
			// A mail server on this machine often has a certificate for another name, and loopback traffic cannot be
			// intercepted.
			rejectUnauthorized: secure || requireTLS || settings.ca !== undefined,
		},
		// Without `forceAuth`, nodemailer would send without login to a server that hides AUTH, which would refuse the mail
		// for good.
		...(user === '' ? {} : { auth: { user, pass }, forceAuth: true }),
		pool: true,
		maxConnections: connections,
		// Retries belong to the deliverer, which records them.
		maxRequeues: 0,
		// Shorter than the servers' own timeouts, so that a connection does not end while a mail is being sent.
		idleTimeout: 20_000,
		connectionTimeout: connectTimeLimitMs,
		greetingTimeout: greetingTimeLimitMs,
		socketTimeout: 60_000,
		// A reply has lines of at most 512 bytes. The default, 1 MiB, would be searched for secrets at one go.
		maxResponseSize: 16_384,
		disableFileAccess: true,
		disableUrlAccess: true,
		getSocket: (_options: object, callback: SocketCallback) => {
			const socket = openSocket(host, port, callback)
			if (socket !== null) sockets.add(socket.once('close', () => sockets.delete(socket)))
		},
	})
	const hangUp = () => {
		for (const socket of sockets) socket.destroy(Object.assign(new Error('hung up'), { code: 'ECONNRESET' }))
	}
	return { host: url.host === '' ? host : url.host, hideSecrets: hiderOf(secretsOf(user, pass)), transport, hangUp }
}

/**
 * Connects with the system's lookup, which reads the hosts file first (nodemailer asks DNS servers first, and waits for
 * them); tries IPv6 and IPv4, and refuses link-local addresses.
 */
function openSocket(host: string, port: number, callback: SocketCallback): Socket | null {
	if (isForbidden(host)) {
		callback(forbiddenError())
		return null
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
	return socket.once('connect', connected).once('error', finish)
}

/** A loopback address, or a name that always means loopback. */
function isThisMachine(host: string): boolean {
	return isLocal(host) || host.endsWith('.localhost')
}

/**
 * Forms in which the login may come back in a server's answer: as it is, and in the encodings of PLAIN and LOGIN. A
 * user name that is a mail address is not hidden, because it is in the mails themselves.
 */
function secretsOf(user: string, pass: string): readonly string[] {
	return pass === '' ? [] : [pass, ...(user.includes('@') ? [] : [user]), `\u0000${user}\u0000${pass}`]
}
