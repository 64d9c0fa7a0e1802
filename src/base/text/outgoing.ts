/** The room makes text safe to show: for terminals, HTML, CSV, mails and chats. This file: whole texts. */

import { isJson } from './isJson.js'

/**
 * Characters that must not leave the process in any text: control characters (C0, C1, and so every escape sequence of
 * terminals), marks that change the writing direction, invisible characters and joiners, and lone surrogates.
 * Exceptions: line feed, tab, and the two joiners that emoji and some scripts need.
 */
const unfit = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu

/** Removes these characters; the text may have several lines. */
export function fitText(text: string): string {
	return text.replace(unfit, '')
}

/** Untrusted text for use within a line: line breaks and tabs become spaces, so nothing in it can begin a new line. */
export function fitWords(text: string): string {
	return fitText(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' '))
}

/** Writes these characters as JSON escapes, so that a JSON parser gets the original text. */
function fitJson(json: string): string {
	return json.replace(unfit, (sign) =>
		Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
	)
}

/** Cleans a line or page for a terminal or a pipe. JSON stays valid JSON. */
export function fitOutput(text: string): string {
	if (text.search(unfit) < 0) return text
	return /^\s*[[{]/.test(text) && isJson(text) ? fitJson(text) : fitText(text)
}
