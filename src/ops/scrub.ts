import { hiderOf, isLong } from '../base/secrets/hide.js'
import { decoded, urlSecrets } from '../base/secrets/urlSecrets.js'

export type Scrubber = ReturnType<typeof createScrubber>

export function createScrubber() {
	const known = new Set<string>()
	let hide = (text: string) => text
	return {
		/**
		 * Registers secrets; may be called again when the configuration changes. Registered secrets are never removed. Of a
		 * URL only its secret parts are registered (`urlSecrets`).
		 *
		 * Secrets of less than six characters are skipped: hiding `admin` or `1234` would make many lines unreadable. They
		 * are still hidden inside a URL or a `user:password` that was registered as a whole.
		 */
		add(secrets: Iterable<string>): void {
			for (const part of [...secrets].flatMap(partsOf).filter(isLong)) known.add(part)
			hide = hiderOf(known)
		},
		/** Replaces every secret by `[secret]`, in every form that `hiderOf` finds. */
		clean: (text: string) => hide(text),
	}
}

/**
 * The texts to hide for a secret: of a URL its secret parts, so that the host stays readable, also of a URL in its
 * query; of `whsec_…` the key.
 */
function partsOf(secret: string): readonly string[] {
	const key = /^wh[a-z]*k?_(.+)$/s.exec(secret)?.[1]
	if (key !== undefined && isLong(key)) return [key]
	if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(secret) || !URL.canParse(secret)) return [secret]
	const url = new URL(secret)
	const parts = urlSecrets(url).filter(isLong)
	// Also the whole path or query, if a part of it is secret.
	const wholes = [url.pathname, url.search.slice(1)].filter((whole) => parts.some((part) => whole.includes(part)))
	if (parts.length > 0) return [...wholes, ...wholes.map(decoded), ...parts, ...parts.flatMap(partsOf)]
	// A path of plain words is hidden only together with its host.
	return url.pathname.length > 1 ? [secret] : []
}
