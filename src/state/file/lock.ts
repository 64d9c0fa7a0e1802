/**
 * One daemon a state folder. On Linux a socket with an abstract name, which the kernel gives back the moment its holder
 * dies, however it dies, and which a paused holder keeps; lock files with a time in them fail at both. Elsewhere a socket
 * file. Abstract names are those of one network namespace: two containers that share a folder are not kept apart.
 */

import { createHash } from 'node:crypto'
import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { StateError } from '../../errors.js'
import { codeOf, diskError } from './disk.js'

/** Who holds a lock, as it says itself. */
interface Holder {
	readonly pid: number
	readonly since: string
}

type Probe =
	| { readonly state: 'gone' }
	| { readonly state: 'silent' }
	| { readonly state: 'held'; readonly holder: Holder }

const ANSWER_TIMEOUT_MS = 1000
/** Socket paths above this are refused or cut by the system. */
const MAX_PATH_BYTES = 100

export interface LockOptions {
	/** Default: abstract on Linux, else a socket file. */
	readonly kind?: 'abstract' | 'path'
}

/** Takes the folder, making it if need be; resolves to what gives it back. Throws StateError `locked` or `disk`. */
export async function lockState(folder: string, options: LockOptions = {}): Promise<() => Promise<void>> {
	const kind = options.kind ?? (process.platform === 'linux' ? 'abstract' : 'path')
	const real = await realFolder(folder)
	const address = kind === 'abstract' ? abstractName(real) : pathName(real)
	const server = await listen(address).catch(async (error: unknown) => {
		if (codeOf(error) !== 'EADDRINUSE') throw cannotLock(folder, error)
		const found = await probe(address)
		// An abstract name without its holder is free again; a file outlives it.
		if (found.state === 'gone') return await takeOver(address, kind, folder)
		throw heldError(folder, found)
	})
	return () => new Promise((resolve) => server.close(() => resolve()))
}

async function realFolder(folder: string): Promise<string> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 })
		return await realpath(folder)
	} catch (error) {
		throw diskError('make', folder, error)
	}
}

function digestOf(real: string): string {
	return createHash('sha256').update(real).digest('hex').slice(0, 32)
}

function abstractName(real: string): string {
	return `\0tracewatch-${digestOf(real)}`
}

function pathName(real: string): string {
	const inside = join(real, 'lock.sock')
	return Buffer.byteLength(inside) <= MAX_PATH_BYTES ? inside : `/tmp/tracewatch-${digestOf(real)}.sock`
}

async function listen(address: string): Promise<Server> {
	const holder: Holder = { pid: process.pid, since: new Date(Date.now() - process.uptime() * 1000).toISOString() }
	const server = createServer((socket) => {
		socket.on('error', () => socket.destroy())
		// Closed from here as well: who asks and then lingers must not hold up the end.
		socket.end(JSON.stringify(holder), () => socket.destroy())
	})
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject)
		server.listen(address, () => resolve())
	})
	// The lock alone keeps no process alive.
	return server.unref()
}

async function takeOver(address: string, kind: LockOptions['kind'], folder: string): Promise<Server> {
	if (kind === 'path') {
		// Set aside first and asked again there: whoever took over in this moment gets the name back.
		const aside = `${address}.${process.pid}`
		await rename(address, aside).catch(() => undefined)
		const found = await probe(aside)
		if (found.state !== 'gone') {
			await rename(aside, address)
			throw heldError(folder, found)
		}
		await rm(aside, { force: true })
	}
	return await listen(address).catch(async (error: unknown) => {
		throw codeOf(error) === 'EADDRINUSE' ? heldError(folder, await probe(address)) : cannotLock(folder, error)
	})
}

async function probe(address: string): Promise<Probe> {
	const socket = connect(address)
	let text = ''
	socket.setEncoding('utf8')
	socket.on('data', (piece: string) => {
		text += piece
	})
	const answer = new Promise<Probe>((resolve) => {
		socket.once('end', () => resolve(parseHolder(text)))
		socket.once('error', (error) => {
			const gone = ['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')
			resolve({ state: gone ? 'gone' : 'silent' })
		})
		socket.setTimeout(ANSWER_TIMEOUT_MS, () => resolve({ state: 'silent' }))
	})
	try {
		return await answer
	} finally {
		socket.destroy()
	}
}

function parseHolder(text: string): Probe {
	try {
		const { pid, since } = JSON.parse(text) as Partial<Holder>
		if (typeof pid === 'number' && typeof since === 'string') return { state: 'held', holder: { pid, since } }
	} catch {
		// Not one of ours, or cut off: it is held all the same.
	}
	return { state: 'silent' }
}

function heldError(folder: string, found: Probe): StateError {
	const who =
		found.state === 'held'
			? `by process ${found.holder.pid}, running since ${found.holder.since}; stop that one first`
			: 'by another process, which does not answer (it may be paused); stop that one first'
	return new StateError('locked', `the state folder ${folder} is in use ${who}, or give this one a folder of its own`)
}

function cannotLock(folder: string, cause: unknown): StateError {
	const code = codeOf(cause)
	const hint = code === 'EAFNOSUPPORT' || code === 'EPERM' ? ': unix sockets are not allowed here (AF_UNIX)' : ''
	const words = cause instanceof Error ? cause.message.replaceAll('\0', '@') : String(cause)
	return new StateError('locked', `the state folder ${folder} cannot be locked${hint} (${words})`, { cause })
}
