/** Errors of the operating system about files, in words for operators. */

import { codeOf, systemWords } from '../../../base/systemError.js'
import { StateError } from '../../../errors.js'

export function diskError(act: 'read' | 'write' | 'make', path: string, cause: unknown): StateError {
	if (cause instanceof StateError) return cause
	const code = codeOf(cause)
	const words = (code && systemWords(code)) || (cause instanceof Error ? cause.message : String(cause))
	const todo = act === 'read' || code === null || todos[code] === undefined ? '' : `: ${todos[code]}`
	const end = act === 'write' && code !== 'ENOENT' ? '; what was there before is still there' : ''
	return new StateError('disk', `cannot ${act} ${path}: ${words}${code ? ` (${code})` : ''}${todo}${end}`, { cause })
}

/** What the operator can do; polls and results are retried automatically. */
const todos: Readonly<Record<string, string | undefined>> = {
	ENOENT: 'its folder is gone: put it back, or make it anew; a running daemon then continues',
	ENOSPC: 'make room there; a running daemon then continues',
	EDQUOT: 'make room there or raise the quota; a running daemon then continues',
	EROFS: 'mount it for writing, or name it in `ReadWritePaths=` of the service; a running daemon then continues',
	EIO: 'look at the disk (`dmesg`), and take a copy of the folder',
}

export function isMissing(error: unknown): boolean {
	return codeOf(error) === 'ENOENT'
}
