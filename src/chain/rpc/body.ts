/**
 * The body of an answer: small ones as text, larger ones read as they come, so that none takes more memory than what
 * counts of it.
 */

import { setImmediate } from 'node:timers/promises'
import { createJsonStream, type JsonStream } from './jsonStream.js'
import type { Shape } from './shapes.js'

/** Either a text, or the value in it. */
export type Body = { readonly text: string } | { readonly value: unknown }

export interface BodyLimits {
	/** Of the decoded body. */
	readonly maxBytes: number
	/** What is left of a longer text is not read; for one that is thrown away anyway. */
	readonly cuts: boolean
	/** What counts; null: the body is a text, and is never read as it comes. */
	readonly shape: Shape | null
	/** A larger one is read as it comes. Default 4 MiB. */
	readonly parsedBytes?: number | undefined
	/** Called after each `progressBytes`. */
	readonly onProgress: () => void
}

export interface BodyReader {
	/** False: enough has come. Throws JsonFault. */
	write(chunk: Buffer): Promise<boolean>
	/** Null: it was larger than allowed. Throws JsonFault. */
	end(): Body | null
}

/** JSON.parse is twice as fast, and holds up everything else for 5 ms a megabyte. */
const usuallyParsed = 4 * 1024 * 1024
/** Small enough that an answer which comes slowly, on a busy machine, is still seen to go on coming. */
export const progressBytes = 4 * 1024 * 1024
/** Calls nest 1,024 deep, each in an object and a list. */
const jsonLimits = { depth: 4_096, keptBytes: 192 * 1024 * 1024 }
/** How long one goes on reading what has come, before everybody else has a turn. */
const sliceMs = 10

export function createBodyReader({ maxBytes, cuts, shape, parsedBytes, onProgress }: BodyLimits): BodyReader {
	const mostParsed = parsedBytes ?? usuallyParsed
	let chunks: Buffer[] = []
	let size = 0
	let stream: JsonStream | null = null
	let progress = 0
	let sliceBeganMs = performance.now()

	async function read(chunk: Buffer, into: JsonStream): Promise<void> {
		into.write(chunk)
		if (performance.now() - sliceBeganMs < sliceMs) return
		await setImmediate()
		sliceBeganMs = performance.now()
	}

	return {
		async write(chunk) {
			size += chunk.length
			if (size > maxBytes) return false
			if (Math.floor(size / progressBytes) > progress) {
				progress = Math.floor(size / progressBytes)
				onProgress()
			}
			if (stream === null) chunks.push(chunk)
			if (shape === null || size <= mostParsed) return true
			if (stream !== null) {
				await read(chunk, stream)
				return true
			}
			stream = createJsonStream(shape, jsonLimits)
			sliceBeganMs = performance.now()
			const waiting = chunks
			chunks = []
			for (const one of waiting) await read(one, stream)
			return true
		},
		end() {
			if (size > maxBytes && !cuts) return null
			return stream === null ? { text: Buffer.concat(chunks).toString('utf8') } : { value: stream.end() }
		},
	}
}
