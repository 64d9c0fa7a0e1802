/**
 * The forms in which a secret can come back, and no more than these. Each is made by something that stands on the way:
 *
 * - As it is: providers repeat the key that they refuse, and servers the line that they do not understand.
 * - Percent-encoded, as URLs write it (with `+` for a space), and once more, where a URL stands in another's query.
 * - Escaped for JSON, up to three times: in the body of an error, in the text of a gateway that quotes that body, and
 *   in our own line of the log around both.
 * - Escaped for HTML, by name or by number: the error pages of proxies.
 * - In base64 or base64url with anything before and after it: `Authorization: Basic`, SASL, tokens.
 * - Its beginning, cut off by who quotes it, and those of its parts that are as good as the whole.
 *
 * Any mixture of the first four is found too, for each is a spelling of single characters. A secret turned round, in
 * hex or compressed comes from nowhere, and is not looked for.
 */

/** Shorter pieces of a secret are words, numbers or marks such as `sk_live`. */
const shortestPiece = 16

/**
 * A secret, and those of its parts that are as good as the whole: the key after `whsec_`, the token after a bot's
 * number, what stands after `Bearer `. Not of a URL, whose parts `urlSecrets` knows.
 */
export function tellingParts(secret: string): readonly string[] {
	if (secret.includes('://')) return [secret]
	const marked = /^wh[a-z]*_(.+)$/s.exec(secret)?.[1] ?? ''
	const pieces = secret.split(/[\s:;,_.|~-]+/).filter((piece) => piece.length >= shortestPiece)
	return [...new Set([secret, marked, ...pieces])]
}

/** Words, as names and passphrases are made of, with no sign of a key in them: no digit, no capital in the midst. */
const plainWords = /^[A-Z]?[a-z]*(?:[-_.+@]+[A-Z]?[a-z]*)*$|^[A-Z]+$/

/**
 * How many characters of a secret are hidden also where the rest does not follow, as when somebody else has cut a text:
 * a third of it, eight at least and sixteen at most, and never what may be plain words. Infinite where none is.
 */
export function leastBeginning(secret: string): number {
	if (secret.length < 12 || /[\s/]/.test(secret)) return Number.POSITIVE_INFINITY
	let length = Math.min(16, Math.max(8, Math.ceil(secret.length / 3)))
	while (length < secret.length && plainWords.test(secret.slice(0, length))) length += 1
	return length < secret.length ? length : Number.POSITIVE_INFINITY
}

/**
 * What may follow where a secret breaks off: the rest of it in another spelling, or of the word that it was cut from.
 */
export const restOfWord = '[A-Za-z0-9_%+/=-]*'

/** A pattern for one character of a secret, however a URL, JSON or HTML may write it. */
export function spellings(character: string): string {
	if (/[A-Za-z0-9]/.test(character)) return character
	const code = character.codePointAt(0) ?? 0
	// `%25` is a percent sign that was encoded itself.
	const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)?${anyCase(hex(byte, 2))}`).join('')
	const escaped = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
	const unicode = escaped.map((unit) => `\\\\{1,7}u${anyCase(unit)}`).join('')
	const named = namedSpellings[character]
	const html = `&#(?:${code}|[xX]${anyCase(code.toString(16))});`
	// Up to seven backslashes before it: JSON inside JSON inside JSON.
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
 * Base64 of a secret depends on how many bytes stand before it, modulo three. The characters at the edges that also
 * hold bits of the neighbours cannot be known and are left out.
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
