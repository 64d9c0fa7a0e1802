/**
 * Finds secrets in a text and takes them out. Used where another side's words come in, before they are cut to a
 * bearable length (a secret cut in two is found by nobody), and again where a line leaves the process.
 */

/** What stands in the place of a secret. */
export const secretMark = '[secret]'

/** Shorter secrets cannot be told from ordinary words and numbers, and are not looked for. */
export const shortestSecret = 6

/**
 * Finds, at every place of a text, the longest secret that starts there: as it is, percent-encoded (up to three times),
 * escaped for JSON (up to three times) or HTML, in any mixture of these, and in base64 or base64url, also as a part of
 * something longer (`Authorization: Basic …`). Null when no secret is as long as `shortestSecret`.
 */
export function secretPattern(secrets: Iterable<string>): RegExp | null {
	const long = [...secrets].filter(isLong)
	if (long.length === 0) return null
	const root: Branch = { ends: false, breaks: false, next: new Map() }
	for (const secret of new Set(long.flatMap(tellingParts).flatMap(slices))) {
		grow(root, Array.from(secret, spellings), leastBeginning(secret))
		for (const form of base64Forms(secret)) grow(root, Array.from(form, literal), leastBeginning(form))
	}
	return new RegExp(`(?=(${print(root)}))`, 'g')
}

export function isLong(secret: string): boolean {
	return secret.length >= shortestSecret
}

/**
 * Takes these secrets out of another side's words: in every form, and those that are too short to be looked for
 * everywhere as they stand.
 */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
	const pattern = secretPattern(secrets)
	const short = secrets.filter((secret) => secret.length >= 3 && !isLong(secret))
	return (text) => short.reduce((said, secret) => said.replaceAll(secret, secretMark), hide(text, pattern))
}

/** The text with `[secret]` for all that the pattern finds; secrets that overlap become one mark. */
export function hide(text: string, pattern: RegExp | null): string {
	if (pattern === null) return text
	let cleaned = ''
	let kept = 0
	let start = -1
	let end = -1
	for (const match of text.matchAll(pattern)) {
		const matchEnd = match.index + (match[1]?.length ?? 0)
		if (match.index >= end) {
			if (start >= 0) {
				cleaned += text.slice(kept, start) + secretMark
				kept = end
			}
			start = match.index
		}
		end = Math.max(end, matchEnd)
	}
	return start < 0 ? text : cleaned + text.slice(kept, start) + secretMark + text.slice(end)
}

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
	return [...new Set([secret, marked, ...pieces])].filter(isLong)
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

/** A key of thousands of characters would nest the pattern too deep to be built. */
function slices(secret: string): string[] {
	const count = Math.ceil(secret.length / 200)
	const starts = Array.from({ length: count }, (_, n) => Math.min(n * 200, Math.max(0, secret.length - shortestSecret)))
	return starts.map((start) => secret.slice(start, start + 200))
}

/** Secrets by their first character, then by their second, …: a plain list of hundreds takes milliseconds a line. */
interface Branch {
	ends: boolean
	/** A secret may break off here. */
	breaks: boolean
	readonly next: Map<string, Branch>
}

function grow(root: Branch, characters: readonly string[], breaksFrom = Number.POSITIVE_INFINITY): void {
	let branch = root
	for (const [at, character] of characters.entries()) {
		const next = branch.next.get(character) ?? { ends: false, breaks: false, next: new Map() }
		branch.next.set(character, next)
		branch = next
		if (at + 1 === breaksFrom) branch.breaks = true
	}
	branch.ends = true
}

/**
 * What may follow where a secret breaks off: the rest of it in another spelling, or of the word that it was cut from.
 */
const restOfWord = '[A-Za-z0-9_%+/=-]*'

function print({ ends, breaks, next }: Branch): string {
	const ways = Array.from(next, ([character, branch]) => character + print(branch))
	if (ways.length === 0) return ''
	if (breaks && !ends) ways.push(restOfWord)
	return ways.length === 1 && !ends ? ways.join('') : `(?:${ways.join('|')})${ends ? '?' : ''}`
}

/** A pattern for one character of a secret, however a URL, JSON or HTML may write it. */
function spellings(character: string): string {
	if (/[A-Za-z0-9]/.test(character)) return character
	const code = character.codePointAt(0) ?? 0
	// `%25` is a percent sign that was encoded once more.
	const percent = Array.from(Buffer.from(character), (byte) => `%(?:25){0,2}${anyCase(hex(byte, 2))}`).join('')
	const escaped = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
	const unicode = escaped.map((unit) => `\\\\{1,7}u${anyCase(unit)}`).join('')
	const named = namedSpellings[character]
	const html = `&#(?:${code}|[xX]0*${anyCase(code.toString(16))});`
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
function base64Forms(secret: string): string[] {
	const bytes = Buffer.from(secret)
	return [0, 1, 2].flatMap((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
		const form = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
		return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
	})
}

function literal(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function hex(value: number, digits: number): string {
	return value.toString(16).padStart(digits, '0')
}

function anyCase(digits: string): string {
	return digits.replace(/[a-f]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
