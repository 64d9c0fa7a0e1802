/** A cell of a CSV line. A spreadsheet takes a leading = + - @ for a formula, and labels come from people. */
export function csvCell(text: string): string {
	const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
	return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
