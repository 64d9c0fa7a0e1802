import { formatAmount } from '../core/amount.js'
import { MOST_KEPT, MOST_TURNS } from '../core/books.js'
import { arbitrumMisses, isArbitrum } from '../core/chains.js'
import { logProofInWords } from '../core/doctor.js'
import { asksForTokens, noTokens } from '../core/tokenChoice.js'
import type { Watch, WatchSet } from '../model/watch.js'
import { toChecksum } from './address.js'
import type { Config } from './load.js'
import { receiverOptionsInWords, silencesInWords } from './receiverOptions.js'
import { stepsInWords } from './settings/schedule.js'
import type { NetworkSettings, ReceiverSettings } from './settings/settings.js'
import { statePlaceInWords } from './settings/statePlace.js'
import { shown } from './source.js'

export interface DescribeOptions {
	/** Names every watch, however many a watchlist has. Default: only the first of a long one. */
	readonly all?: boolean
}

/** Longer watchlists are not named in full, */
const mostWatches = 200
/** but only their first watches. */
const fewWatches = 10

/** Who is told of what, in plain words, a line each; endpoints and servers by host only, so that no secret is shown. */
export function describeConfig(config: Config, cwd: string, { all = false }: DescribeOptions = {}): readonly string[] {
	const networks = new Map(config.networks.map((network) => [network.name, network]))
	return [
		`${shown(config.path, cwd)}; state in ${statePlaceInWords(config.statePlace, cwd)}; ${httpInWords(config.http)}`,
		'',
		'Networks',
		...config.networks.flatMap((network) =>
			networkInWords(network, watchedOn(config, network), tellsOfTokens(config, network)),
		),
		'',
		'Receivers',
		...config.receivers.map((receiver) => `  ${receiverInWords(receiver)}`),
		'',
		'Watches',
		...watchesInWords(config.watches, networks, all),
		'',
		'Told by no event of its own: deposits that a layer 2 mints. Where books are kept, ' +
			'balances that move otherwise are told as unexplained.',
		...arbitrumInWords(config.networks),
		'',
		`configuration is right: ${count(config.networks, 'network')}, ${count(config.watches, 'watch')}, ` +
			`${count(config.receivers, 'receiver')}`,
	]
}

function arbitrumInWords(networks: readonly NetworkSettings[]): readonly string[] {
	const names = networks.filter(({ chainId }) => isArbitrum(chainId)).map(({ name }) => name)
	return names.length === 0 ? [] : [`Not covered, ${arbitrumMisses} (${names.join(', ')}).`]
}

/** How many addresses. */
function watchedOn({ watches }: Config, { name }: NetworkSettings): number {
	return watches.networks.get(name)?.index.size ?? 0
}

function networkInWords(network: NetworkSettings, watched: number, areTokensAsked: boolean): string[] {
	const { name, chainId, rpc, ws, schedule, source, confirmations, settle, isPrivate, requestsPerSecond } = network
	const method = source === 'auto' ? (isPrivate ? ', for whole blocks only' : '') : `, by ${source}`
	const rate = requestsPerSecond === null ? '' : `, at most ${requestsPerSecond} requests a second each`
	const heads = ws.length === 0 ? '' : ` and at each new head that ${hosts(ws, 'or')} tells of`
	const depth =
		typeof confirmations === 'string'
			? `up to the newest ${confirmations} block`
			: confirmations === 0
				? 'up to the newest block'
				: `up to ${blocks(confirmations)} behind the newest`
	const again = settle === 'finalized' ? 'once it is finalized' : `${blocks(settle)} later`
	return [
		`  ${name} (chain ${chainId}): asks ${hosts(rpc, 'then')}${method}${rate}`,
		`    ${scheduleInWords(schedule)}${heads}, ${depth}; each block is looked at again ${again}`,
		`    ${booksInWords(network, watched)}`,
		`    ${knownTokensInWords(network)}`,
		...(areTokensAsked ? [`    logs of tokens: ${logsInWords(network)}`] : []),
	]
}

function booksInWords({ keepsBooks, keepsListedBooks }: NetworkSettings, watched: number): string {
	if (keepsListedBooks && watched <= MOST_KEPT) {
		return (
			'keeps books where blocks name their access lists (EIP-7928), since balances are asked for by address; ' +
			'elsewhere that nothing was missed is not proved'
		)
	}
	const isTooMuch = keepsBooks && watched > MOST_KEPT
	const polls = Math.ceil(watched / MOST_TURNS)
	const turns = polls > 1 ? `; the balance of each is asked for when it is touched, and once in ${polls} polls` : ''
	if (keepsBooks && !isTooMuch) return `keeps books: what no event explains of a balance is told${turns}`
	return (
		'keeps no books' +
		`${isTooMuch ? `, for it watches more than ${MOST_KEPT.toLocaleString('en')} addresses` : ''}: ` +
		'that nothing was missed is not proved'
	)
}

