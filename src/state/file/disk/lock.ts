/**
 * Locks a state folder for one daemon by means that the kernel releases when a process dies, on every system with unix
 * sockets.
 *
 * Each process listens on a socket of its own in the folder, and then takes the next place in a row of symbolic links,
 * `lock.1.sock`, `lock.2.sock`, …: the folder belongs to the maker of the highest link whose socket still answers.
 * Making a link that exists fails, so only one of several processes that found the same dead holder gets its place. The
 * highest link is never deleted, because a slow process could otherwise take that place a second time.
 *
 * Not an abstract socket: its name is in /proc/net/unix for every user, who could take it when the holder restarts.
 * Here only the owner of the folder can create or reach anything. Machines that share a folder over a network are not
 * kept apart.
 */

import { randomBytes } from 'node:crypto'
import { lstat, readdir, readlink, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../../../base/systemError.js'
import { StateError } from '../../../errors.js'
import { diskError } from './diskErrors.js'
import { ownFolder } from './folder.js'
import { isAliveIn, listenAlive } from './lockSocket.js'

const linkName = /^lock\.(\d{1,15})\.sock$/
/** With the id of the process. */
const socketName = /^lock\.held-(\d{1,15})-[0-9a-f]{16}\.sock$/
/** Each try fails only because another process took the place first. */
const mostTries = 1000
/** Links kept below the highest, so that even a slow directory listing contains at least one. */
const linksKept = 8

/**
 * Locks the folder, and creates it if necessary; resolves to the function that unlocks it. Throws StateError `locked`
 * or `disk`.
 */
export async function lockState(folder: string): Promise<() => Promise<void>> {
	const real = await ownFolder(folder)
	if (process.platform === 'win32') throw cannotLock(folder, new Error('Windows is not supported'))
	for (let tries = 1; tries <= mostTries; tries++) {
		const name = `lock.held-${process.pid}-${randomBytes(8).toString('hex')}.sock`
		const server = await listenAlive(real, name).catch((error: unknown) => {
			throw cannotLock(folder, error)
		})
		const release = () => giveBack(server, real, name)
		try {
			const place = await takePlace(real, name)
			if (place === 'taken') {
				await release()
				continue
			}
			if (typeof place === 'object') throw heldError(folder, place.holder)
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
 * The place that this process has taken; `taken`: another process was faster, try again; otherwise the holder of the
 * folder.
 */
async function takePlace(real: string, name: string): Promise<number | 'taken' | { readonly holder: string }> {
	const top = highest(await readdir(real))
	if (top > 0) {
		const holder = await holderOf(real, top)
		if (holder !== null) return { holder }
	}
	const place = top + 1
	try {
		await symlink(name, linkOf(real, place))
	} catch (error) {
		if (codeOf(error) === 'EEXIST') return 'taken'
		throw error
	}
	// If this process was suspended between listing and linking, its place may be outdated, or its socket deleted by
	// `tidy`.
	return highest(await readdir(real)) === place && (await isThere(join(real, name))) ? place : 'taken'
}

function linkOf(real: string, place: number): string {
	return join(real, `lock.${place}.sock`)
}

/** 0: no link exists. */
function highest(names: readonly string[]): number {
	return Math.max(0, ...names.map((name) => Number(linkName.exec(name)?.[1] ?? 0)))
}

/** Id of the process that has this place; null: it is dead. */
async function holderOf(real: string, place: number): Promise<string | null> {
	try {
		const name = await readlink(linkOf(real, place))
		const [, pid = null] = socketName.exec(name) ?? []
		return pid !== null && (await isAliveIn(real, name)) ? pid : null
	} catch (error) {
		// EINVAL: not a symbolic link, so not made by this program.
		if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return null
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
 * Deletes the sockets and links of dead processes. A living process whose socket is deleted notices it before it takes
 * the folder (see `takePlace`).
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

function heldError(folder: string, pid: string): StateError {
	return new StateError(
		'locked',
		`the state folder ${folder} is in use by process ${pid}; stop that one first, or give this one a folder of its own`,
	)
}

function cannotLock(folder: string, cause: unknown): StateError {
	const code = codeOf(cause)
	const hint = code === 'EAFNOSUPPORT' || code === 'EPERM' ? ': unix sockets are not allowed here (AF_UNIX)' : ''
	const words = cause instanceof Error ? cause.message : String(cause)
	return new StateError('locked', `the state folder ${folder} cannot be locked${hint} (${words})`, { cause })
}
