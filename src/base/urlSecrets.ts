/**
 * The one rule of what is secret in a URL: its login, and of addresses that are asked by HTTP or WebSocket the path and
 * the query, where services put their keys. Hosts and ports are no secrets: they name an endpoint wherever it is spoken
 * of.
 */

/** What paths and queries are made of beside keys. Taking these out of a text would only spoil it. */
const words = [
	'evm|rpc|api|apis|eth|node|http|https|ws|wss|ext|bc|archive|full|trace|debug|json|jsonrpc|nanoreth|v\\d+',
	'mainnet|testnet|ethereum|sepolia|holesky|hoodi|polygon|matic|amoy|arbitrum|arb',
	'optimism|opt|base|gnosis|avalanche|bsc|bnb',
	'services?|hooks?|webhooks?|workflows|alerts?|events?|enqueue|notify|ping|uuid|send|sendmessage|public|true|false',
].join('|')
/** `eth-mainnet`, `v2`, `json-rpc`, `base_sepolia`. */
const plain = new RegExp(`^(?:${words})(?:[-_.](?:${words}|\\d{1,3}))*$`, 'i')

/** Shorter parts are left alone: they stand in every second word. */
const shortestPart = 3

/**
 * Every text of a URL that must not be seen, as written and decoded, longest first. A user beside a password is a
 * secret too, unless it is a mail address, which mails show rightly.
 */
export function urlSecrets(url: URL): readonly string[] {
	const found = new Set<string>()
	const add = (...texts: readonly string[]) => {
		for (const text of texts) found.add(text).add(decoded(text))
	}
	const [user, password] = [decoded(url.username), decoded(url.password)]
	add(url.password)
	if (password !== '') add(`${user}:${password}`)
	if (password === '' || !user.includes('@')) add(url.username)
	if (/^(https?|wss?):$/.test(url.protocol)) {
		const steps = url.pathname.split('/').filter(isKey)
		// The name of a parameter is none, unless it stands alone.
		const written = url.search
			.slice(1)
			.split('&')
			.map((pair) => pair.slice(pair.indexOf('=') + 1))
		add(...steps, ...[...written, ...url.searchParams.values()].filter(isKey))
		// Telegram's URL has its token after this word.
		add(...steps.map((step) => decoded(step).replace(/^bot(?=\d+:)/, '')))
	} else add(...url.searchParams.getAll('password'))
	return [...found].filter((text) => text.length >= shortestPart).sort((a, b) => b.length - a.length)
}

function isKey(part: string): boolean {
	return part.length >= shortestPart && !plain.test(decoded(part))
}

/** Of a part of a URL; as it stands where it is not well encoded. */
export function decoded(part: string): string {
	try {
		return decodeURIComponent(part)
	} catch {
		return part
	}
}
