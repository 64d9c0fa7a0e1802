import { hide, isLong, secretPattern } from '../base/hide.js'
import { decoded, urlSecrets } from '../base/urlSecrets.js'

export interface Scrubber {
	/**
	 * Registers secrets; may be called again when the configuration changes, and never forgets one. A secret that is a
	 * URL brings its parts along: password, path, query, and the pieces of the path that look like a key.
	 *
	 * Secrets shorter than `shortestSecret` are left out: hiding `admin` or `1234` would tear holes into every line. They
	 * are still hidden inside a URL or a `user:password` that was registered whole. Returns how many were left out, so
	 * that the caller can warn.
	 */
	add(secrets: Iterable<string>): number
	/**
	 * The text with every secret in it replaced by `[secret]`, in every form that `secretPattern` knows. Secrets that
	 * overlap become one mark. Text without a secret is returned unchanged.
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
	const parts = urlSecrets(url)
	// As a whole too, where a part of it is secret.
	const wholes = [url.pathname, url.search.slice(1)].filter((whole) => parts.some((part) => whole.includes(part)))
	return [...wholes, ...wholes.map(decoded), ...parts].filter(isLong)
}
