/**
 * Opens files whose paths a person wrote. Only ordinary files are opened, since a pipe, a device or a socket could
 * block the process, and only up to a maximum size. Symbolic links are followed: configurations are often deployed with
 * them.
 */

import { constants, readFileSync, type Stats, statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** Does not wait for the other end of a pipe, and does not take over a terminal. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const chunkBytes = 1 << 18

/**
 * Yields the bytes of a file in chunks of at most 256 KiB; the caller owns each chunk.
 *
 * @throws the system's error; a RangeError, whose message completes "the file cannot be read: …", when the path is no
 * ordinary file or the file is larger than `mostBytes`; the signal's reason.
 */
export async function* readChunks(path: string, mostBytes: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
	signal?.throwIfAborted()
	// Checked before opening: opening a device may already have an effect.
	refuse(await stat(path), mostBytes)
	const file = await open(path, flags)
	let total = 0
	for await (const chunk of file.createReadStream({ highWaterMark: chunkBytes })) {
		signal?.throwIfAborted()
		total += chunk.length
		// The file may grow while it is read, and files in /proc report a size of 0.
		if (total > mostBytes) throw tooLarge(mostBytes)
		yield chunk
	}
}

export interface Reading {
	readonly signal?: AbortSignal | undefined
	/** Gives the bytes of a path. Default: from the disk. */
	readonly chunks?: typeof readChunks
}

/** Reads a small file synchronously; throws as `readChunks` does. */
export function readWholeSync(path: string, mostBytes: number): Uint8Array {
	refuse(statSync(path), mostBytes)
	const bytes = readFileSync(path)
	if (bytes.length > mostBytes) throw tooLarge(mostBytes)
	return bytes
}

function refuse(stats: Stats, mostBytes: number): void {
	if (stats.isDirectory()) throw new RangeError('it is a folder')
	if (stats.isFIFO()) throw new RangeError('it is a pipe; name an ordinary file')
	if (!stats.isFile()) throw new RangeError('it is a device or a socket; name an ordinary file')
	if (stats.size > mostBytes) throw tooLarge(mostBytes)
}

function tooLarge(mostBytes: number): RangeError {
	const most = mostBytes < 2 ** 20 ? `${mostBytes / 2 ** 10} KiB` : `${mostBytes / 2 ** 20} MiB`
	return new RangeError(`it is larger than ${most}, the most that such a file may have`)
}
