/**
 * Readers of single values. Each takes a text and throws a RangeError whose message follows after the key's name.
 * Readers of values that may hold a secret (URLs, signing secrets) never repeat their input.
 */
import { decoded } from '../base/secrets/urlSecrets.js'
import { quoted } from '../base/text/quoted.js'
import { suggestion } from './words.js'

export function readName(text: string): string {
	if (/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(text)) return text
	throw new RangeError(`must be one word of letters, digits, dots, dashes and underscores, not ${quoted(text)}`)
}

/** A whole number in decimal digits, between `least` and `most`, both included. */
export function readWholeNumber(text: string, most = Number.MAX_SAFE_INTEGER, least = 0): number {
	if (!/^(0|[1-9]\d*)$/.test(text)) throw new RangeError(`must be a whole number such as 12, not ${quoted(text)}`)
	const number = Number(text)
	if (number > most) throw new RangeError(`must be at most ${most}, not ${quoted(text)}`)
	if (number < least) throw new RangeError(`must be at least ${least}`)
	return number
}

export function readChainId(text: string): number {
	if (/^0x[0-9a-f]{1,13}$/i.test(text)) throw new RangeError(`must be in decimal digits: write ${BigInt(text)}`)
	return readWholeNumber(text, Number.MAX_SAFE_INTEGER, 1)
}

/** A number of blocks, or one of the tags of blocks. */
export function readBlocks<const Tag extends string>(text: string, tags: readonly Tag[]): number | Tag {
	const tag = tags.find((one) => one === text)
	if (tag !== undefined) return tag
	if (/^\d+$/.test(text)) return readWholeNumber(text)
	const named = tags.length === 1 ? `, or ${tags[0]}` : `, ${tags.join(' or ')}`
	throw new RangeError(`must be a number of blocks${named}, not ${quoted(text)}`)
}

/** One line of text without control or direction-changing characters. */
export function readLine(text: string): string {
	if (text.trim() === '') throw new RangeError('is empty')
	if (/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text)) {
		throw new RangeError('must be one line without control characters')
	}
	return text
}

/** `http:` or `https:` with a host. */
export function readHttpUrl(text: string): string {
	return parseUrl(text, ['http', 'https'], 'https://host/path').href
}

/** Base URL for links to an explorer; slashes at the end are removed. */
export function readExplorer(text: string): string {
	return readHttpUrl(text).replace(/\/+$/, '')
}

/** `smtp://` (STARTTLS, default port 587) or `smtps://` (TLS, default port 465). The result always has a port. */
export function readSmtpUrl(text: string): string {
	const url = parseUrl(text, ['smtp', 'smtps'], 'smtps://user:password@host:465')
	// In `smtp://user:p@ss/word@host` a part of the password would be taken for the host.
	if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
		throw new RangeError(
			'has something after the host and port, where nothing belongs; in a user or password write @ as %40, ' +
				'/ as %2F, ? as %3F, # as %23, % as %25',
		)
	}
	if (url.port === '') url.port = url.protocol === 'smtps:' ? '465' : '587'
	// The bundler drops a bare call of `decodeURIComponent`, so what it gives is compared.
	if ([url.username, url.password].some((part) => part.includes('%') && decoded(part) === part))
		throw new RangeError('has a user or password with a stray %: write % as %25')
	return url.href
}

function parseUrl(text: string, schemes: readonly string[], example: string): URL {
	const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
	const wanted = schemes.map((name) => `${name}://`).join(' or ')
	if (/^\$[A-Za-z_]/.test(text))
		throw new RangeError(`is a variable without braces, which stays as it is: write \${NAME}`)
	if (scheme === undefined) throw new RangeError(`must be a URL that begins with ${wanted}, such as ${example}`)
	if (!schemes.includes(scheme)) throw new RangeError(`must begin with ${wanted}; ${scheme}:// is not supported here`)
	if (/\s/.test(text)) throw new RangeError('has a blank or a line break in it: take it out, or write a blank as %20')
	const url = URL.canParse(text) ? new URL(text) : undefined
	// In `https://user:p@ss/word@host` a part of the password would be taken for the host, which messages show. Of a
	// mail server the caller refuses every path.
	const isCut = !schemes.includes('smtp') && url?.username !== '' && url?.pathname.includes('@') === true
	if (url === undefined || url.hostname === '' || isCut) {
		throw new RangeError(
			`is not a right URL, such as ${example}; in a user or password write @ as %40, / as %2F, # as %23, % as %25`,
		)
	}
	return url
}

