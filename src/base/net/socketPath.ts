import { mkdtemp, rm, symlink } from 'node:fs/promises'
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
