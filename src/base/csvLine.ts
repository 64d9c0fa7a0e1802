import { fitWords } from './outgoing.js'

/** One line of CSV (RFC 4180), without its end. The cells may be words of another side. */
export function csvLine(cells: readonly string[]): string {
	return cells.map((cell) => csvCell(fitWords(cell))).join(',')
}

/**
 * A spreadsheet takes a leading = + - @ for a formula, and labels come from people: such a text gets a `'` before it. A
 * plain number stays one.
 */
function csvCell(text: string): string {
	const isNumber = /^-?\d+(\.\d+)?$/.test(text)
	const safe = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
	return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
