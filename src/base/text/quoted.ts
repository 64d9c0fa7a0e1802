/**
 * Quotes a user's text for a message: in backticks, on one line, with every character visible. A URL is cut after its
 * scheme and a signing secret after its prefix, since a secret may have been written under the wrong key.
 */
export function quoted(text: string): string {
	// Cut first: on a text of megabytes these patterns would take quadratic time.
	const open = text
		.slice(0, 500)
		.replace(/([a-z][a-z0-9+.-]*:\/\/)\S+/gi, '$1…')
		.replace(/(wh[a-z]*_)\S+/g, '$1…')
	return `\`${visible(open.length > 100 ? `${open.slice(0, 100)}…` : open)}\``
}

/** Writes control characters and direction marks as escapes, as JSON does. */
function visible(text: string): string {
	return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (char) => {
		const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char]
		return short ?? `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
	})
}
