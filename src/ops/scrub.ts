/** What stands in the place of a secret. */
export const secretMark = '[secret]'

/** Shorter secrets cannot be told from ordinary words and numbers, and are not looked for. */
export const shortestSecret = 6

export interface Scrubber {
	/**
	 * Registers secrets; may be called again when the configuration changes, and never forgets one. A secret that is a URL
	 * brings its parts along: password, path, query, and the pieces of the path that look like a key.
	 *
	 * Secrets shorter than `shortestSecret` are left out: hiding `admin` or `1234` would tear holes into every line. They
	 * are still hidden inside a URL or a `user:password` that was registered whole. Returns how many were left out, so that
	 * the caller can warn.
	 */
	add(secrets: Iterable<string>): number
	/**
	 * The text with every secret in it replaced by `[secret]`: as it is, percent-encoded, escaped for JSON (up to twice) or HTML, in any
	 * mixture of these, and in base64 or base64url, also as a part of something longer (`Authorization: Basic …`).
	 * Secrets that overlap become one mark. Text without a secret is returned unchanged.
	 */
	clean(text: string): string
}

export function createScrubber(): Scrubber {
	const known = new Set<string>()
	let pattern: RegExp | null = null
	return {
		add(secrets) {
			let leftOut = 0
			for (const secret of secrets) {
				const parts = partsOf(secret)
				// The parts hide the whole, and leave the host readable.
				for (const part of parts.length > 0 ? parts : [secret]) if (longEnough(part)) known.add(part)
				if (!longEnough(secret)) leftOut += 1
			}
			pattern = compile(known)
			return leftOut
		},
		clean: (text) => (pattern === null ? text : replaceAll(text, pattern)),
	}
}

/** What is secret in a secret that is a URL, and the key in a `whsec_…`; nothing for any other text. */
function partsOf(secret: string): string[] {
	const key = /^wh[a-z]*k?_(.+)$/s.exec(secret)?.[1]
	if (key !== undefined) return [key].filter(longEnough)
	if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(secret) || !URL.canParse(secret)) return []
	const url = new URL(secret)
	const path = decode(url.pathname)
	// A name without a password is a token; beside one it is a mail address or a login, which mails show rightly.
	const userinfo = url.password === '' ? [url.username] : [url.password, `${url.username}:${url.password}`]
	const pieces = path.split('/').filter((piece) => !isPlainWord(piece))
	const query = [...url.searchParams.values()].filter((value) => !isPlainWord(value))
	const paths = pieces.length > 0 || path.split('/').length > 2 ? [path, ...pieces] : []
	return [...userinfo.map(decode), ...paths, decode(url.search.slice(1)), ...query].filter(longEnough)
}

/** `mainnet`, `eth-mainnet`, `v2`, `services`: what paths and queries are made of beside keys. */
function isPlainWord(text: string): boolean {
	return text.length < 20 && /^[a-z]*([-_.][a-z]+)*(v?\d{1,3})?$/.test(text)
}

function longEnough(text: string): boolean {
	return text.length >= shortestSecret
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text)
	} catch {
		return text
	}
}

/** Finds, at every place of a text, the longest secret that starts there. */
function compile(secrets: ReadonlySet<string>): RegExp | null {
	if (secrets.size === 0) return null
	const root: Branch = { ends: false, next: new Map() }
	for (const secret of Array.from(secrets).flatMap(slices)) {
		grow(root, Array.from(secret, spellings))
		for (const form of base64Forms(secret)) grow(root, Array.from(form, literal))
	}
	return new RegExp(`(?=(${print(root)}))`, 'g')
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
	readonly next: Map<string, Branch>
}

function grow(root: Branch, characters: readonly string[]): void {
	let branch = root
	for (const character of characters) {
		const next = branch.next.get(character) ?? { ends: false, next: new Map() }
		branch.next.set(character, next)
		branch = next
	}
	branch.ends = true
}

function print({ ends, next }: Branch): string {
	const ways = Array.from(next, ([character, branch]) => character + print(branch))
	if (ways.length === 0) return ''
	return ways.length === 1 && !ends ? ways.join('') : `(?:${ways.join('|')})${ends ? '?' : ''}`
}

/** A pattern for one character of a secret, however a URL, JSON or HTML may write it. */
function spellings(character: string): string {
	if (/[A-Za-z0-9]/.test(character)) return character
	const code = character.codePointAt(0) ?? 0
	const percent = Array.from(Buffer.from(character), (byte) => `%${anyCase(hex(byte, 2))}`).join('')
	const escaped = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4))
	const unicode = escaped.map((unit) => `\\\\{1,3}u${anyCase(unit)}`).join('')
	const named = namedSpellings[character]
	const html = `&#(?:${code}|[xX]0*${anyCase(code.toString(16))});`
	// Up to three backslashes before it: JSON inside JSON.
	const plain = character === '\\' ? '\\\\{1,4}' : `\\\\{0,3}${literal(character)}`
	return `(?:${[plain, percent, unicode, html, ...(named === undefined ? [] : [named])].join('|')})`
}

const namedSpellings: Readonly<Record<string, string>> = {
	' ': '\\+',
	'\n': '\\\\{1,3}n',
	'\r': '\\\\{1,3}r',
	'\t': '\\\\{1,3}t',
	'\b': '\\\\{1,3}b',
	'\f': '\\\\{1,3}f',
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&apos;',
}

/**
 * Base64 of a secret depends on how many bytes stand before it, modulo three. The characters at the edges that also hold
 * bits of the neighbours cannot be known and are left out.
 */
function base64Forms(secret: string): string[] {
	const bytes = Buffer.from(secret)
	return [0, 1, 2].flatMap((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
		const form = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
		return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
	})
}

function replaceAll(text: string, pattern: RegExp): string {
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

function literal(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function hex(value: number, digits: number): string {
	return value.toString(16).padStart(digits, '0')
}

function anyCase(digits: string): string {
	return digits.replace(/[a-f]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
