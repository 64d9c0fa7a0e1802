/** What the operating system says about a file, in a person's words. */

import { stat } from 'node:fs/promises'
import { StateError } from '../../errors.js'

const WORDS: Readonly<Record<string, string>> = {
	ENOSPC: 'the disk is full',
	EDQUOT: 'the disk quota is used up',
	EFBIG: 'the file would become larger than is allowed',
	EIO: 'the disk reports an error',
	EROFS: 'the file system is mounted read-only',
	EACCES: 'this user may not',
	EPERM: 'this user may not',
	ENOENT: 'the folder is not there',
	ENOTDIR: 'a part of the path is no folder',
	EISDIR: 'it is a folder',
	ELOOP: 'it is a link, and the state is read from plain files only',
	EMFILE: 'too many files are open',
	ENFILE: 'too many files are open',
}

export function diskError(act: 'read' | 'write' | 'make', path: string, cause: unknown): StateError {
	if (cause instanceof StateError) return cause
	const code = codeOf(cause)
	const words = (code && WORDS[code]) ?? (cause instanceof Error ? cause.message : String(cause))
	const end = act === 'write' ? '; what was there before is still there' : ''
	return new StateError('disk', `cannot ${act} ${path}: ${words}${code ? ` (${code})` : ''}${end}`, { cause })
}

export function isMissing(error: unknown): boolean {
	return codeOf(error) === 'ENOENT'
}

export function codeOf(error: unknown): string | undefined {
	const code = (error as { code?: unknown } | null)?.code
	return typeof code === 'string' ? code : undefined
}

/** Throws StateError `disk` when that cannot be told. */
export async function exists(path: string): Promise<boolean> {
	try {
		await stat(path)
		return true
	} catch (error) {
		if (isMissing(error)) return false
		throw diskError('read', path, error)
	}
}
