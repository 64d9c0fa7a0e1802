/**
 * Files that a person names. Only ordinary ones are opened, so that a pipe, a device or a socket can hang nobody, and
 * no more of them is read than a bound says. Links are followed: configurations are often put in place by them.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** Without waiting for the other end of a pipe, and without taking over a terminal. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const chunkBytes = 1 << 18

/**
 * The bytes of a file, in pieces that belong to whoever gets them.
 *
 * @throws the system's error; RangeError, whose message completes "the file cannot be read: …", for what is no
 * ordinary file
 * or is larger than `mostBytes`; the signal's reason.
 */
export async function* readChunks(path: string, mostBytes: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
	signal?.throwIfAborted()
	// Before it is opened: to open a device may already do something.
	refuse(await stat(path), mostBytes)
	const file = await open(path, flags)
	try {
		refuse(await file.stat(), mostBytes)
		for (let total = 0; ; ) {
			const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null)
			signal?.throwIfAborted()
			if (bytesRead === 0) return
			total += bytesRead
			// It may grow, and files of /proc say nothing of their size.
			if (total > mostBytes) throw tooLarge(mostBytes)
			yield buffer.subarray(0, bytesRead)
		}
	} finally {
		await file.close()
	}
}

/** The whole of it; throws as `readChunks` does. */
export async function readFileWhole(path: string, mostBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
	const chunks: Uint8Array[] = []
	for await (const chunk of readChunks(path, mostBytes, signal)) chunks.push(chunk)
	return Buffer.concat(chunks)
}

/** For small files, at once; throws as `readChunks` does. */
export function readWholeSync(path: string, mostBytes: number): Uint8Array {
	refuse(statSync(path), mostBytes)
	const file = openSync(path, flags)
	try {
		refuse(fstatSync(file), mostBytes)
		const bytes = Buffer.alloc(mostBytes + 1)
		let length = 0
		for (let read = -1; read !== 0 && length < bytes.length; length += read) {
			read = readSync(file, bytes, length, bytes.length - length, null)
		}
		if (length > mostBytes) throw tooLarge(mostBytes)
		return bytes.subarray(0, length)
	} finally {
		closeSync(file)
	}
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
