/** The body of an answer: a small one is kept as text, a larger one parsed while it arrives, to save memory. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { createJsonStream, type JsonStream } from '../stream/jsonStream.js'
import type { Shape } from '../stream/shapes.js'

/** Either the text or the parsed value. */
export type Body = { readonly text: string } | { readonly value: unknown }

export interface BodyLimits {
	/** Limit for the decoded body. */
	readonly maxBytes: number
	/** Cut a longer text instead of refusing it; for bodies that are discarded anyway. */
	readonly cuts: boolean
	/** The parts to keep; null: the body is a text and is never parsed while it arrives. */
	readonly shape: Shape | null
	/** Larger bodies are parsed while they arrive. Default: 4 MiB. */
	readonly parsedBytes?: number | undefined
	/** Called after each `progressBytes`. */
	readonly onProgress: () => void
}

export interface BodyReader {
	/** False: the limit is exceeded. Throws JsonFault. */
	write(chunk: Buffer): Promise<boolean>
	/** Null: it was larger than allowed. Throws JsonFault. */
	end(): Body | null
}

/** JSON.parse is twice as fast, but blocks the event loop for 5 ms per MB. */
const usuallyParsed = 4 * 1024 * 1024
/** Small enough that a slow answer on a busy machine still counts as progressing. */
export const progressBytes = 4 * 1024 * 1024
/** Calls nest 1,024 deep, each in an object and a list. */
const jsonLimits = { depth: 4_096, keptBytes: 192 * 1024 * 1024 }
/** A chunk of an answer takes as long to parse as this many rows to read. */
const rowsAChunk = 32

export function createBodyReader({ maxBytes, cuts, shape, parsedBytes, onProgress }: BodyLimits): BodyReader {
	const mostParsed = parsedBytes ?? usuallyParsed
	let chunks: Buffer[] = []
	let size = 0
	let stream: JsonStream | null = null
	let progress = 0

	async function read(chunk: Buffer, into: JsonStream): Promise<void> {
		into.write(chunk)
		if (isSliceOver(rowsAChunk)) await nextSlice()
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