/** `local@domain`, without a display name. */
export function readMailAddress(text: string): string {
	if (/^[^\s@<>"(),:;[\]\\\p{Cc}]+@[\p{L}\p{N}]([\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(text)) return text
	throw new RangeError(`must be a mail address such as ops@example.org, not ${quoted(text)}`)
}

/** A mail address, or `Name <local@domain>`. */
export function readMailbox(text: string): string {
	const trimmed = text.trim()
	const open = trimmed.indexOf('<')
	if (open === -1 || !trimmed.endsWith('>')) return readMailAddress(text)
	const [name, address] = [trimmed.slice(0, open).trim(), trimmed.slice(open + 1, -1)]
	if (name === '') return readMailAddress(address)
	return `${readLine(name)} <${readMailAddress(address)}>`
}

/** `ws:` or `wss:` with a host. */
export function readWsUrl(text: string): string {
	return parseUrl(text, ['ws', 'wss'], 'wss://host/path').href
}

/** `postgres:` or `postgresql:` with a host (in `?host=` for a socket) and the name of a database. */
export function readPostgresUrl(text: string): string {
	const example = 'postgres://user:password@host/database'
	const isSocket = URL.canParse(text) && new URL(text).hostname === '' && new URL(text).searchParams.has('host')
	const url = isSocket ? new URL(text) : parseUrl(text, ['postgres', 'postgresql'], example)
	if (url.pathname.length < 2) throw new RangeError(`must name a database, such as ${example}`)
	const names = url.searchParams.getAll('name')
	if (names.length > 1 || names[0] === '') throw new RangeError('must have one `name=`, the name of this program in it')
	if (url.searchParams.getAll('sslmode').some((mode) => !SSL_MODES.includes(mode)))
		throw new RangeError(
			'has an `sslmode=` that does not exist: write verify-full, or disable for a connection without TLS',
		)
	const isKnown = (key: string) => KNOWN_PARAMETERS.includes(key) || key === 'dbname'
	const near = (key: string) => (isKnown(key) ? '' : suggestion(key, KNOWN_PARAMETERS))
	const hint = [...url.searchParams.keys()].map(near).find((words) => words !== '')
	if (hint === undefined) return text
	throw new RangeError(`has a parameter after its ? that is misspelt${hint.replaceAll('`', '')}`)
}

/** Of libpq, and `no-verify` of pg; pg treats any other value as verify-full. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** pg ignores a misspelt one: two programs would then share a state, or the password would go out in clear. */
const KNOWN_PARAMETERS = ['name', 'sslmode', 'sslrootcert']

/** A number above 0 in decimal digits, with or without a decimal point. */
export function readRate(text: string): number {
	const rate = /^(0|[1-9]\d{0,5})(\.\d{1,6})?$/.test(text) ? Number(text) : 0
	if (rate > 0) return rate
	throw new RangeError(`must be a number above 0, such as 10 or 0.5, not ${quoted(text)}`)
}

export function readSwitch(text: string): boolean {
	if (text === 'true' || text === 'false') return text === 'true'
	throw new RangeError(`must be true or false, not ${quoted(text)}`)
}

/** At least 8 characters. Error messages do not repeat the password. */
export function readPassword(text: string): string {
	if (text.length < 8) throw new RangeError('must have at least 8 characters')
	return text
}

/** `host:port`; an IPv6 host stands in brackets. */
export function readListen(text: string): { readonly host: string; readonly port: number } {
	const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(text)
	if (match === null) throw new RangeError(`must be host:port, such as 127.0.0.1:9464, not ${quoted(text)}`)
	const port = Number(match[3])
	if (port > 65535) throw new RangeError(`must have a port of at most 65535, not ${quoted(match[3] ?? '')}`)
	return { host: match[1] ?? match[2] ?? '', port }
}
