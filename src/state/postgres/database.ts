/** Connects to the database: a few connections that reconnect, and statements and transactions that are tried again. */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { unlessAborted } from '../../base/waits/wait.js'
import { StateError } from '../../errors.js'
import { databaseError, mayPass } from './failure.js'

/**
 * Runs one statement and resolves to its rows. One text may contain several statements if it has no values, and then
 * gives no rows. `bigint` columns are returned as numbers, `numeric` ones as decimal text, `json` ones parsed.
 */
export type Ask = <R extends object>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>

export interface Database {
	/** Host and port, for messages. */
	readonly host: string
	/** Of the program whose state this is; several may be in one database. */
	readonly name: string
	/** Runs a single statement. It may run twice when the connection is lost, so it must be idempotent. */
	readonly ask: Ask
	/**
	 * Runs a transaction. As a statement it may run twice, from the start. Rethrows a StateError of `work`, else throws
	 * StateError `disk`.
	 */
	transact<T>(work: (ask: Ask) => Promise<T>): Promise<T>
	/** Runs a read-only transaction on one snapshot. */
	snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T>
	close(): Promise<void>
}

export interface DatabaseOptions {
	/** Maximum number of connections. */
	readonly connections: number
	/** The database rolls a transaction back if this program is idle in it for longer. */
	readonly standstillMs: number
	/** Once it aborts, the database has `STOP_MS` left: then whatever waits for it fails, and so does `close`. */
	readonly stop?: AbortSignal | undefined
}

const CONNECT_MS = 30_000
/** The database aborts a statement after this time; this program stops waiting a little later. */
const STATEMENT_MS = 30_000
const LOCK_MS = 10_000
const CLOSE_MS = 5_000
/** With `CLOSE_MS`, below the TimeoutStopSec of the unit. */
const STOP_MS = 20_000
const TRIES = 5

/** Name of the program, and settings for every connection to the database. Throws StateError for an invalid URL. */
function connectionTo(url: string) {
	if (!URL.canParse(url)) throw databaseError('(unknown)', new Error('its URL cannot be read'), 'reach')
	const { host, searchParams } = new URL(url)
	return {
		host: host || searchParams.get('host') || 'localhost',
		name: searchParams.get('name') || 'tracewatch',
		config: {
			connectionString: urlForPg(url),
			application_name: 'tracewatch',
			connectionTimeoutMillis: CONNECT_MS,
			query_timeout: STATEMENT_MS + 5_000,
			statement_timeout: STATEMENT_MS,
			lock_timeout: LOCK_MS,
			keepAlive: true,
			keepAliveInitialDelayMillis: 10_000,
			types: { getTypeParser },
		} satisfies pg.ClientConfig,
	}
}

/** Without the parameter of our own. pg treats these modes as verify-full, and prints a long warning about it. */
function urlForPg(url: string): string {
	const own = new URL(url)
	const { searchParams } = own
	searchParams.delete('name')
	const isAlias = ['prefer', 'require', 'verify-ca'].includes(sslModeOf(searchParams) ?? '')
	if (isAlias && searchParams.get('uselibpqcompat') !== 'true') searchParams.set('sslmode', 'verify-full')
	return own.href
}

/** Of several, pg takes the last. */
function sslModeOf(searchParams: URLSearchParams): string | undefined {
	return searchParams.getAll('sslmode').at(-1)
}

/**
 * Whether connections to another machine would be unencrypted: every `sslmode` but disable is TLS or no connection, and
 * without one only `ssl=true` or a file for TLS asks for it. The password may come from elsewhere than the URL, and
 * write access to the state is control over the alerts.
 */
