import { fitWords } from './outgoing.js'

/** One line of CSV (RFC 4180), without a line break at its end. Cells may hold untrusted text. */
export function csvLine(cells: readonly string[]): string {
	return cells.map((cell) => csvCell(fitWords(cell))).join(',')
}

/**
 * Spreadsheets run a cell that starts with = + - @ as a formula, some also one with their wide forms, and labels are
 * untrusted text, so a `'` is put before these characters. The same after a `;`, which separates cells in the
 * spreadsheets of many countries. A plain number stays a number.
 */
function csvCell(text: string): string {
	const isNumber = /^-?\d+(\.\d+)?$/.test(text)
	const safe = isNumber ? text : text.replaceAll(/(^|;)(?=\s*[=+\-@＝＋－＠])/g, "$1'")
	return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
