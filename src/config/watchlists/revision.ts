import { createHash } from 'node:crypto'

/** A file and what it holds; null: it cannot be read. */
export interface Content {
	readonly path: string
	readonly bytes: Uint8Array | null
}

/** One name for files in a certain state: the same names and contents in the same order have the same. */
export async function revisionOf(contents: readonly Content[]): Promise<string> {
	const hash = createHash('sha256')
	for (const { path, bytes } of contents) {
		hash.update(`${path}\0${bytes === null ? 'absent' : await digestOf(bytes)}\0`)
	}
	return hash.digest('hex')
}

/** Beside the event loop: a file may hold many megabytes. */
async function digestOf(bytes: Uint8Array): Promise<string> {
	return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}