export function isInClear(url: string): boolean {
	if (!URL.canParse(url)) return false
	const { hostname, searchParams } = new URL(url)
	const host = searchParams.get('host') ?? hostname
	const asksForTls =
		/^(true|1)$/.test(searchParams.get('ssl') ?? '') || TLS_FILES.some((name) => searchParams.get(name))
	if (host === '' || host.startsWith('/') || /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host)) return false
	return (sslModeOf(searchParams) ?? (asksForTls ? 'verify-full' : 'disable')) === 'disable'
}

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/** Connects to nothing yet. */
export function openDatabase(url: string, { connections, standstillMs, stop }: DatabaseOptions): Database {
	const { host, name, config } = connectionTo(url)
	const pool = new pg.Pool({
		...config,
		max: connections,
		idle_in_transaction_session_timeout: standstillMs,
		onConnect: async (client) => {
			await client.query(SETTINGS)
		},
	})
	// The pool has already discarded that connection and opens another on demand. Without a listener Node would exit.
	pool.on('error', () => undefined)

	const over = new AbortController()
	let stopTimer: NodeJS.Timeout | undefined
	const stopping = () => {
		const why = `it did not answer within ${STOP_MS / 1_000} s of the stop; what it has acknowledged is kept`
		stopTimer = setTimeout(() => over.abort(databaseError(host, new Error(why))), STOP_MS)
	}
	if (stop?.aborted) stopping()
	else stop?.addEventListener('abort', stopping, { once: true })

	async function connected(): Promise<pg.PoolClient> {
		try {
			// Throws at once where a file of the URL, such as sslrootcert, cannot be read.
			return await pool.connect()
		} catch (error) {
			throw databaseError(host, error, 'reach')
		}
	}

	async function untilOver<T>(act: () => Promise<T>): Promise<T> {
		over.signal.throwIfAborted()
		return await unlessAborted(act(), over.signal)
	}

	/** Tries again after a conflict or a lost connection. */
	async function tried<T>(act: (ask: Ask) => Promise<T>): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			over.signal.throwIfAborted()
			const client = await connected()
			client.on('error', ignore)
			let isUsable = false
			try {
				const result = await act(askOn(client, host))
				isUsable = true
				return result
			} catch (error) {
				if (attempt >= TRIES || !(error instanceof StateError && mayPass(error.cause))) throw error
			} finally {
				client.removeListener('error', ignore)
				// Discarding the connection also ends its open transaction.
				client.release(!isUsable)
			}
			await pause(10 * attempt)
		}
	}

	async function transaction<T>(begin: string, work: (ask: Ask) => Promise<T>): Promise<T> {
		return await tried(async (ask) => {
			await ask(begin)
			const result = await work(ask)
			await ask('commit')
			return result
		})
	}

	return {
		...{ host, name },
		ask: (text, values) => untilOver(() => tried((ask) => ask(text, values))),
		transact: (work) => untilOver(() => transaction('begin', work)),
		snapshot: (work) => untilOver(() => transaction('begin isolation level repeatable read read only', work)),
		async close() {
			stop?.removeEventListener('abort', stopping)
			clearTimeout(stopTimer)
			const ended = pool.end()
			over.signal.throwIfAborted()
			// Does not wait for a connection that hangs.
			await Promise.race([ended, pause(CLOSE_MS, undefined, { ref: false })])
		},
	}
}

/**
 * Names are resolved in the system catalogue only: objects that others create in `public`, or in a schema with this
 * user's name, must not replace them. An acknowledged commit must be on disk, whatever the database's settings. Each
 * statement sees what was committed before it.
 */
const SETTINGS = `
	set search_path = pg_catalog, pg_temp;
	select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local');
	set default_transaction_isolation = 'read committed'`

function askOn(client: pg.PoolClient, host: string): Ask {
	return async <R extends object>(text: string, values: readonly unknown[] = []) => {
		try {
			return (await client.query<R>(text, [...values])).rows
		} catch (error) {
			throw databaseError(host, error)
		}
	}
}

function ignore(): void {}

const BIGINT = 20

function getTypeParser(oid: number, format?: 'text' | 'binary') {
	// Milliseconds, counts and sequence numbers: far below 2^53.
	return oid === BIGINT ? Number : pg.types.getTypeParser(oid, format as 'text')
}
