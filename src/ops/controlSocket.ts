/**
 * The control socket, through which commands on the same machine reach a running daemon. It is in the state folder, and
 * only its owner can open it.
 */
import { rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PlainError } from '../errors.js'
import type { NetworkHealth, StuckLook } from '../model/trouble.js'

/** Requests to a running daemon. */
export type ControlRequest = DeliveriesRequest | GapsRequest | { readonly act: 'health' }

export interface DeliveriesRequest {
	readonly act: 'retry' | 'drop'
	readonly ids: readonly string[]
}

/** An operator's decision about open gaps. */
export interface GapsRequest {
	readonly act: 'accept-gaps' | 'retry-gaps'
	readonly network: string
	/** Block numbers in decimal. */
	readonly blocks: readonly string[]
}

/** The number of deliveries or gaps found, the health of the daemon, or an error message. */
export type ControlReply = { readonly count: number } | { readonly health: ControlHealth } | { readonly error: string }

/** Whether the daemon is healthy, and one sentence on the reason if not. */
export interface ControlHealth {
	readonly ok: boolean
	readonly reason: string | null
	/** The single reasons, when there are several. */
	readonly reasons?: readonly string[]
	/** Absent: none. */
	readonly stuck?: readonly StuckLook[]
	/** Of networks whose head is unknown or behind the checkpoint; absent: as `stuck`. */
	readonly heads?: readonly NetworkHealth[]
}

const longestRequest = 4_000_000
const answerTimeoutMs = 10_000
const unanswered = 'the running daemon did not answer; try again'

/** Beside the state file. Users who may read the state may use the socket. */
export function controlPath(stateDir: string): string {
	return join(stateDir, 'control.sock')
}

/**
 * Serves requests, one line of JSON each, until the returned function is called. The caller holds the lock of the
 * folder, so an existing socket is a leftover and is removed. Throws PlainError when the socket cannot be created.
 */
export async function serveControl(
	stateDir: string,
	handle: (request: ControlRequest) => Promise<ControlReply>,
): Promise<() => Promise<void>> {
	const path = controlPath(stateDir)
	await rm(path, { force: true })
	const open = new Set<Socket>()
	const server = createServer((socket) => {
		open.add(socket)
		socket.on('close', () => open.delete(socket))
		socket.on('error', () => socket.destroy())
		// The client may have disconnected before the answer, as after Ctrl-C.
		answerLines(socket, handle).catch(() => socket.destroy())
	})
	const umask = process.umask(0o177)
	try {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject)
			server.listen(path, resolve)
		})
	} catch (cause) {
		throw new PlainError(
			`cannot make ${path}, through which \`tracewatch deliveries\` reaches the daemon: ${words(cause)}`,
			{
				cause,
			},
		)
	} finally {
		process.umask(umask)
	}
	return async () => {
		for (const socket of open) socket.destroy()
		await new Promise((resolve) => server.close(resolve))
		await rm(path, { force: true })
	}
}

/**
 * Sends a request to the daemon of a state folder. Resolves to the number of deliveries or gaps that it found; null
 * when no daemon listens. Throws PlainError when the daemon reports an error or does not answer.
 */
export async function askControl(stateDir: string, request: DeliveriesRequest | GapsRequest): Promise<number | null> {
	const reply = await ask(stateDir, request)
	if (reply === null) return null
	if (!('count' in reply)) throw new PlainError(unanswered)
	return reply.count
}

/**
 * The health of the daemon of a state folder; null when no daemon listens. Throws PlainError when it does not answer.
 */
export async function askHealth(stateDir: string): Promise<ControlHealth | null> {
	const reply = await ask(stateDir, { act: 'health' })
	if (reply === null) return null
	// A daemon that answers with an error runs.
	return 'health' in reply ? reply.health : { ok: true, reason: null }
}

async function ask(stateDir: string, request: ControlRequest): Promise<ControlReply | null> {
	const socket = createConnection(controlPath(stateDir))
	try {
		await new Promise<void>((resolve, reject) => {
			socket.once('connect', resolve)
			socket.once('error', reject)
		})
	} catch {
		return null
	}
	try {
		socket.setTimeout(answerTimeoutMs, () => socket.destroy(new Error('no answer in time')))
		socket.write(lineOf(request))
		for await (const line of createInterface({ input: socket })) {
			const reply: ControlReply = JSON.parse(line)
			if ('error' in reply && request.act !== 'health')
				throw new PlainError(`the running daemon could not do it: ${reply.error}`)
			return reply
		}
		throw new PlainError(unanswered)
	} catch (cause) {
		throw cause instanceof PlainError ? cause : new PlainError(`${unanswered} (${words(cause)})`, { cause })
	} finally {
		socket.destroy()
	}
}

async function answerLines(socket: Socket, handle: (request: ControlRequest) => Promise<ControlReply>): Promise<void> {
	let read = 0
	for await (const line of createInterface({ input: socket })) {
		read += line.length
		if (read > longestRequest) return void socket.destroy()
		let reply: ControlReply
		try {
			reply = await handle(readRequest(line))
		} catch (error) {
			reply = { error: words(error) }
		}
		socket.write(lineOf(reply))
	}
}

function readRequest(line: string): ControlRequest {
	const value: unknown = JSON.parse(line)
	if (typeof value !== 'object' || value === null || !('act' in value)) throw new Error('no request')
	if (value.act === 'health') return { act: 'health' }
	if (value.act === 'accept-gaps' || value.act === 'retry-gaps') return readGapsRequest(value.act, value)
	const { act, ids } = value as { act: unknown; ids?: unknown }
	if (act !== 'retry' && act !== 'drop') throw new Error(`cannot do \`${String(act)}\``)
	if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) throw new Error('ids must be a list of texts')
	return { act, ids }
}

function readGapsRequest(act: GapsRequest['act'], value: object): GapsRequest {
	const { network, blocks } = value as { network?: unknown; blocks?: unknown }
	if (typeof network !== 'string') throw new Error('network must be a text')
	const areNumbers = Array.isArray(blocks) && blocks.every((one) => typeof one === 'string' && /^\d{1,20}$/.test(one))
	if (!areNumbers) throw new Error('blocks must be a list of numbers, as texts')
	return { act, network, blocks }
}

/** Newer Node versions end a line at U+2028 and U+2029 too, which JSON may hold unescaped. */
function lineOf(message: ControlRequest | ControlReply): string {
	return `${JSON.stringify(message).replace(/[\u2028\u2029]/g, (c) => (c === '\u2028' ? '\\u2028' : '\\u2029'))}\n`
}

function words(error: unknown): string {
	return error instanceof Error ? error.message : String(error)
}
