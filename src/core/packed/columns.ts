/** The room packs values of many items into columns, a few bytes each; an object per item would take a hundred. */

/** Whole numbers from 0 to 2^32 - 1. */
export interface NumberColumn {
	readonly length: number
	at(index: number): number
	set(index: number, value: number): void
	push(value: number): void
	copy(): NumberColumn
}

export function createNumberColumn(from: Uint32Array = new Uint32Array(16), taken = 0): NumberColumn {
	let [values, length] = [from, taken]
	return {
		get length() {
			return length
		},
		at: (index) => values[index] ?? 0,
		set(index, value) {
			values[index] = value
		},
		push(value) {
			if (length === values.length) {
				const wider = new Uint32Array(2 * values.length)
				wider.set(values)
				values = wider
			}
			values[length++] = value
		},
		copy: () => createNumberColumn(values.slice(), length),
	}
}

/** Short texts, or null. */
export interface TextColumn {
	at(index: number): string | null
	push(text: string | null): void
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Nearly all texts are short ASCII, for which the overhead of the codec exceeds the work. */
const shortText = 64

/** Returns the end of the text; -1 if it is not ASCII or not short: the bytes from `at` on are then undefined. */
function putAscii(text: string, into: Uint8Array, at: number): number {
	if (text.length > shortText) return -1
	for (let index = 0; index < text.length; index++) {
		const code = text.charCodeAt(index)
		if (code > 0x7f) return -1
		into[at + index] = code
	}
	return at + text.length
}

/** Null if the text is not ASCII or not short. `to` is exclusive. */
function asciiIn(bytes: Uint8Array, from: number, to: number): string | null {
	if (to - from > shortText) return null
	const codes: number[] = []
	for (let at = from; at < to; at++) {
		const code = bytes[at] ?? 0
		if (code > 0x7f) return null
		codes.push(code)
	}
	return String.fromCharCode.apply(null, codes)
}

/** Bytes of one run; a text lies within one run. Runs have a fixed size, so that growing leaves no garbage. */
const runBytes = 1 << 16

export function createTextColumn(): TextColumn {
	/** Runs by number; a text longer than a run is stored separately. */
	const runs: Uint8Array[] = []
	const long = new Map<number, string>()
	let taken = 0
	/** Twice the end offset of each text over all runs, plus 1 for null. */
	const ends = createNumberColumn()

	/** Where a text with this end begins: after the previous text, or at the start of a run. */
	function startOf(index: number, end: number): number {
		const before = index === 0 ? 0 : ends.at(index - 1) >>> 1
		return end > before ? Math.max(before, runBytes * Math.floor((end - 1) / runBytes)) : end
	}

	return {
		at(index) {
			const end = ends.at(index)
			if ((end & 1) === 1) return null
			const [from, to] = [startOf(index, end >>> 1), end >>> 1]
			const run = runs[Math.floor(from / runBytes)]
			if (run === undefined || from === to) return long.get(index) ?? ''
			const first = from % runBytes
			return asciiIn(run, first, first + to - from) ?? decoder.decode(run.subarray(first, first + to - from))
		},
		push(text) {
			if (text === null) return ends.push(2 * taken + 1)
			if (3 * text.length > runBytes) {
				long.set(ends.length, text)
				return ends.push(2 * taken)
			}
			if ((taken % runBytes) + 3 * text.length > runBytes) taken = runBytes * Math.ceil(taken / runBytes)
			const number = Math.floor(taken / runBytes)
			runs[number] ??= new Uint8Array(runBytes)
			const run = runs[number]
			const at = taken % runBytes
			const end = putAscii(text, run, at)
			taken += end === -1 ? encoder.encodeInto(text, run.subarray(at)).written : end - at
			ends.push(2 * taken)
		},
	}
}
