/**
 * The way to the database: a few connections that come again by themselves, and transactions that are tried again when
 * that is safe.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { StateError } from '../../errors.js'
import { databaseError, isConflict, isCut } from './failure.js'

/**
 * One statement; its rows (several without values may stand in one text, and give none). `bigint` columns come as
 * numbers, `numeric` ones as decimal text, `json` ones parsed.
 */
export type Ask = <R extends object>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>

export interface Database {
	/** Host and port, for messages. */
	readonly host: string
	/**
	 * A statement on its own. It may be carried out twice when the connection is cut, so that must make no difference.
	 */
	readonly ask: Ask
	/**
	 * All of it or nothing. `work` may be called again from its beginning, after nothing of the first time was kept.
	 * Throws what `work` threw as a StateError, else StateError `disk`; then it was not kept, except perhaps when the
	 * connection was cut at the very end.
	 */
	transact<T>(work: (ask: Ask) => Promise<T>): Promise<T>
	/** Reads only, all of it as of one moment. */
	snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T>
	close(): Promise<void>
}

export interface DatabaseOptions {
	/** Most connections at a time. */
	readonly connections: number
	/** A change in which this program stands still for longer is undone by the database. */
	readonly standstillMs: number
}

const CONNECT_MS = 30_000
/** A statement that takes longer is ended by the database, and given up here a little later. */
const STATEMENT_MS = 30_000
const LOCK_MS = 10_000
const CLOSE_MS = 5_000
const TRIES = 5

/** What every connection to the database is opened with. Throws StateError for a URL that cannot be read. */
export function connectionTo(url: string) {
	if (!URL.canParse(url)) throw databaseError('(unknown)', new Error('its URL cannot be read'), 'reach')
	const { host, searchParams } = new URL(url)
	return {
		host: host || searchParams.get('host') || 'localhost',
		config: {
			connectionString: url,
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

/**
 * Whether all would go to another machine without TLS: as long as the URL does not say `sslmode`, none is used. The
 * password may stand elsewhere than in the URL, and the state decides what is told.
 */
export function isInClear(url: string): boolean {
	if (!URL.canParse(url)) return false
	const { hostname, searchParams } = new URL(url)
	const host = searchParams.get('host') ?? hostname
	const mode = searchParams.get('sslmode') ?? (searchParams.get('ssl') === 'true' ? 'verify-full' : 'disable')
	if (host === '' || host.startsWith('/') || /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host)) return false
	return mode === 'disable' || mode === 'allow' || mode === 'prefer'
}

/** Nothing is contacted yet. */
export function openDatabase(url: string, { connections, standstillMs }: DatabaseOptions): Database {
	const { host, config } = connectionTo(url)
	const pool = new pg.Pool({
		...config,
		max: connections,
		idle_in_transaction_session_timeout: standstillMs,
		onConnect: async (client) => {
			await client.query(SETTINGS)
		},
	})
	// The pool has already let go of that connection; whoever asks next gets another. Without a listener Node would end.
	pool.on('error', () => undefined)

	async function connect(): Promise<pg.PoolClient> {
		try {
			const client = await pool.connect()
			client.on('error', ignore)
			return client
		} catch (error) {
			throw databaseError(host, error, 'reach')
		}
	}

	function giveBack(client: pg.PoolClient, broken: boolean): void {
		client.removeListener('error', ignore)
		client.release(broken)
	}

	/** `isSafe` says of an error of the database whether what failed may be tried again. */
	async function tried<T>(isSafe: (cause: unknown) => boolean, act: (ask: Ask) => Promise<T>): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			const client = await connect()
			try {
				const result = await act(askOn(client, host))
				giveBack(client, false)
				return result
			} catch (error) {
				const cause = error instanceof StateError ? error.cause : undefined
				// Letting go of the connection also ends whatever stood open on it.
				giveBack(client, cause !== undefined)
				if (cause === undefined || attempt >= TRIES || !isSafe(cause)) throw error
				await pause(10 * attempt)
			}
		}
	}

	async function transaction<T>(begin: string, work: (ask: Ask) => Promise<T>): Promise<T> {
		let ending = false
		const isSafe = (cause: unknown) => isConflict(cause) || (isCut(cause) && !ending)
		return await tried(isSafe, async (ask) => {
			ending = false
			await ask(begin)
			let result: T
			try {
				result = await work(ask)
			} catch (error) {
				if (!(error instanceof StateError && error.cause !== undefined)) await ask('rollback')
				throw error
			}
			ending = true
			await ask('commit')
			return result
		})
	}

	return {
		host,
		ask: (text, values) =>
			tried(
				(cause) => isCut(cause) || isConflict(cause),
				(ask) => ask(text, values),
			),
		transact: (work) => transaction('begin', work),
		snapshot: (work) => transaction('begin isolation level repeatable read read only', work),
		async close() {
			// A connection that hangs is not waited for.
			await Promise.race([pool.end(), pause(CLOSE_MS, undefined, { ref: false })])
		},
	}
}

/**
 * Names are found in the system's catalogue alone: what others put into `public` or a schema of this user's name must
 * not stand in for it. A change that was acknowledged must be on disk, whatever this database does else; and each
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
