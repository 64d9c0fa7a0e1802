/**
 * A socket in the state folder that shows whether its process is alive: the kernel refuses connections from the moment
 * the process dies for any reason, and accepts them while it is suspended.
 */

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../../base/systemError.js'

/** The holder's description of itself. */
export interface Holder {
	readonly pid: number
	/** ISO 8601. */
	readonly since: string
}

export type Probe =
	| { readonly state: 'gone' }
	/** The process is alive, but did not identify itself. */
	| { readonly state: 'silent' }
	| { readonly state: 'held'; readonly holder: Holder }

const answerTimeoutMs = 1000
/** In bytes; a holder's answer has about 60. */
const longestAnswer = 256
/** Further connections are closed without an answer, which still shows that the process is alive. */
const askersAtOnce = 64
/** The system refuses or cuts longer paths. */
const longestPathBytes = 100

/**
 * Listens in the folder under this name, for this user only. Does not keep the process alive. Throws the system's
 * error.
 */
export async function listenIn(folder: string, name: string): Promise<Server> {
	const holder: Holder = { pid: process.pid, since: new Date(Date.now() - process.uptime() * 1000).toISOString() }
	const server = createServer((socket) => {
		socket.on('error', () => socket.destroy())
		// Also closed from this side: a client that keeps its connection open must not delay the end.
		socket.end(JSON.stringify(holder), () => socket.destroy())
	})
	server.maxConnections = askersAtOnce
	await throughShortPath(folder, name, async (path) => {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject)
			// `listen` creates the socket with the umask of this moment.
			const umask = process.umask(0o177)
			try {
				server.listen(path, () => resolve())
			} finally {
				process.umask(umask)
			}
		})
	})
	return server.unref()
}

/** Whether the process behind a socket of the folder is alive. Limits time and bytes of any answer. */
export async function probeIn(folder: string, name: string): Promise<Probe> {
	return await throughShortPath(folder, name, ask)
}

function ask(path: string): Promise<Probe> {
	return new Promise((resolve) => {
		const socket = connect(path)
		let text = ''
		let asked: NodeJS.Timeout
		const end = (found: Probe) => {
			clearTimeout(asked)
			socket.destroy()
			resolve(found)
		}
		// For the whole answer, also for one that arrives byte by byte.
		asked = setTimeout(() => end({ state: 'silent' }), answerTimeoutMs)
		socket.setEncoding('latin1')
		socket.on('data', (piece: string) => {
			text += piece
			if (text.length > longestAnswer) end({ state: 'silent' })
		})
		socket.once('end', () => end(readHolder(text)))
		socket.once('error', (error) => {
			const gone = ['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')
			end({ state: gone ? 'gone' : 'silent' })
		})
	})
}

/** Uses only a number and a time from the answer. */
function readHolder(text: string): Probe {
	try {
		const { pid, since } = JSON.parse(text) as Partial<Holder>
		if (Number.isSafeInteger(pid) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(since))) {
			return { state: 'held', holder: { pid: Number(pid), since: String(since) } }
		}
	} catch {
		// A foreign or incomplete answer: the process is alive anyway.
	}
	return { state: 'silent' }
}

/** A socket at a long path is reached through a short link, in a folder that only this user can write to. */
async function throughShortPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
	const path = join(folder, name)
	if (Buffer.byteLength(path) <= longestPathBytes) return await use(path)
	const way = await mkdtemp(join(tmpdir(), 'tw-'))
	try {
		await symlink(folder, join(way, 's'))
		return await use(join(way, 's', name))
	} finally {
		await rm(way, { recursive: true, force: true })
	}
}
