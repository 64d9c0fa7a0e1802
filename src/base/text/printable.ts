import { defanged } from './defang.js'
import { fitWords } from './outgoing.js'

/**
 * A label or name for display: one line, cut at `limit` characters, without control characters, direction marks and
 * invisible letters. These characters can make one name look like another.
 */
export function printable(text: string, limit = 100): string {
	const shown = fitWords(text).replace(/\s+/g, ' ').trim()
	const letters = [...shown]
	return letters.length > limit ? `${letters.slice(0, limit - 1).join('')}…` : shown
}

/**
 * Untrusted text for display: as `printable`, and mail programs and chats make no links or mentions of it. Invisible
 * characters go first, because a link that they divide would be whole without them.
 */
export function printableForeign(text: string, limit: number): string {
	return printable(defanged(fitWords(text)), limit)
}
