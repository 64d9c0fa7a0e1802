import { formatAmount } from '../base/amount.js'
import { counted } from '../base/text/counted.js'
import { arbitrumMisses, isArbitrum } from '../core/chains.js'
import { contractsUnreadInWords } from '../core/control/unreadInWords.js'
import { logProofInWords } from '../core/cost/logProofInWords.js'
import { MOST_TURNS, tooManyInWords } from '../core/ledger/books.js'
import { noBooksBy } from '../core/ledger/kindsNeedingBooks.js'
import { recordOf } from '../kinds/all.js'
import { asksForTokens, noTokens } from '../kinds/tokenRules.js'
import type { Watch, WatchSet } from '../model/watch.js'
import { formats } from '../notify/webhook/formats/byName.js'
import { toChecksum } from './address.js'
import { writeDuration } from './duration.js'
import type { Config } from './load.js'
import { stepsInWords } from './settings/cron.js'
import type { NetworkSettings, ReceiverSettings } from './settings/settings.js'
import { statePlaceInWords } from './settings/statePlace.js'
import { shown } from './yaml/sourceFile.js'

/** A longer watchlist is cut to its first `fewWatches`, unless `all` is set. */
const mostWatches = 200
const fewWatches = 10

/**
 * Describes in plain words, one line each, what is watched and which receivers are notified. Endpoints and servers are
 * shown by host only, so that no secret appears.
 */
export function describeConfig(config: Config, cwd: string, all = false): readonly string[] {
	const networks = new Map(config.networks.map((network) => [network.name, network]))
	const arbitrum = config.networks.filter(({ chainId }) => isArbitrum(chainId)).map(({ name }) => name)
	return [
		`${shown(config.path, cwd)}; state in ${statePlaceInWords(config.statePlace, cwd)}; ${httpInWords(config.http)}`,
		'',
		'Networks',
		...config.networks.flatMap((network) => networkInWords(network, config)),
		'',
		'Receivers',
		...config.receivers.map((receiver) => `  ${receiverInWords(receiver)}`),
		'',
		'Watches',
		...watchesInWords(config.watches, networks, all),
		'',
		'Not reported as events: deposits that a layer 2 mints. Where books are kept, ' +
			'balance changes without a reported movement come as unexplained.',
		...(arbitrum.length === 0 ? [] : [`Not covered, ${arbitrumMisses} (${arbitrum.join(', ')}).`]),
		'',
		`configuration is right: ${counted(config.networks.length, 'network')}, ` +
			`${counted(config.watches.length, 'watch', 'watches')}, ` +
			`${counted(config.receivers.length, 'receiver')}`,
	]
}

function networkInWords(network: NetworkSettings, { watches }: Config): string[] {
	const { name, chainId, rpc, ws, schedule, source, confirmations, settle, isPrivate, requestsPerSecond } = network
	const method = source === 'auto' ? (isPrivate ? ', for whole blocks only' : '') : `, by ${source}`
	const rate = requestsPerSecond === null ? '' : `, at most ${requestsPerSecond} requests a second each`
	const heads = ws.length === 0 ? '' : ` and at each new head that ${hosts(ws, 'or')} reports`
	const depth =
		typeof confirmations === 'string'
			? `up to the newest ${confirmations} block`
			: confirmations === 0
				? 'up to the newest block'
				: `up to ${counted(confirmations, 'block')} behind the newest`
	const unread = contractsUnreadInWords(watches.rules, network)
	const ownRules = watches.rules.filter((rules) => rules.network === name)
	const areTokensAsked = asksForTokens(ownRules, network.tokens ?? noTokens)
	const again = settle === 'finalized' ? 'once it is finalized' : `${counted(settle, 'block')} later`
	return [
		`  ${name} (chain ${chainId}): asks ${hosts(rpc, 'then')}${method}${rate}`,
		`    polls ${stepsInWords(schedule)}${heads}, ${depth}; each block is looked at again ${again}`,
		`    ${booksInWords(network, watches.networks.get(name)?.index.size ?? 0)}`,
		`    ${knownTokensInWords(network)}`,
		...(unread === null ? [] : [`    contracts: ${unread}`]),
		...(areTokensAsked ? [`    logs of tokens: ${logProofInWords({ isPrivate, endpoints: rpc.length })}`] : []),
	]
}

