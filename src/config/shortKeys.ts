import { decoded, urlSecrets } from '../base/secrets/urlSecrets.js'

/** Common words in the paths of endpoints and webhooks, which are no keys. */
const routeWords = [
	'evm|rpc|api|apis|eth|node|http|https|ws|wss|ext|bc|archive|full|trace|debug|json|jsonrpc|nanoreth|v?\\d+',
	'mainnet|testnet|ethereum|sepolia|holesky|hoodi|polygon|matic|amoy|arbitrum|arb|linea|scroll|zksync|era|unichain',
	'optimism|op|opt|base|gnosis|xdai|avalanche|avax|c|bsc|bnb|smart|chain|one|nova|celo|fantom|mantle|sonic|blast',
	'services?|hooks?|webhooks?|workflows|alerts?|events?|enqueue|notify|ping|send|sendmessage|public|tracewatch',
].join('|')
const route = new RegExp(`^(?:${routeWords})(?:[-_.](?:${routeWords}))*$`, 'i')

/**
 * Whether no part of a URL is recognised as a key, but a part of its path could be a short one: `/treasury`. Such a
 * part is not hidden.
 */
export function mayHoldShortKey(text: string): boolean {
	const url = new URL(text)
	// Services on this machine need no key.
	if (/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname) || urlSecrets(url).length > 0) return false
	return url.pathname.split('/').some((part) => part !== '' && !route.test(decoded(part)))
}
