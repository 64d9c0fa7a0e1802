/**
 * Who may write to a state folder. The newest segment of the journal is that right. A process takes it by creating the
 * next segment; of several processes that saw the same newest segment, one succeeds. A process that was replaced finds
 * out when it writes. So two processes never both acknowledge a write, even where they cannot see each other's socket.
 *
 * For a second daemon not to throw out the first, each listens on a socket in the folder as long as it has the folder:
 * the kernel refuses connections from the moment the process dies for any reason, and accepts them while it is
 * suspended. Not an abstract socket: its name is in /proc/net/unix for every user, who could take it when the holder
 * restarts. Here only the owner of the folder can create or reach anything.
 */

import { readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { listenIn, throughShortPath } from '../../../base/net/socketPath.js'
import { codeOf } from '../../../base/systemError.js'
import { StateError } from '../../../errors.js'
import { createSegment, segmentsIn } from '../segments.js'
import { diskError } from './diskErrors.js'
import { ownFolder } from './folder.js'

/** With the id of the process. */
const SOCKET = /^held\.(\d{1,15})\.sock$/

export interface Hold {
	/** The segment that this process has made. */
	readonly segment: number
	/** Lets the next one come. */
	release(): Promise<void>
}

/** Takes the folder, and creates it if necessary. Throws StateError `locked` or `disk`. */
export async function holdFolder(folder: string): Promise<Hold> {
	const real = await ownFolder(folder)
	if (process.platform === 'win32') throw noSockets(folder, new Error('Windows is not supported'))
	try {
		// Before the holders are looked for: one that took the folder after this listened before it did.
		const newest = (await segmentsIn(real)).at(-1) ?? 0
		const holder = await holderIn(real)
		if (holder !== null) throw heldError(folder, holder)
		const release = await listen(folder, real)
		try {
			if (await createSegment(real, newest + 1)) return { segment: newest + 1, release }
		} catch (error) {
			await release()
			throw error
		}
		await release()
		throw heldError(folder, (await holderIn(real)) ?? 'that began at the same moment')
	} catch (error) {
		throw diskError('write', real, error)
	}
}

/** Id of the living process that has the folder. Deletes the sockets of dead ones. */
async function holderIn(real: string): Promise<string | null> {
	for (const name of await readdir(real)) {
		const pid = SOCKET.exec(name)?.[1]
		if (pid === undefined) continue
		if (await throughShortPath(real, name, isAlive)) return pid
		await rm(join(real, name), { force: true })
	}
	return null
}

/** Whether the process behind a socket is alive. Reads nothing from it. */
function isAlive(path: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(path)
		const end = (answer: boolean) => {
			socket.destroy()
			resolve(answer)
		}
		socket.once('connect', () => end(true))
		// EAGAIN: too many connections wait for a process that is suspended.
		socket.once('error', (error) => end(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')))
	})
}

/** Does not keep the process alive. */
async function listen(folder: string, real: string): Promise<() => Promise<void>> {
	const path = join(real, `held.${process.pid}.sock`)
	const server = createServer((socket) => socket.destroy())
	try {
		// Under its name once it listens: before that, a connection to it is refused, as to that of a dead process.
		const before = `held.${process.pid}.new`
		await rm(join(real, before), { force: true })
		await listenIn(server, real, before)
		await rename(join(real, before), path)
	} catch (error) {
		server.close()
		const isRefused = error instanceof Error && ['EAFNOSUPPORT', 'EPERM'].includes(codeOf(error) ?? '')
		throw isRefused ? noSockets(folder, error) : error
	}
	server.unref()
	return async () => {
		await new Promise<void>((resolve) => server.close(() => resolve()))
		await rm(path, { force: true }).catch(() => undefined)
	}
}

function heldError(folder: string, holder: string): StateError {
	return new StateError(
		'locked',
		`the state folder ${folder} is in use by process ${holder}; stop that one first, ` +
			'or give this one a folder of its own',
	)
}

function noSockets(folder: string, cause: Error): StateError {
	const words = `the state folder ${folder} cannot be locked: unix sockets are not allowed here (AF_UNIX)`
	return new StateError('locked', `${words} (${cause.message})`, { cause })
}
