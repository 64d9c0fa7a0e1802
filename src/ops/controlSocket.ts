/**
 * The control socket, through which commands on the same machine reach a running daemon: HTTP over a Unix socket in the
 * state folder, which only its owner can open. The body of a POST is a request, its answer a reply, both in JSON.
 */
import { rm } from 'node:fs/promises'
import { createServer, request as send } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listenIn, throughShortPath } from '../base/net/socketPath.js'
import { codeOf } from '../base/systemError.js'
import { PlainError } from '../errors.js'
import type { Health, NetworkHealth } from '../model/trouble.js'

const controlRequest = z.discriminatedUnion('act', [
	z.object({ act: z.enum(['retry', 'drop']), ids: z.array(z.string()).readonly() }),
	/** An operator's decision about open gaps. Block numbers in decimal. */
	z.object({
		act: z.literal('mark-gaps'),
		mark: z.enum(['accept', 'retry']),
		network: z.string(),
		blocks: z.array(z.string().regex(/^\d{1,20}$/)).readonly(),
	}),
	z.object({ act: z.literal('health') }),
])

export type ControlRequest = z.infer<typeof controlRequest>
export type ChangeRequest = Exclude<ControlRequest, { readonly act: 'health' }>

export type ControlReply = { readonly count: number } | { readonly health: ControlHealth } | { readonly error: string }

/** `heads`: of networks whose head is unknown or behind the checkpoint. What is absent, there is none of. */
export type ControlHealth = Omit<Health, 'networks'> & { readonly heads?: readonly NetworkHealth[] }

const NAME = 'control.sock'
const ANSWER_TIMEOUT_MS = 10_000

/** Beside the state file. Users who may read the state may use the socket. */
export function controlPath(stateDir: string): string {
	return join(stateDir, NAME)
}

/**
 * Serves requests until the returned function is called. The caller holds the lock of the folder, so an existing socket
 * is a leftover and is removed. Throws PlainError when the socket cannot be created.
 */
export async function serveControl(
	stateDir: string,
	handle: (request: ControlRequest) => Promise<ControlReply>,
): Promise<() => Promise<void>> {
	const path = controlPath(stateDir)
	await rm(path, { force: true })
	const server = createServer((request, response) => {
		text(request)
			.then((body) => handle(controlRequest.parse(JSON.parse(body))))
			.catch((error: unknown): ControlReply => ({ error: words(error) }))
			.then((reply) => response.end(JSON.stringify(reply)))
	})
	try {
		await listenIn(server, stateDir, NAME)
	} catch (cause) {
		const reason = `cannot make ${path}, through which \`tracewatch deliveries\` reaches the daemon: ${words(cause)}`
		throw new PlainError(reason, { cause })
	}
	return async () => {
		server.closeAllConnections()
		await new Promise((resolve) => server.close(resolve))
		await rm(path, { force: true })
	}
}

/** Resolves to the number of deliveries or gaps that the daemon of a state folder found. Else as `ask`. */
export async function askControl(stateDir: string, request: ChangeRequest): Promise<number | null> {
	const wanted = { field: 'count', failure: 'could not do it' } as const
	return (await ask<{ readonly count: number }>(stateDir, request, wanted))?.count ?? null
}

/** The health of the daemon of a state folder. Else as `ask`. */
export async function askHealth(stateDir: string): Promise<ControlHealth | null> {
	const wanted = { field: 'health', failure: 'cannot say how it is' } as const
	return (await ask<{ readonly health: ControlHealth }>(stateDir, { act: 'health' }, wanted))?.health ?? null
}

/** Null when no daemon listens. Throws PlainError when it does not answer, or answers with an error. */
async function ask<T extends object>(
	stateDir: string,
	request: ControlRequest,
	{ field, failure }: { readonly field: keyof T & string; readonly failure: string },
): Promise<T | null> {
	let reply: T | { readonly error: string }
	try {
		reply = JSON.parse(await throughShortPath(stateDir, NAME, (path) => posted(path, JSON.stringify(request))))
	} catch (cause) {
		if (['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTSOCK'].includes(codeOf(cause) ?? '')) return null
		const later = request.act === 'health' ? '' : ', and may still carry this out'
		throw new PlainError(`the running daemon did not answer; try again (${words(cause)})${later}`, { cause })
	}
	if (typeof reply !== 'object' || reply === null)
		throw new PlainError(`the running daemon ${failure}: its answer is not an object`)
	if ('error' in reply) throw new PlainError(`the running daemon ${failure}: ${reply.error}`)
	if (!(field in reply)) throw new PlainError(`the running daemon ${failure}: its answer lacks \`${field}\``)
	return reply
}

function posted(socketPath: string, body: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const options = { socketPath, method: 'POST', timeout: ANSWER_TIMEOUT_MS }
		const sent = send(options, (response) => text(response).then(resolve, reject))
		sent.once('timeout', () => sent.destroy(new Error('no answer in time'))).once('error', reject)
		sent.end(body)
	})
}

function words(error: unknown): string {
	return error instanceof Error ? error.message : String(error)
}
