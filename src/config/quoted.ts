/** A text of the user as messages show it: in backticks, on one line, nothing hidden in it. */
export function quoted(text: string): string {
	return `\`${visible(text)}\``
}

/** Control and direction-changing characters as escapes, as in JSON. */
export function visible(text: string): string {
	return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (char) => {
		const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char]
		return short ?? `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
	})
}
