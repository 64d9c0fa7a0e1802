/**
 * A socket in the state folder that tells whether its process lives: the kernel refuses a connection to it from the
 * moment the process dies, however it dies, and goes on taking them while it is paused.
 */

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../base/systemError.js'

/** Who holds a lock, as it says itself. */
export interface Holder {
	readonly pid: number
	/** ISO 8601. */
	readonly since: string
}

export type Probe =
	| { readonly state: 'gone' }
	/** Its process lives, and does not say who it is. */
	| { readonly state: 'silent' }
	| { readonly state: 'held'; readonly holder: Holder }

const answerTimeoutMs = 1000
/** The words of a holder have 60 bytes. */
const longestAnswer = 256
/** Who asks beyond these is taken and let go without a word, which says enough. */
const askersAtOnce = 64
/** Longer paths are refused or cut by the system. */
const longestPathBytes = 100

/** Listens in the folder under this name, for this user only. Keeps no process alive. Throws what the system says. */
export async function listenIn(folder: string, name: string): Promise<Server> {
	const holder: Holder = { pid: process.pid, since: new Date(Date.now() - process.uptime() * 1000).toISOString() }
	const server = createServer((socket) => {
		socket.on('error', () => socket.destroy())
		// Closed from here as well: who asks and then lingers must not hold up the end.
		socket.end(JSON.stringify(holder), () => socket.destroy())
	})
	server.maxConnections = askersAtOnce
	await throughShortPath(folder, name, async (path) => {
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject)
			// The name is made before `listen` returns, with the rights of this moment.
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

/** Whether the process behind a socket of the folder lives. Bounded in time and bytes, whatever answers. */
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
		// For the whole of the answer: one that comes in drops must not take for ever.
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

/** Nothing of it is believed but a number and a time. */
function readHolder(text: string): Probe {
	try {
		const { pid, since } = JSON.parse(text) as Partial<Holder>
		if (Number.isSafeInteger(pid) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(since))) {
			return { state: 'held', holder: { pid: Number(pid), since: String(since) } }
		}
	} catch {
		// Not one of ours, or cut off: it lives all the same.
	}
	return { state: 'silent' }
}

/** A socket in a deep folder is reached through a short name, in a folder that nobody else can write to. */
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
