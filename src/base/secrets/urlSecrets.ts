/**
 * The only rule for secrets in a URL: its login, its fragment, the values of its query, and each part of an HTTP or
 * WebSocket path that looks like a key. Words in a path are not secret: operators use them in labels, and pages in
 * their links. Hosts and ports are not secret: they name an endpoint in logs and metrics.
 */

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
const SHORTEST_PART = 3
/** From this length on, a digit or a capital inside a word makes a part of a path a key. */
const SHORTEST_KEY = 16

/**
 * Every secret part of a URL, both as written and decoded, longest first. `shortestKey`: in characters; the default
 * leaves words readable, a URL that is a secret as a whole takes shorter ones.
 */
export function urlSecrets(url: URL, shortestKey = SHORTEST_KEY): readonly string[] {
	const found = new Set<string>()
	const add = (...texts: readonly string[]) => {
		for (const text of texts) found.add(text).add(decoded(text))
	}
	const [user, password] = [decoded(url.username), decoded(url.password)]
	add(url.password)
	if (password !== '') add(`${user}:${password}`)
	const isWeb = /^(https?|wss?):$/.test(url.protocol)
	// Beside a password, and where no password is needed (a database), the user is a name. Mails show mail addresses.
	if ((password === '' && isWeb) || (looksLikeKey(user) && !user.includes('@'))) add(url.username)
	if (isWeb) {
		const keys = url.pathname.split('/').filter((part) => looksLikeKey(decoded(part), shortestKey))
		// Telegram's URL has the bot's number and its token directly after `bot`.
		const tokens = keys.flatMap((key) => /^bot(\d+:(.+))$/.exec(decoded(key))?.slice(1) ?? [])
		const values = url.search.slice(1).split('&').flatMap(secretValue)
		add(...keys, ...tokens, ...values, ...values.map((value) => value.replaceAll('+', ' ')), url.hash.slice(1))
	} else add(...url.searchParams.getAll('password'))
	return [...found].filter((text) => text.length >= SHORTEST_PART).sort((a, b) => b.length - a.length)
}

function secretValue(pair: string): readonly string[] {
	const at = pair.indexOf('=')
	const value = pair.slice(at + 1)
	return isOpenly(decoded(pair.slice(0, Math.max(0, at))), decoded(value)) ? [] : [value]
}

/** Whether a query parameter or a header is no secret: `chain=base`, `Priority: urgent`. */
export function isOpenly(name: string, value: string): boolean {
	return openNames.test(name) && !looksLikeKey(value)
}

/** A token of a Telegram bot, or a long text with a digit or a capital inside a word. */
export function looksLikeKey(text: string, shortest = SHORTEST_KEY): boolean {
	return /^(?:bot)?\d+:\S/.test(text) || (text.length >= shortest && /\d|[A-Za-z][A-Z]|[%"'\\<>]/.test(text))
}

/** Decodes a part of a URL. Returns it unchanged when its percent-encoding is invalid. */
export function decoded(part: string): string {
	try {
		return decodeURIComponent(part)
	} catch {
		return part
	}
}
