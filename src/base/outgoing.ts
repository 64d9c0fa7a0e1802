import { isJson } from './isJson.js'

/**
 * The characters that no text may carry out of the process: what a terminal obeys (C0, C1, and so every escape
 * sequence), what turns the direction of writing round, what hides or joins letters unseen, and halves of characters.
 * Only the joiners that emoji and scripts need stay, and of the controls the line feed and the tab.
 */
const unfit = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu

/** A text of several lines without them. */
export function fitText(text: string): string {
	return text.replace(unfit, '')
}

/** Words of another side, as part of a line of ours: nothing in them can begin a line. */
export function fitWords(text: string): string {
	return fitText(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' '))
}

/** The same for JSON, where they are written as escapes, so that whoever reads it gets what was there. */
function fitJson(json: string): string {
	return json.replace(unfit, (sign) =>
		Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
	)
}

/** A line or page for a terminal or a pipe, which may be JSON. */
export function fitOutput(text: string): string {
	if (text.search(unfit) < 0) return text
	return /^\s*[[{]/.test(text) && isJson(text) ? fitJson(text) : fitText(text)
}
