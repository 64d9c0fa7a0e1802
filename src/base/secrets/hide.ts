/**
 * The room recognises secrets. This file finds them in a text and replaces them. Called where foreign words come in,
 * before they are cut to a maximum length (half a secret would not be recognised), and again where a line leaves the
 * process. A secret is found as written, percent-encoded (also twice, and with `+` for a space), escaped for JSON (also
 * in JSON in JSON) or HTML, in base64 or base64url with anything before and after it, and cut off after its beginning.
 */

import { looksLikeKey } from './urlSecrets.js'

/** Shorter secrets cannot be distinguished from ordinary words and numbers. */
const SHORTEST_SECRET = 6
/** The number of leading characters of a secret that are hidden where the rest is missing. */
const LEAST_BEGINNING = 12
const HTML_NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

export function isLong(secret: string): boolean {
	return secret.length >= SHORTEST_SECRET
}

/**
 * Returns a function that replaces these secrets by `[secret]`; overlapping ones become one `[secret]`. Secrets of at
 * least six characters are found in every form, secrets of 3 to 5 characters only as they are written.
 */
export function hiderOf(secrets: Iterable<string>): (text: string) => string {
	const longestFirst = [...new Set([...secrets].flatMap(withKeys))].sort((a, b) => b.length - a.length)
	const short = longestFirst.filter((secret) => secret.length >= 3 && !isLong(secret))
	const ways = longestFirst.filter(isLong).flatMap((secret) => {
		// The whole first: of the alternatives that fit, a pattern takes the first.
		const whole = slices(secret).flatMap(formsOf)
		const isCut = secret.length > LEAST_BEGINNING && !/[\s/]/.test(secret)
		const cut = isCut ? formsOf(secret).filter((form) => form.length > LEAST_BEGINNING) : []
		return [...whole, ...cut.map(beginning)]
	})
	const pattern = ways.length === 0 ? null : new RegExp(`(?=(${alternatives(ways)}))`, 'g')
	return (text) => short.reduce((said, secret) => said.replaceAll(secret, '[secret]'), hide(text, pattern))
}

function hide(text: string, pattern: RegExp | null): string {
	if (pattern === null) return text
	let cleaned = ''
	let kept = 0
	for (const { index, 1: found = '' } of text.matchAll(pattern)) {
		if (index >= kept) cleaned += `${text.slice(kept, index)}[secret]`
		kept = Math.max(kept, index + found.length)
	}
	return cleaned + text.slice(kept)
}

/** A secret, and the keys in it: of `sk_live_…` or `Bearer …` what follows. In a URL, `urlSecrets` finds them. */
function withKeys(secret: string): string[] {
	if (secret.includes('://')) return [secret]
	return [secret, ...secret.split(/[\s:;,_.|~-]+/).filter((part) => looksLikeKey(part))]
}

/** The characters of each form, as patterns. */
function formsOf(secret: string): string[][] {
	return [Array.from(secret, spellings), ...base64Forms(secret).map((form) => Array.from(form, literal))]
}

/** Slices of at most 200 characters: a pattern of thousands is too deep to compile. */
function slices(secret: string): string[] {
	const starts = Array.from({ length: Math.ceil(secret.length / 200) }, (_, n) => n * 200)
	return starts.map((start) => secret.slice(Math.min(start, Math.max(0, secret.length - SHORTEST_SECRET)), start + 200))
}

/** The beginning of these characters and the rest of a word, where another program cut the text. */
function beginning(characters: readonly string[]): string[] {
	return [...characters.slice(0, LEAST_BEGINNING), '[A-Za-z0-9_%+/=-]*']
}

/**
 * One pattern for all ways; each is a list of patterns of its characters. Those with the same first letter or digit
 * stand together, so that hundreds of secrets are not tried one after the other at each character of a text. Of those
 * that may fit at the same place the order stays.
 */
function alternatives(ways: readonly (readonly string[])[], depth = 4): string {
	const groups = new Map<string, (readonly string[])[]>()
	for (const way of ways) {
		const [first = ''] = way
		const key = depth > 0 && /^[A-Za-z0-9]$/.test(first) ? first : ''
		const group = groups.get(key)
		if (group === undefined) groups.set(key, [way])
		else group.push(way)
	}
	const patterns = Array.from(groups, ([first, group]) => {
		if (first === '') return group.map((way) => way.join('')).join('|')
		return `${first}(?:${alternatives(
			group.map((way) => way.slice(1)),
			depth - 1,
		)})`
	})
	return patterns.join('|')
}

/** A pattern for one character of a secret as URLs, JSON and HTML write it. */
function spellings(character: string): string {
	if (/[A-Za-z0-9]/.test(character)) return character
	// `%25` is an encoded percent sign.
	const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)?${hex(byte, 2)}`).join('')
	const units = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
	const unicode = units.map((unit) => `\\\\{1,7}u${unit}`).join('')
	const named = JSON.stringify(character).slice(1, -1)
	const letter = /^\\[a-z]$/.test(named) ? [`\\\\{1,7}${named[1]}`] : []
	const code = character.codePointAt(0) ?? 0
	const html = `&(?:${[HTML_NAMES[character] ?? [], `#${code}`, `#[xX]${hex(code, 1)}`].flat().join('|')});`
	// At most seven backslashes precede it: JSON in JSON in JSON.
	const plain = character === '\\' ? '\\\\{1,8}' : `\\\\{0,7}${literal(character)}`
	return `(?:${[plain, percent, unicode, html, ...letter, ...(character === ' ' ? ['\\+'] : [])].join('|')})`
}

/**
 * Base64 of a secret depends on the number of bytes before it, modulo three. The characters at both ends also hold bits
 * of the neighbouring bytes; these are unknown, so they are left out.
 */
function base64Forms(secret: string): string[] {
	const bytes = Buffer.from(secret)
	return [0, 1, 2].flatMap((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
		const form = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
		return [...new Set([form, form.replaceAll('+', '-').replaceAll('/', '_')])]
	})
}

function literal(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** In lower or upper case. */
function hex(value: number, digits: number): string {
	const text = value.toString(16).padStart(digits, '0')
	return text.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
}
