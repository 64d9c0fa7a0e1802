import { mkdtemp, rm, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The system refuses longer paths, or cuts them: the socket is then another one, in a folder above. */
const LONGEST_PATH_BYTES = 100

/** A unix socket at a long path is reached through a short link, in a folder that only this user can write to. */
export async function throughShortPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
	const path = join(folder, name)
	if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return await use(path)
	const way = await mkdtemp(join(tmpdir(), 'tw-'))
	try {
		await symlink(folder, join(way, 's'))
		return await use(join(way, 's', name))
	} finally {
		await rm(way, { recursive: true, force: true })
	}
}

/** Listens at a socket of the folder, for this user only. Throws the system's error. */
export async function listenIn(server: Server, folder: string, name: string): Promise<void> {
	const listen = (path: string) =>
		new Promise<void>((resolve, reject) => {
			server.once('error', reject)
			// `listen` creates the socket with the umask of this moment; nothing else may be created with it.
			const umask = process.umask(0o177)
			try {
				server.listen(path, resolve)
			} finally {
				process.umask(umask)
			}
		})
	await throughShortPath(folder, name, listen)
}
