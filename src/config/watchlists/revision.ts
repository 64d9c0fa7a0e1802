import { createHash } from 'node:crypto'
import { readChunks } from '../openFile.js'

/** A file and the hash of what it holds; null: it cannot be read. */
export interface Content {
	readonly path: string
	readonly digest: string | null
}

/** More than this, some five million addresses, is no list for one machine. */
export const mostFileBytes = 256 * 2 ** 20

/** One name for files in a certain state: the same names and contents in the same order have the same. */
export function revisionOf(contents: readonly Content[]): string {
	const hash = createHash('sha256')
	for (const { path, digest } of contents) hash.update(`${path}\0${digest ?? 'absent'}\0`)
	return hash.digest('hex')
}

/** Null for null. */
export async function contentHash(bytes: Uint8Array | null): Promise<string | null> {
	// Beside the event loop: a file may hold many megabytes.
	return bytes && Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

/** Of a file that is only looked at; null when it cannot be read. Rejects only with the signal's reason. */
export async function fileDigest(path: string, signal: AbortSignal): Promise<string | null> {
	const hash = createHash('sha256')
	try {
		for await (const chunk of readChunks(path, mostFileBytes, signal)) hash.update(chunk)
	} catch {
		signal.throwIfAborted()
		return null
	}
	return hash.digest('hex')
}
