/** Common typing mistakes that the parser reports only further down, each with the place of the mistake itself. */

export interface Slip {
	readonly offset: number
	readonly message: string
}

/** Unicode blanks that look like a space and are not whitespace in YAML. */
const foreignBlank = /^[ \t]*(?:- +)*(?:[a-z_]{2,30}:[ \t]*)?([\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff])/gmu

/** The first such blank in an indentation, or between a key and its value; null when there is none. */
export function blankSlip(text: string): Slip | null {
	// A byte order mark at the beginning of the file is allowed.
	for (const { index, 0: found } of text.matchAll(foreignBlank)) {
		const offset = index + found.length - 1
		if (offset === 0) continue
		return { offset, message: 'a blank that is no plain space stands here, as web pages have them: write a space' }
	}
	return null
}

/** A key without a space after its colon, such as `label:Treasury`, in the line of `offset` or the line before it. */
export function missingSpace(text: string, offset: number): Slip | null {
	const own = text.lastIndexOf('\n', offset - 1) + 1
	const before = own === 0 ? 0 : text.lastIndexOf('\n', own - 2) + 1
	for (const start of [own, before]) {
		const end = text.indexOf('\n', start)
		const line = text.slice(start, end < 0 ? undefined : end).slice(0, 500)
		const [whole = '', lead = '', key] = /^([ ]*(?:- +)*)([a-z_]{2,30}):(?=[^\s/:])/.exec(line) ?? []
		if (whole === '') continue
		return { offset: start + lead.length, message: `a space is missing after \`${key}:\`` }
	}
	return null
}

/** A key that is indented deeper than the key above it, whose value ends at `offset` or after it. */
export function deeperKey(text: string, offset: number): Slip | null {
	const own = text.lastIndexOf('\n', offset - 1) + 1
	const column = /^ *(?:- +)*/.exec(text.slice(own, offset))?.[0].length ?? 0
	const end = text.indexOf('\n', offset)
	const next = end < 0 ? '' : text.slice(end, end + 500)
	const [blank = '', indent = ''] = /^\n(?:[ \t]*\n)*( *)(?=[\w"'-]+ *:)/.exec(next) ?? []
	if (blank === '' || indent.length <= column) return null
	const by = indent.length - column
	const message = `this line begins ${by} further right than the key above it: put it below that key`
	return { offset: end + blank.length, message }
}
