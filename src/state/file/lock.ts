/**
 * One daemon a state folder, by what the kernel gives back when a process dies, on every system that has unix sockets.
 *
 * Each comer listens on a socket of its own in the folder, and then takes the next free place in a row of links,
 * `lock.1.sock`, `lock.2.sock`, …: whoever made the highest link whose socket still answers has the folder. Making a
 * link fails when it is there already, so of many who saw the same dead holder one gets its place. The highest link is
 * never taken away, for a slow comer could otherwise take the place a second time.
 *
 * Not an abstract socket: its name stands in /proc/net/unix for every user, who may take it when the holder restarts.
 * Nobody but the owner of the folder can make or reach anything here. Machines that share a folder over a network are
 * not kept apart.
 */

import { randomBytes } from 'node:crypto'
import { lstat, readdir, readlink, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../../base/systemError.js'
import { StateError } from '../../errors.js'
import { diskError } from './diskErrors.js'
import { ownFolder } from './folder.js'
import { listenIn, type Probe, probeIn } from './lockSocket.js'

const linkName = /^lock\.(\d{1,15})\.sock$/
const socketName = /^lock\.held-[0-9a-f]{16}\.sock$/
/** Each goes with a place in the row that somebody else took first. */
const mostTries = 1000
/** Links that stay below the highest, so that no look at the folder, however slow, sees none at all. */
const linksKept = 8

/** Takes the folder, making it if need be; resolves to what gives it back. Throws StateError `locked` or `disk`. */
export async function lockState(folder: string): Promise<() => Promise<void>> {
	const real = await ownFolder(folder)
	if (process.platform === 'win32') throw cannotLock(folder, new Error('Windows is not supported'))
	for (let tries = 1; tries <= mostTries; tries++) {
		const name = `lock.held-${randomBytes(8).toString('hex')}.sock`
		const server = await listenIn(real, name).catch((error: unknown) => {
			throw cannotLock(folder, error)
		})
		const release = () => giveBack(server, real, name)
		try {
			const place = await takePlace(real, name)
			if (place === 'taken') {
				await release()
				continue
			}
			if (typeof place === 'object') throw heldError(folder, place)
			await tidy(real, name, place)
			return release
		} catch (error) {
			await release()
			throw error instanceof StateError ? error : diskError('write', real, error)
		}
	}
	throw new StateError('locked', `the state folder ${folder} cannot be locked: too many try at once`)
}

/**
 * The place in the row that is ours from now on; `taken`: others were quicker, look again; else who holds the folder.
 */
async function takePlace(real: string, name: string): Promise<number | 'taken' | Exclude<Probe, { state: 'gone' }>> {
	const top = highest(await readdir(real))
	if (top > 0) {
		const found = await probeLink(real, top)
		if (found.state !== 'gone') return found
	}
	const place = top + 1
	try {
		await symlink(name, linkOf(real, place))
	} catch (error) {
		if (codeOf(error) === 'EEXIST') return 'taken'
		throw error
	}
	// A comer that stood still since it looked may have taken a place that others have long left behind, and its socket
	// may have been tidied away.
	return highest(await readdir(real)) === place && (await isThere(join(real, name))) ? place : 'taken'
}

function linkOf(real: string, place: number): string {
	return join(real, `lock.${place}.sock`)
}

/** 0: nobody ever had it. */
function highest(names: readonly string[]): number {
	return Math.max(0, ...names.map((name) => Number(linkName.exec(name)?.[1] ?? 0)))
}

async function probeLink(real: string, place: number): Promise<Probe> {
	try {
		const name = await readlink(linkOf(real, place))
		return socketName.test(name) ? await probeIn(real, name) : { state: 'gone' }
	} catch (error) {
		// EINVAL: no link, and so none of ours.
		if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return { state: 'gone' }
		throw error
	}
}

async function isThere(path: string): Promise<boolean> {
	return await lstat(path).then(
		() => true,
		() => false,
	)
}

/**
 * Takes away what the dead left. A living comer whose socket goes with it finds that out before it believes to have the
 * folder.
 */
async function tidy(real: string, own: string, place: number): Promise<void> {
	for (const name of await readdir(real)) {
		const left = linkName.exec(name)?.[1]
		const isOld = left === undefined ? socketName.test(name) && name !== own : Number(left) < place - linksKept
		if (isOld) await rm(join(real, name), { force: true })
	}
}

async function giveBack(server: Server, real: string, name: string): Promise<void> {
	await new Promise<void>((resolve) => server.close(() => resolve()))
	await rm(join(real, name), { force: true }).catch(() => undefined)
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
	const words = cause instanceof Error ? cause.message : String(cause)
	return new StateError('locked', `the state folder ${folder} cannot be locked${hint} (${words})`, { cause })
}
