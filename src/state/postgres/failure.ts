/**
 * Errors of the database and of the connection, in words for operators. They name the host, and never user, password or
 * path.
 */

import { codeOf, systemWords } from '../../base/systemError.js'
import { StateError } from '../../errors.js'

/** Codes with a specific meaning in PostgreSQL, or with something that the operator can do. */
const WORDS: Readonly<Record<string, string>> = {
	ENOENT: 'there is no such socket',
	ECONNREFUSED: 'the connection was refused: start it; a running daemon then continues',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; see sslmode and sslrootcert of the URL',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority; see sslrootcert of the URL',
	'28P01': 'it refuses the user or the password: correct the URL of `state`, or its secret, and restart',
	'28000': 'it does not let this user in from here',
	'3D000': 'there is no such database; create it first',
	'42P01':
		'its tables are gone: they were dropped, or are being restored; a running daemon continues when they are back, ' +
		'and begins anew when it is restarted',
	'42P07': 'its tables are there, but empty: a restore is under way, or has stopped halfway',
	'42501':
		'this user may not do that: it needs to own the schema tracewatch, ' +
		'or be allowed to create it (CREATE on the database)',
	'25006': 'it is read-only, as a standby is: let it take writes, or name the primary in `state` and restart',
	// The database's own words name the user.
	'53300': 'it has too many connections',
	'53100': 'its disk is full: make room there; a running daemon then continues',
}

/** `act` completes "cannot … the state in the database at <host>". */
export function databaseError(host: string, cause: unknown, act: 'reach' | 'use' = 'use'): StateError {
	if (cause instanceof StateError) return cause
	const code = codeOf(cause)
	const words = fileOf(cause) ?? ((code && (WORDS[code] ?? systemWords(code))) || plain(cause))
	return new StateError(
		'disk',
		`cannot ${act} the state in the database at ${host}: ${words}${code ? ` (${code})` : ''}`,
		{
			// The error for an invalid URL contains the whole URL.
			...(code === 'ERR_INVALID_URL' ? {} : { cause }),
		},
	)
}

/** A certificate or key that cannot be read; null for any other error. */
function fileOf(cause: unknown): string | null {
	const { syscall, path, code } = (cause ?? {}) as NodeJS.ErrnoException
	if (syscall !== 'open' || code === undefined) return null
	return `the file ${path} that its URL names: ${systemWords(code) ?? code}`
}

function plain(cause: unknown): string {
	if (!(cause instanceof Error)) return String(cause)
	if (codeOf(cause) === 'ERR_INVALID_URL') return 'its URL cannot be read'
	if (/does not support SSL/.test(cause.message))
		return 'it offers no TLS: switch it on there (ssl = on), or write sslmode=disable into the URL of `state`'
	if (/timeout/i.test(cause.message)) return 'it does not answer in time'
	return cause.message === '' ? cause.name : cause.message
}

/**
 * The connection was lost for any reason, and what was asked may or may not have taken effect; or another transaction
 * was in the way, and it has not.
 */
export function mayPass(error: unknown): boolean {
	const code = codeOf(error)
	if (code !== null) return /^(08...|57P0[123]|25P03|40001|40P01|ECONNRESET|EPIPE)$/.test(code)
	return (
		error instanceof Error && /^(Connection terminated|Client has encountered a connection error)/.test(error.message)
	)
}
