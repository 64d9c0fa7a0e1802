/**
 * Labels and names as they may be shown: one line, without control characters, without the marks that turn the direction
 * of writing round or hide letters, cut at `limit` characters. Both can make one thing look like another.
 */
export function printable(text: string, limit = 100): string {
	const shown = text
		.replace(/[\t\n\r\u0085\u2028\u2029]+/g, ' ')
		// Controls, half characters, and everything of Unicode's "format" class but the joiners of emoji and scripts.
		.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cs}\p{Cf}]/gu, '')
		.replace(/[\u115f\u1160\u3164\uffa0]/g, '')
		.replace(/\s+/g, ' ')
		.trim()
	const letters = [...shown]
	return letters.length > limit ? `${letters.slice(0, limit - 1).join('')}…` : shown
}
