/**
 * One PostgreSQL server for all test files of a run (vitest's `globalSetup`). The first file that asks starts it, so
 * that a run without such a file does not wait for it. Each file that asks is told a number of its own.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { type Postgres, startPostgres } from './postgres.js'

export interface AnswerOfRun {
	readonly port: number
	/** How many files asked before. */
	readonly file: number
}

declare module 'vitest' {
	interface ProvidedContext {
		readonly postgresOfRun: string
	}
}

/** The server, or in words why there is none. */
type Started = Postgres | { readonly why: string }

export async function setup(project: TestProject): Promise<() => Promise<void>> {
	let started: Promise<Started> | null = null
	let files = 0
	const start = () => startPostgres().catch((error: unknown) => ({ why: (error as Error).message }))
	const desk = createServer(async (_request, response) => {
		started ??= start()
		const server = await started
		const answer = 'why' in server ? server : { port: server.port, file: files++ }
		response.end(JSON.stringify(answer))
	}).listen(0, '127.0.0.1')
	await once(desk, 'listening')
	project.provide('postgresOfRun', `http://127.0.0.1:${(desk.address() as AddressInfo).port}`)
	return async () => {
		desk.close()
		const server = await started
		if (server && 'stop' in server) await server.stop()
	}
}
