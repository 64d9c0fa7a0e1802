/** Reads texts of JSON from bytes; texts that repeat, like addresses in traces, are allocated once. */

export interface Texts {
	/** The place of the closing quote of the text that begins at `from`; -1 if it is not in these bytes. */
	endOf(bytes: Buffer, from: number): number
	/** The text between two quotes; null where JSON.parse would refuse it. */
	read(bytes: Buffer, from: number, end: number): string | null
	/** The first `length` characters of a text that has at least six times as many bytes; null as above. */
	beginning(bytes: Buffer, from: number, length: number): string | null
	/** Whether the last text was not in the cache, so that it takes memory of its own. */
	lastWasNew(): boolean
}

/** Most bytes of one character: \uXXXX. */
export const mostBytes = 6
const slots = 1 << 13
/** Bytes of a hash with its 0x and its quotes. */
const shortBytes = 68

export function createTexts(): Texts {
	const known: (string | undefined)[] = new Array(slots)
	let isNew = true

	function short(bytes: Buffer, from: number, end: number): string {
		let hash = end - from
		for (let at = Math.max(from, end - 8); at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
		const slot = (hash ^ (hash >>> 13)) & (slots - 1)
		const found = known[slot]
		if (found !== undefined && isSame(found, bytes, from, end)) {
			isNew = false
			return found
		}
		isNew = true
		const text = bytes.toString('latin1', from, end)
		known[slot] = text
		return text
	}

	return {
		endOf(bytes, from) {
			// A call of the native `indexOf` costs more than this look at the first bytes.
			const near = Math.min(bytes.length, from + shortBytes)
			for (let at = from; at < near; at++) {
				const byte = bytes[at]
				if (byte === 0x22) return at
				if (byte === 0x5c) return closingQuote(bytes, from, at)
			}
			return closingQuote(bytes, from, near)
		},
		read(bytes, from, end) {
			if (end - from > shortBytes) {
				isNew = true
				return long(bytes, from, end)
			}
			let all = 0
			for (let at = from; at < end; at++) {
				const byte = bytes[at] as number
				all |= byte
				if (byte < 0x20 || byte === 0x5c) {
					isNew = true
					return long(bytes, from, end)
				}
			}
			if (all < 0x80) return short(bytes, from, end)
			isNew = true
			return long(bytes, from, end)
		},
		beginning(bytes, from, length) {
			isNew = true
			// A character that is cut in two is beyond the length asked for.
			const end = Math.min(bytes.length, from + length * mostBytes)
			const text = long(bytes, from, wholeEnd(bytes, from, end))
			if (text === null || text.length <= length) return text
			// A copy, because a slice would keep the whole text in memory.
			return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le')
		},
		lastWasNew: () => isNew,
	}
}

/** The first unescaped quote of the text from `from` on that is at or after `at`; -1 if there is none. */
export function closingQuote(bytes: Buffer, from: number, at: number): number {
	for (let next = at; ; ) {
		const quote = bytes.indexOf(0x22, next)
		if (quote < 0 || !isEscaped(bytes, from, quote)) return quote
		next = quote + 1
	}
}

/** Whether an odd number of backslashes is before this place. */
export function isEscaped(bytes: Buffer, from: number, at: number): boolean {
	let slashes = 0
	while (at - 1 - slashes >= from && bytes[at - 1 - slashes] === 0x5c) slashes++
	return slashes % 2 === 1
}

function isSame(text: string, bytes: Buffer, from: number, end: number): boolean {
	if (text.length !== end - from) return false
	for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) !== bytes[from + at]) return false
	return true
}

function long(bytes: Buffer, from: number, end: number): string | null {
	try {
		return JSON.parse(`"${bytes.toString('utf8', from, end)}"`) as string
	} catch {
		return null
	}
}

/** The last place at or before `end` that is not inside of an escape or of a character of several bytes. */
function wholeEnd(bytes: Buffer, from: number, end: number): number {
	let at = end
	while (at > from && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--
	for (let back = 1; back <= 6 && at - back >= from; back++) {
		if (bytes[at - back] !== 0x5c) continue
		let slashes = 1
		while (at - back - slashes >= from && bytes[at - back - slashes] === 0x5c) slashes++
		if (slashes % 2 === 0) return at
		const length = bytes[at - back + 1] === 0x75 ? 6 : 2
		return back < length ? at - back : at
	}
	return at
}
