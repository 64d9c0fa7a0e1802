/**
 * A door into a running daemon, for commands on the same machine: a socket in the state folder that only its owner can
 * open.
 */
import { rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PlainError } from '../errors.js'

/** What can be asked of a running daemon. */
export type ControlRequest = DeliveriesRequest | GapsRequest | { readonly act: 'health' }

export interface DeliveriesRequest {
	readonly act: 'retry' | 'drop'
	readonly ids: readonly string[]
}

/** What a person says of open gaps. */
export interface GapsRequest {
	readonly act: 'accept-gaps' | 'retry-gaps'
	readonly network: string
	/** Numbers in decimal. */
	readonly blocks: readonly string[]
}

/** How many deliveries or gaps the act found, how the daemon is, or why it failed. */
export type ControlReply = { readonly count: number } | { readonly health: ControlHealth } | { readonly error: string }

/** Whether all is well, and if not why, in a sentence. */
export interface ControlHealth {
	readonly ok: boolean
	readonly reason: string | null
	/** The same, one by one, where there are several. */
	readonly reasons?: readonly string[]
}

const longestRequest = 4_000_000
const answerTimeoutMs = 10_000
const unanswered = 'the running daemon did not answer; try again'

/** Beside the state file; whoever may read the state may use it. */
export function controlPath(stateDir: string): string {
	return join(stateDir, 'control.sock')
}

/**
 * Serves requests, one line of JSON each, until closed. The caller holds the lock of the folder, so a socket found
 * there is a leftover. Throws PlainError when the socket cannot be made.
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
		// Who asks may be gone before the answer (Ctrl-C); that is nobody's concern.
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
 * Asks the daemon of a state folder, and resolves to how many deliveries or gaps it found. Null when none listens
 * there. Throws PlainError when it cannot do what is asked.
 */
export async function askControl(stateDir: string, request: DeliveriesRequest | GapsRequest): Promise<number | null> {
	const reply = await ask(stateDir, request)
	if (reply === null) return null
	if (!('count' in reply)) throw new PlainError(unanswered)
	return reply.count
}

/** How the daemon of a state folder is; null when none listens there. Throws PlainError when it does not answer. */
export async function askHealth(stateDir: string): Promise<ControlHealth | null> {
	const reply = await ask(stateDir, { act: 'health' })
	if (reply === null) return null
	// A daemon of before this question was known refuses it, and is there all the same.
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
		socket.write(`${JSON.stringify(request)}\n`)
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
		socket.write(`${JSON.stringify(reply)}\n`)
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

function words(error: unknown): string {
	return error instanceof Error ? error.message : String(error)
}
