import { hide, isLong, secretPattern } from '../base/hide.js'

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
	 * The text with every secret in it replaced by `[secret]`, in every form that `secretPattern` knows. Secrets that overlap
	 * become one mark. Text without a secret is returned unchanged.
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
				for (const part of parts.length > 0 ? parts : [secret]) if (isLong(part)) known.add(part)
				if (!isLong(secret)) leftOut += 1
			}
			pattern = secretPattern(known)
			return leftOut
		},
		clean: (text) => hide(text, pattern),
	}
}

/** What is secret in a secret that is a URL, and the key in a `whsec_…`; nothing for any other text. */
function partsOf(secret: string): string[] {
	const key = /^wh[a-z]*k?_(.+)$/s.exec(secret)?.[1]
	if (key !== undefined) return [key].filter(isLong)
	if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(secret) || !URL.canParse(secret)) return []
	const url = new URL(secret)
	const path = decode(url.pathname)
	// A name without a password is a token; beside one it is a mail address or a login, which mails show rightly.
	const userinfo = url.password === '' ? [url.username] : [url.password, `${url.username}:${url.password}`]
	const pieces = path.split('/').filter((piece) => !isPlainWord(piece))
	const query = [...url.searchParams.values()].filter((value) => !isPlainWord(value))
	const paths = pieces.length > 0 || path.split('/').length > 2 ? [path, ...pieces] : []
	return [...userinfo.map(decode), ...paths, decode(url.search.slice(1)), ...query].filter(isLong)
}

/** `mainnet`, `eth-mainnet`, `v2`, `services`: what paths and queries are made of beside keys. */
function isPlainWord(text: string): boolean {
	return text.length < 20 && /^[a-z]*([-_.][a-z]+)*(v?\d{1,3})?$/.test(text)
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text)
	} catch {
		return text
	}
}
