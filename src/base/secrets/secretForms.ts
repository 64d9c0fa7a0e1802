/**
 * The complete list of forms in which a secret is searched for. Each is produced by software between this program and
 * the other side:
 *
 * - As written: providers repeat the key that they refuse, and servers the line that they do not understand.
 * - Percent-encoded, as in URLs (with `+` for a space), and encoded twice, where a URL stands in the query of another.
 * - Escaped for JSON, up to three times: in the body of an error, in a gateway's text that quotes that body, and in our
 *   own log line around both.
 * - Escaped for HTML, by name or by number: the error pages of proxies.
 * - In base64 or base64url with anything before and after it: `Authorization: Basic`, SASL, tokens.
 * - The beginning of the secret, where another program truncated it, and those parts of it that grant the same access.
 *
 * Any mixture of the first four is found too, since each encodes single characters. Reversed, hex-encoded or compressed
 * secrets are produced by no known software, and are not searched for.
 */

import { looksLikeKey } from './keyShape.js'

/** Shorter parts of a secret are words, numbers or prefixes such as `sk_live`. */
const shortestPiece = 16

/**
 * A secret, and those of its parts that grant the same access: the key after `whsec_`, the token after a bot's number,
 * the token after `Bearer `. A URL is returned whole; `urlSecrets` finds the secrets in it.
 */
export function tellingParts(secret: string): readonly string[] {
	if (secret.includes('://')) return [secret]
	const marked = /^wh[a-z]*_(.+)$/s.exec(secret)?.[1] ?? ''
	const isWhole = (piece: string) => piece.length >= shortestPiece && !piece.includes('/')
	const pieces = secret.split(/[\s:;,|]+/).filter(isWhole)
	// A part between these separators may be a word of a passphrase, so it must also look like a key.
	const parts = secret.split(/[\s:;,_.|~-]+/).filter((piece) => piece.length >= shortestPiece && looksLikeKey(piece))
	return [...new Set([secret, marked, ...pieces, ...parts])]
}

/** Names and passphrases: words without any sign of a key (a digit, or a capital inside a word). */
const plainWords = /^[A-Z]?[a-z]*(?:[-_.+@=&?:]+[A-Z]?[a-z]*)*$|^[A-Z]+$/

/**
 * The least number of leading characters that are hidden when the rest of the secret is missing, as where another
 * program truncated a text: a third of the secret, at least 8 and at most 16, and more while they look like plain
 * words. Infinity when no beginning may be hidden.
 */
export function leastBeginning(secret: string): number {
	if (secret.length < 12 || /[\s/]/.test(secret)) return Number.POSITIVE_INFINITY
	let length = Math.min(16, Math.max(8, Math.ceil(secret.length / 3)))
	while (length < secret.length && plainWords.test(secret.slice(0, length))) length += 1
	return length < secret.length ? length : Number.POSITIVE_INFINITY
}

/** What may follow where a secret breaks off: the rest of the secret in another encoding, or of the word around it. */
export const restOfWord = '[A-Za-z0-9_%+/=-]*'

/** A pattern for one character of a secret in every spelling that URLs, JSON and HTML have for it. */
export function spellings(character: string): string {
	if (/[A-Za-z0-9]/.test(character)) return character
	const code = character.codePointAt(0) ?? 0
	// `%25` is an encoded percent sign.
	const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)?${anyCase(hex(byte, 2))}`).join('')
	const escaped = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
	const unicode = escaped.map((unit) => `\\\\{1,7}u${anyCase(unit)}`).join('')
	const named = namedSpellings[character]
	const html = `&#(?:${code}|[xX]${anyCase(code.toString(16))});`
	// At most seven backslashes precede it: JSON inside JSON inside JSON.
	const plain = character === '\\' ? '\\\\{1,8}' : `\\\\{0,7}${literal(character)}`
	return `(?:${[plain, percent, unicode, html, ...(named === undefined ? [] : [named])].join('|')})`
}

const namedSpellings: Readonly<Record<string, string>> = {
	' ': '\\+',
	'\n': '\\\\{1,7}n',
	'\r': '\\\\{1,7}r',
	'\t': '\\\\{1,7}t',
	'\b': '\\\\{1,7}b',
	'\f': '\\\\{1,7}f',
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&apos;',
}

/**
 * Base64 of a secret depends on the number of bytes before it, modulo three. The characters at both ends also hold bits
 * of the neighbouring bytes; these are unknown, so they are left out.
 */
export function base64Forms(secret: string): string[] {
	const bytes = Buffer.from(secret)
	return [0, 1, 2].flatMap((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
		const form = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
		return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
	})
}

export function literal(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function hex(value: number, digits: number): string {
	return value.toString(16).padStart(digits, '0')
}

function anyCase(digits: string): string {
	return digits.replace(/[a-f]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