function booksInWords(network: NetworkSettings, watched: number): string {
	const reason = noBooksBy(network, watched)
	if (reason === 'perhaps none') {
		return (
			'keeps books where blocks name their access lists (EIP-7928), since balances are asked for by address; ' +
			'elsewhere that nothing was missed is not proved'
		)
	}
	const polls = Math.ceil(watched / MOST_TURNS)
	const turns = polls > 1 ? `; the balance of each is asked for when it is touched, and once in ${polls} polls` : ''
	if (reason === null) return `keeps books: a balance change that no event explains is reported${turns}`
	return `keeps no books${reason === 'off' ? '' : `, for ${tooManyInWords}`}: that nothing was missed is not proved`
}

function knownTokensInWords({ tokens = noTokens }: NetworkSettings): string {
	if (tokens.size === 0) return 'names no tokens: only watches that set `tokens` report any'
	const names = [...tokens.values()].slice(0, 8).map(({ symbol, decimals, minAmountRaw }) => {
		return minAmountRaw === null ? symbol : `${symbol} from ${formatAmount(minAmountRaw, decimals ?? 0)}`
	})
	const more = tokens.size > names.length ? ` and ${tokens.size - names.length} more` : ''
	return `knows ${counted(tokens.size, 'token')}: ${names.join(', ')}${more}`
}

/** Each part after its place begins with a semicolon. */
function receiverInWords(receiver: ReceiverSettings): string {
	const { name, digest, fallback } = receiver
	const hasNone = receiver.type === 'webhook' && formats[receiver.format].takesDigest === undefined
	const storm =
		digest === null || hasNone
			? ''
			: `; past ${digest.max} alerts in ${writeDuration(digest.everyMs)} the rest as one message`
	const failing = fallback === null ? '' : `; ${fallback} is notified when it fails`
	return `${name}: ${placeInWords(receiver)}${storm}${failing}`
}

function placeInWords(receiver: ReceiverSettings): string {
	if (receiver.type === 'email') {
		return `mail from ${receiver.from} to ${receiver.to.join(', ')}, through ${new URL(receiver.smtp).host}`
	}
	const { url, format, secret } = receiver
	if (format !== 'standard') return `${format} at ${new URL(url).host}`
	return `webhook at ${new URL(url).host}, ${secret === null ? 'not signed' : 'signed'}`
}

/** One line for each watch; of a long watchlist only the first ones, unless `all` is set. */
function watchesInWords(
	watches: WatchSet,
	networks: ReadonlyMap<string, NetworkSettings>,
	all: boolean,
): readonly string[] {
	return watches.lists.flatMap(({ watchlist, first, length }) => {
		const shown = all || length <= mostWatches ? length : fewWatches
		const lines = Array.from({ length: shown }, (_, index) => {
			const watch = watches.at(first + index)
			return watch === undefined ? '' : `  ${watchInWords(watch, networks.get(watch.network))}`
		})
		return shown === length ? lines : [...lines, `  … and ${length - shown} more in ${watchlist}; --all names them`]
	})
}

function watchInWords(watch: Watch, network: NetworkSettings | undefined): string {
	const { address, label, kinds, receivers, fromBlock } = watch
	const name = `${label === null ? '' : `${label} `}${toChecksum(address)}`
	const names = { network, checksum: toChecksum }
	const phrases = kinds.flatMap((kind) => recordOf(kind).chosen(watch, names) ?? [])
	const start = fromBlock === null ? '' : `, from block ${fromBlock} on`
	return `${name} on ${watch.network}: ${phrases.join(', ')}${start} → ${receivers.join(', ')}`
}

function httpInWords(http: Config['http']): string {
	return http === null ? 'no metrics or health page' : `metrics and health at ${http.host}:${http.port}`
}

function hosts(urls: readonly string[], word: string): string {
	return urls.map((url) => new URL(url).host).join(`, ${word} `)
}
