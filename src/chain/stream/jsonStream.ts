/**
 * The room reads large JSON answers while they arrive, in chunks cut at any byte, and keeps only what a shape names. It
 * skips the rest; a long text costs no more than the search for its end. The result is that of JSON.parse, without what
 * the shape leaves out.
 *
 * In skipped parts, brackets, commas and colons must be in order; the inside of texts is not checked.
 * @streamparser/json took five times as long.
 */

import { atomEnd, atomIn } from './jsonAtoms.js'
import { createJsonBuilder, type JsonLimits } from './jsonBuilder.js'
import { broken } from './jsonFault.js'
import { closingQuote, createTexts, isEscaped, mostBytes } from './jsonTexts.js'
import type { Shape } from './shapes.js'

export interface JsonStream {
	/** Throws JsonFault. The chunk is not kept. */
	write(chunk: Buffer): void
	/** The value; may be called once. Throws JsonFault if the JSON is incomplete. */
	end(): unknown
}

// What may come next.
const aValue = 0
const valueOrEnd = 1
const keyOrEnd = 2
const aKey = 3
const aColon = 4
const commaOrEnd = 5
const nothing = 6

/**
 * Memory for each byte of a held text: it is joined and read twice before it is a value. The longest text that an
 * attacker can cause is a log of 10 MB, in hex.
 */
const heldBytes = 6

export function createJsonStream(shape: Shape, limits: JsonLimits): JsonStream {
	const texts = createTexts()
	const builder = createJsonBuilder(shape, limits)
	let next = aValue
	/** The end of a chunk in the middle of a number or a word. */
	let rest: Buffer | null = null
	/** `passing`: the chunk ended inside of a text. `escaped`: the next byte is escaped. */
	let passing = false
	let escaped = false
	const keptText = createHeldText()

	function put(made: unknown): void {
		builder.put(made)
		next = afterValue()
	}

	function afterValue(): typeof commaOrEnd | typeof nothing {
		return builder.isIn() === 'nothing' ? nothing : commaOrEnd
	}

	function tookKey(name: string | null): void {
		builder.name(name)
		next = aColon
	}

	function tookText(text: string): void {
		if (isKey()) tookKey(text)
		else {
			builder.putText(text, texts.lastWasNew())
			next = afterValue()
		}
	}

	function isKey(): boolean {
		return next === aKey || next === keyOrEnd
	}

	/** Whether the text that begins now is kept: keys if the object is kept, values if the shape names them. */
	function isWanted(): boolean {
		return (isKey() ? builder.openShape() : builder.nextShape()) !== null
	}

	function longestText(): number {
		return (isKey() ? builder.openShape() : builder.nextShape())?.longestText ?? 0
	}

	/** The place after a text that is skipped or held; the length of the chunk if the text goes on in the next. */
	function pass(chunk: Buffer, from: number): number {
		const start = escaped ? from + 1 : from
		const quote = closingQuote(chunk, start, start)
		passing = quote < 0
		escaped = passing && isEscaped(chunk, start, chunk.length)
		builder.keep(heldBytes * keptText.add(chunk, from, passing ? chunk.length : quote))
		if (passing) return chunk.length
		if (keptText.isOpen()) {
			const bytes = keptText.take()
			builder.keep(-heldBytes * bytes.length)
			tookText(textIn(bytes, 0, bytes.length))
		} else if (isKey()) tookKey(null)
		else put(undefined)
		return quote + 1
	}

	function textIn(bytes: Buffer, from: number, end: number): string {
		const most = longestText()
		const isLong = end - from > most * mostBytes
		const text = isLong ? texts.beginning(bytes, from, most) : texts.read(bytes, from, end)
		if (text === null) throw broken('a text in it is not in order')
		return text.length > most ? text.slice(0, most) : text
	}

	/** Reads a text whose opening quote is before `from`. */
	function readText(chunk: Buffer, from: number): number {
		if (!isWanted()) return pass(chunk, from)
		const end = texts.endOf(chunk, from)
		if (end < 0) {
			keptText.begin(longestText() * mostBytes + mostBytes)
			return pass(chunk, from)
		}
		tookText(textIn(chunk, from, end))
		return end + 1
	}

	/** Reads a number, true, false or null. -1: it may go on in the next chunk. */
	function readAtom(chunk: Buffer, from: number, isLast: boolean): number {
		const end = atomEnd(chunk, from)
		if (end === chunk.length && !isLast) return -1
		put(atomIn(chunk, from, end))
		return end
	}

	function read(chunk: Buffer, isLast: boolean): void {
		let at = passing ? pass(chunk, 0) : 0
		while (at < chunk.length) {
			const byte = chunk[at] as number
			if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
				at++
				continue
			}
			const start = at
			if (byte === 0x22) {
				if (next > aKey) throw broken('a text stands where none may')
				at = readText(chunk, at + 1)
			} else if (byte === 0x2c) {
				if (next !== commaOrEnd) throw broken('a comma stands where none may')
				if (builder.isIn() === 'list') {
					next = aValue
					builder.nextElement()
				} else next = aKey
				at++
			} else if (byte === 0x3a) {
				if (next !== aColon) throw broken('a colon stands where none may')
				next = aValue
				at++
			} else if (byte === 0x7d) {
				if (next !== commaOrEnd && next !== keyOrEnd) throw broken('its brackets do not match')
				builder.close(false)
				next = afterValue()
				at++
			} else if (byte === 0x5d) {
				if (next !== commaOrEnd && next !== valueOrEnd) throw broken('its brackets do not match')
				builder.close(true)
				next = afterValue()
				at++
			} else {
				if (next !== aValue && next !== valueOrEnd) throw broken('a value stands where none may')
				if (byte === 0x7b || byte === 0x5b) {
					builder.open(byte === 0x5b)
					next = byte === 0x5b ? valueOrEnd : keyOrEnd
					at++
				} else at = readAtom(chunk, at, isLast)
			}
			if (at < 0) {
				rest = Buffer.from(chunk.subarray(start))
				return
			}
		}
	}

	return {
		write(chunk) {
			const whole: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk])
			rest = null
			read(whole, false)
		},
		end() {
			if (rest !== null) {
				const last: Buffer = rest
				rest = null
				read(last, true)
			}
			if (next !== nothing || passing || rest !== null) throw broken('its JSON does not end')
			return builder.value()
		},
	}
}

/** The bytes of one text that is spread over several chunks. */
interface HeldText {
	/** Starts to hold bytes, at most `mostBytes`. */
	begin(mostBytes: number): void
	isOpen(): boolean
	/** How many of the bytes were taken: none before `begin`. */
	add(chunk: Buffer, from: number, to: number): number
	/** All bytes; ends the holding. */
	take(): Buffer
}

function createHeldText(): HeldText {
	let parts: Buffer[] | null = null
	let left = 0
	return {
		begin(mostBytes) {
			parts = []
			left = mostBytes
		},
		isOpen: () => parts !== null,
		add(chunk, from, to) {
			if (parts === null) return 0
			const count = Math.max(0, Math.min(to - from, left))
			left -= count
			// A copy, because the chunk's memory is reused.
			if (count > 0) parts.push(Buffer.from(chunk.subarray(from, from + count)))
			return count
		},
		take() {
			const bytes = Buffer.concat(parts ?? [])
			parts = null
			return bytes
		},
	}
}
