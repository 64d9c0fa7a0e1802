/**
 * A text of the user as messages show it: in backticks, on one line, with nothing hidden in it. A URL is cut after its
 * scheme and a signing secret after its mark, for a secret may stand under the wrong key.
 */
export function quoted(text: string): string {
	// Cut first: of a text of megabytes the patterns would take the square.
	const open = text
		.slice(0, 500)
		.replace(/([a-z][a-z0-9+.-]*:\/\/)\S+/gi, '$1…')
		.replace(/(wh[a-z]*_)\S+/g, '$1…')
	return `\`${visible(open.length > 100 ? `${open.slice(0, 100)}…` : open)}\``
}

/** Control and direction-changing characters as escapes, as in JSON. */
export function visible(text: string): string {
	return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (char) => {
		const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char]
		return short ?? `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
	})
}
