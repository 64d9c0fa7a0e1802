/**
 * One cell of CSV (RFC 4180). A spreadsheet takes a leading = + - @ for a formula, and labels come from people: such a
 * text gets a `'` before it. A plain number stays one.
 */
export function csvCell(text: string): string {
	const isNumber = /^-?\d+(\.\d+)?$/.test(text)
	const safe = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
	return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