/** Whether a watch on it is told of any. */
function tellsOfTokens({ watches }: Config, { name, tokens = noTokens }: NetworkSettings): boolean {
	return asksForTokens(
		watches.rules.filter(({ network }) => network === name),
		tokens,
	)
}

function logsInWords({ rpc, isPrivate, mostLogProofs }: NetworkSettings): string {
	return logProofInWords({ isPrivate, mostLogProofs, endpoints: rpc.length })
}

function knownTokensInWords({ tokens = noTokens }: NetworkSettings): string {
	if (tokens.size === 0) return 'names no tokens: they are told of only where a watch asks for them'
	const names = [...tokens.values()].slice(0, 8).map(({ symbol, decimals, minAmountRaw }) => {
		return minAmountRaw === null ? symbol : `${symbol} from ${formatAmount(minAmountRaw, decimals ?? 0)}`
	})
	const more = tokens.size > names.length ? ` and ${tokens.size - names.length} more` : ''
	return `knows ${tokens.size === 1 ? '1 token' : `${tokens.size} tokens`}: ${names.join(', ')}${more}`
}

function receiverInWords(receiver: ReceiverSettings): string {
	return `${receiver.name}: ${placeInWords(receiver)}${receiverOptionsInWords(receiver)}`
}

function placeInWords(receiver: ReceiverSettings): string {
	if (receiver.type === 'email') {
		return `mail from ${receiver.from} to ${receiver.to.join(', ')}, through ${new URL(receiver.smtp).host}`
	}
	const { url, format, secret } = receiver
	if (format !== 'standard') return `${format} at ${new URL(url).host}`
	return `webhook at ${new URL(url).host}, ${secret === null ? 'not signed' : 'signed'}`
}

/** A line each; of a watchlist that is long only the first. */
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
	const { address, label, kinds, direction, minValueWei, receivers, fromBlock } = watch
	const name = `${label === null ? '' : `${label} `}${toChecksum(address)}`
	const ways = direction === 'both' ? 'in and out' : direction
	const least =
		minValueWei <= 1n || network === undefined
			? ''
			: ` of at least ${formatAmount(minValueWei, network.decimals)} ${network.symbol}`
	const deployments = { both: 'deployments', out: 'deployments by it', in: 'its own deployment' }[direction]
	const words = {
		transfer: `transfers ${ways}${least}`,
		deployment: deployments,
		token: tokensInWords(watch, network),
		withdrawal: 'withdrawals from staking',
		delegation: 'delegations',
		income: 'priority fees',
		balance: thresholdsInWords(watch, network),
		unexplained: 'what is unexplained',
	}
	const phrases = kinds.map((kind) => words[kind]).filter((word) => word !== null)
	const start = fromBlock === null ? '' : `, from block ${fromBlock} on`
	const held = watch.silences === undefined ? '' : `; ${silencesInWords(watch.silences)}`
	return `${name} on ${watch.network}: ${phrases.join(' and ')}${start} → ${receivers.join(', ')}${held}`
}

/** Null: it is told of none. */
function tokensInWords({ tokens = 'known', direction }: Watch, network: NetworkSettings | undefined): string | null {
	const known = network?.tokens ?? noTokens
	const ways = direction === 'both' ? '' : ` ${direction}`
	if (tokens === 'none' || (tokens === 'known' && known.size === 0)) return null
	if (tokens === 'all') return `all tokens${ways}, unknown ones too`
	if (tokens === 'known') return `known tokens${ways}`
	return `${[...tokens].map((one) => known.get(one)?.symbol ?? toChecksum(one)).join(', ')}${ways}`
}

/** Null where none is set. */
function thresholdsInWords({ thresholds }: Watch, network: NetworkSettings | undefined): string | null {
	if (thresholds === undefined || network === undefined) return null
	const { belowWei, aboveWei } = thresholds
	const words = [
		...(belowWei === null ? [] : [`below ${formatAmount(belowWei, network.decimals)}`]),
		...(aboveWei === null ? [] : [`above ${formatAmount(aboveWei, network.decimals)}`]),
	]
	return `a balance ${words.join(' or ')} ${network.symbol}`
}

function scheduleInWords(schedule: string): string {
	const words = stepsInWords(schedule)
	if (words === null) return `polls at "${schedule}"`
	return `polls ${words}${schedule.split(' ').length === 5 ? ' (five fields, minutes first)' : ''}`
}

function httpInWords(http: Config['http']): string {
	return http === null ? 'no metrics or health page' : `metrics and health at ${http.host}:${http.port}`
}

function hosts(urls: readonly string[], word: string): string {
	return urls.map((url) => new URL(url).host).join(`, ${word} `)
}

function blocks(number: number): string {
	return number === 1 ? '1 block' : `${number} blocks`
}

function count(list: { readonly length: number }, noun: 'network' | 'watch' | 'receiver'): string {
	return `${list.length} ${noun}${list.length === 1 ? '' : noun === 'watch' ? 'es' : 's'}`
}
