import { createHash } from 'node:crypto'
import { readChunks } from '../yaml/openFile.js'

/** A file and the hash of its contents; null: the file cannot be read. */
export interface Content {
	readonly path: string
	readonly digest: string | null
}

/** 256 MiB, about five million addresses. */
export const mostFileBytes = 256 * 2 ** 20

/** Hash of the paths and contents, in this order. */
export function revisionOf(contents: readonly Content[]): string {
	const hash = createHash('sha256')
	for (const { path, digest } of contents) hash.update(`${path}\0${digest ?? 'absent'}\0`)
	return hash.digest('hex')
}

/**
 * The bytes of a file that was read before.
 *
 * @throws as `readChunks` does; a RangeError at the end when the content is another one by now.
 */
export async function* chunksOf({ path, digest }: Content, signal: AbortSignal): AsyncGenerator<Uint8Array> {
	const hash = createHash('sha256')
	for await (const chunk of readChunks(path, mostFileBytes, signal)) {
		hash.update(chunk)
		yield chunk
	}
	if (hash.digest('hex') !== digest) throw new RangeError(`${path} has changed since it was read`)
}

/** The revision of these files as they are now; null when the signal aborted. */
export async function revisionNow(paths: readonly string[], signal: AbortSignal): Promise<string | null> {
	const contents: Content[] = []
	for (const path of paths) contents.push({ path, digest: await digestNow(path, signal).catch(() => null) })
	return signal.aborted ? null : revisionOf(contents)
}

async function digestNow(path: string, signal: AbortSignal): Promise<string> {
	const hash = createHash('sha256')
	for await (const chunk of readChunks(path, mostFileBytes, signal)) hash.update(chunk)
	return hash.digest('hex')
}
