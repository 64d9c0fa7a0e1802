import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PlainError } from '../../errors.js'

export interface WholeFile {
	readonly path: string
	readonly text: string
	/** Mode of the file, whatever the umask. */
	readonly mode: number
	/** Mode of folders that are created, whatever the umask. */
	readonly folderMode: number
}

/**
 * Writes the whole file or nothing. The file is on disk when the function resolves, and never has wider permissions
 * than `mode`. Throws PlainError.
 */
export async function writeWhole({ path, text, mode, folderMode }: WholeFile): Promise<void> {
	const fresh = `${path}.${randomBytes(6).toString('hex')}`
	try {
		await makeFolder(dirname(path), folderMode)
		const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
		const file = await open(fresh, flags, 0o600)
		try {
			await file.writeFile(text)
			await file.chmod(mode)
			// Keeps the owner and group, so that users who could read the file still can.
			const before = await stat(path).catch(() => null)
			if (before !== null) await file.chown(before.uid, before.gid).catch(() => {})
			await file.sync()
		} finally {
			await file.close()
		}
		await rename(fresh, path)
	} catch (cause) {
		await rm(fresh, { force: true }).catch(() => {})
		const code = cause instanceof Error && 'code' in cause ? cause.code : null
		const hint = code === 'EACCES' || code === 'EPERM' ? 'this needs root: run it with sudo' : String(code ?? cause)
		throw new PlainError(`${path} cannot be written: ${hint}`, { cause })
	}
}

/** With the umask of a hardened machine, the user of the service could not read the folders. */
async function makeFolder(folder: string, mode: number): Promise<void> {
	const first = await mkdir(folder, { recursive: true, mode })
	if (first === undefined) return
	for (let made = folder; made.length >= first.length; made = dirname(made)) await chmod(made, mode)
}

/** Writes all files in order. When one cannot be written, or `check` rejects, what was there before is restored. */
export async function writeAll(files: readonly WholeFile[], check?: () => Promise<void>): Promise<void> {
	const undo: (() => Promise<void>)[] = []
	try {
		for (const file of files) {
			const before = await asItIs(file)
			await writeWhole(file)
			undo.unshift(() => (before === null ? rm(file.path) : writeWhole(before)))
		}
		await check?.()
	} catch (error) {
		for (const step of undo) await step().catch(() => {})
		throw error
	}
}

async function asItIs(file: WholeFile): Promise<WholeFile | null> {
	try {
		const [text, { mode }] = await Promise.all([readFile(file.path, 'utf8'), stat(file.path)])
		return { ...file, text, mode: mode & 0o777 }
	} catch (error) {
		if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
		throw new PlainError(`${file.path} cannot be read: ${error instanceof Error ? error.message : error}`)
	}
}
