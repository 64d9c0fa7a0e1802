/** What may stand in a line of the plain form of a watchlist; see plainYaml.ts. */

export type Value = string | readonly string[]

export const blank = /^ *(?:#[\x20-\x7e]*)?$/
export const keyLine = /^( *)(- +)?([a-z][a-z_]*):( .*|)$/
export const bare = /^ *(?: #[\x20-\x7e]*)?$/
/** Begins with a letter or digit and holds nothing that YAML could read as anything but text. */
const word = '[A-Za-z0-9](?:[A-Za-z0-9_./()+ -]*[A-Za-z0-9_./()+-])?'
/** A time of day, or an instant. */
const time = '(?:\\d{4}-\\d\\d-\\d\\dT)?\\d{1,2}:\\d\\d(?::\\d\\d)?(?:Z|[+-]\\d\\d:\\d\\d)?'
const quotes = `"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"|'[\\x20-\\x26\\x28-\\x7e]*'`
/** Of a list. */
export const item = new RegExp(`${quotes}|${word}`, 'g')
const single = new RegExp(`^ +(${quotes}|${word}|${time}) *(?: #[\\x20-\\x7e]*)?$`)
export const list = new RegExp(
	`^ +\\[( *(?:(?:${quotes}|${word}) *(?:, *(?:${quotes}|${word}) *)*)?)\\] *(?: #[\\x20-\\x7e]*)?$`,
)

export function readValue(rest: string): Value | null {
	const text = single.exec(rest)?.[1]
	if (text !== undefined) return unquoted(text)
	const items = list.exec(rest)?.[1]
	if (items === undefined) return null
	const values: string[] = []
	for (const [text] of items.matchAll(item)) {
		const value = unquoted(text)
		if (value === null) return null
		values.push(value)
	}
	return values
}

/** Null for what YAML reads as no value. */
function unquoted(text: string): string | null {
	if (text.startsWith('"') || text.startsWith("'")) return text.slice(1, -1)
	return text === 'null' ? null : text
}
