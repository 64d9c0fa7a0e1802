import { fitWords } from './outgoing.js'

/**
 * Labels and names as they may be shown: one line, without control characters, without the marks that turn the
 * direction of writing round or hide letters, cut at `limit` characters. Both can make one thing look like another.
 */
export function printable(text: string, limit = 100): string {
	const shown = fitWords(text).replace(/\s+/g, ' ').trim()
	const letters = [...shown]
	return letters.length > limit ? `${letters.slice(0, limit - 1).join('')}…` : shown
}
