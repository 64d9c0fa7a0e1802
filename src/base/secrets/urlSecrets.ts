/**
 * The only rule for secrets in a URL: its login, its fragment, the values of its query, and each part of an HTTP or
 * WebSocket path that looks like a key (`keyShape.ts`). Words in a path are not secret: operators use them in labels,
 * and pages in their links. Hosts and ports are not secret: they name an endpoint in logs and metrics.
 */

import { looksLikeKey } from './keyShape.js'

/** Query parameters and headers whose values are words: those of RPC providers, of Telegram's and of ntfy's API. */
const openNames = new RegExp(
	`^(?:x-)?(?:${[
		'network|chain(?:_?id)?|channel|chat_id|(?:message_)?thread_id|with_components',
		'region|env|version|api-version|format',
		'wait|lang|source|type|title|message|priority|prio|p|tags?|ta|click|icon|actions?|markdown|delay|email|topic',
		'accept|accept-language|user-agent',
	].join('|')})$`,
	'i',
)

/** Shorter parts are not hidden: they occur in most texts. */
const shortestPart = 3

/** Every secret part of a URL, both as written and decoded, longest first. */
export function urlSecrets(url: URL): readonly string[] {
	const found = new Set<string>()
	const add = (...texts: readonly string[]) => {
		for (const text of texts) found.add(text).add(decoded(text))
	}
	const [user, password] = [decoded(url.username), decoded(url.password)]
	add(url.password)
	if (password !== '') add(`${user}:${password}`)
	// Beside a password the user is a name, such as `apikey`. Mails show mail addresses.
	if (password === '' || (looksLikeKey(user) && !user.includes('@'))) add(url.username)
	if (/^(https?|wss?):$/.test(url.protocol)) {
		const keys = url.pathname.split('/').filter((part) => looksLikeKey(decoded(part)))
		const values = url.search
			.slice(1)
			.split('&')
			.flatMap((pair) => {
				const at = pair.indexOf('=')
				const value = pair.slice(at + 1)
				return isOpenly(decoded(pair.slice(0, Math.max(0, at))), decoded(value)) ? [] : [value]
			})
		add(...keys, ...values, ...values.map((value) => value.replaceAll('+', ' ')), url.hash.slice(1))
		// Telegram's URL has the token directly after this word.
		add(...keys.map((key) => decoded(key).replace(/^bot(?=\d+:)/, '')))
	} else add(...url.searchParams.getAll('password'))
	return [...found].filter((text) => text.length >= shortestPart).sort((a, b) => b.length - a.length)
}

/** Whether a query parameter or a header is no secret: `chain=base`, `Priority: urgent`. */
export function isOpenly(name: string, value: string): boolean {
	return openNames.test(name) && !looksLikeKey(value)
}

/** Decodes a part of a URL. Returns it unchanged when its percent-encoding is invalid. */
export function decoded(part: string): string {
	try {
		return decodeURIComponent(part)
	} catch {
		return part
	}
}
