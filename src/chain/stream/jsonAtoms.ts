/** The numbers, `true`, `false` and `null` of JSON. */

import { broken } from './jsonFault.js'

/** Most characters of a number or a word. */
const longest = 400

/** The place after the last byte that may belong to the number or word that begins at `from`. Throws JsonFault. */
export function atomEnd(bytes: Buffer, from: number): number {
	let end = from
	while (end < bytes.length && isOfAtom(bytes[end] as number)) end++
	if (end === from) throw broken('there is something in it that JSON does not know')
	if (end - from > longest) throw broken(`a number in it has more than ${longest} digits`)
	return end
}

function isOfAtom(byte: number): boolean {
	return (
		(byte >= 0x30 && byte <= 0x39) || ((byte | 32) - 97) >>> 0 < 26 || byte === 0x2d || byte === 0x2b || byte === 0x2e
	)
}

/** The value between these places. Throws JsonFault. */
export function atomIn(bytes: Buffer, from: number, end: number): number | boolean | null {
	const first = bytes[from] as number
	// An answer may consist of small numbers and words only: no text is allocated for those.
	if (first === 0x30 && end - from === 1) return 0
	if (isWord(bytes, from, end, 'true')) return true
	if (isWord(bytes, from, end, 'false')) return false
	if (isWord(bytes, from, end, 'null')) return null
	if (first >= 0x31 && first <= 0x39 && end - from < 10) {
		let number = 0
		let at = from
		for (; at < end; at++) {
			const digit = (bytes[at] as number) - 0x30
			if (digit < 0 || digit > 9) break
			number = number * 10 + digit
		}
		if (at === end) return number
	}
	const text = bytes.toString('latin1', from, end)
	if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text))
		throw broken('a number or a word in it is not in order')
	return Number(text)
}

function isWord(bytes: Buffer, from: number, end: number, word: string): boolean {
	if (end - from !== word.length) return false
	for (let at = 0; at < word.length; at++) if (bytes[from + at] !== word.charCodeAt(at)) return false
	return true
}
