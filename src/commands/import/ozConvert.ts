/** Networks, monitors and triggers of OpenZeppelin as our settings and watchlists. Pure. */

import { parseAddress, toChecksum } from '../../config/address.js'
import { chainNamed } from '../../core/chains.js'
import { type Covered, verdictOn, type WatchPart } from './ozConditions.js'
import { type OzMonitor, type OzNetwork, type OzSite, type OzTrigger, readSecret, type Secret } from './ozFiles.js'

/** A line of the report; `of` is a network, a trigger, or a monitor with one of its conditions. */
export interface Finding {
	readonly of: string
	readonly covered: Covered
	readonly words: string
}

export interface Watch {
	readonly address: string
	readonly label: string
	readonly kinds?: readonly string[]
	readonly direction?: 'in' | 'out'
	readonly min_value?: string
	readonly calls?: readonly string[]
	readonly tokens?: readonly string[]
}

export interface Watchlist {
	/** Without `.yaml`. */
	readonly name: string
	readonly network: string
	readonly receivers: readonly string[]
	readonly watches: readonly Watch[]
}

export interface Converted {
	/** Entries of `networks` and `receivers`; secrets stand as `${NAME}`. */
	readonly networks: readonly Readonly<Record<string, unknown>>[]
	readonly receivers: readonly Readonly<Record<string, unknown>>[]
	readonly watchlists: readonly Watchlist[]
	/** Secrets that stood in the files, by name. */
	readonly secrets: ReadonlyMap<string, string>
	/** Secrets that must be set, by name. */
	readonly needed: ReadonlyMap<string, Needed>
	readonly findings: readonly Finding[]
}

export interface Needed {
	/** Where the value came from. */
	readonly source: string
	/** A value of the right form. */
	readonly standIn: string
}

const urlForm = 'https://host.invalid/0'
const smtpForm = 'smtps://host.invalid'
const wordForm = 'A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4'

/** Collects what is named `${NAME}` in the settings. */
interface Store {
	readonly secrets: Map<string, string>
	readonly needed: Map<string, Needed>
}

/** Chains by the names that Defender gives them. */
const defenderChains: Readonly<Record<string, number>> = {
	...{ mainnet: 1, sepolia: 11_155_111, holesky: 17_000, hoodi: 560_048, optimism: 10, 'optimism-sepolia': 11_155_420 },
	...{ arbitrum: 42_161, 'arbitrum-nova': 42_170, 'arbitrum-sepolia': 421_614, base: 8_453, 'base-sepolia': 84_532 },
	...{ matic: 137, amoy: 80_002, 'matic-zkevm': 1_101, bsc: 56, bsctest: 97, avalanche: 43_114, fuji: 43_113 },
	...{ xdai: 100, celo: 42_220, fantom: 250, linea: 59_144, 'linea-sepolia': 59_141, mantle: 5_000, scroll: 534_352 },
	...{ zksync: 324, aurora: 1_313_161_554, moonbeam: 1_284, moonriver: 1_285, unichain: 130 },
}

export function convertOz(site: OzSite): Converted {
	const findings: Finding[] = site.unread.map(({ file, reason }) => ({ of: file, covered: 'no', words: reason }))
	const store: Store = { secrets: new Map(), needed: new Map() }
	const names = createNames()
	const networks = new Map<string, Readonly<Record<string, unknown>>>()
	for (const network of [...site.networks, ...namedByDefender(site)]) {
		const found = networkOf(network, store)
		if (typeof found === 'string') findings.push({ of: `network ${network.slug}`, covered: 'no', words: found })
		else networks.set(network.slug, found)
	}
	const receivers = new Map<string, Readonly<Record<string, unknown>>>()
	for (const trigger of site.triggers) {
		const name = names(trigger.key)
		const { settings, words } = receiverOf(name, trigger, store)
		if (settings !== null) receivers.set(trigger.key, settings)
		const covered = settings === null ? 'no' : words === '' ? 'yes' : 'more'
		findings.push({ of: `trigger ${trigger.key}`, covered, words: words || 'the message is that of tracewatch' })
	}
	const watchlists = site.monitors.flatMap((monitor) =>
		watchlistsOf(monitor, { networks, receivers, findings, names: createNames() }),
	)
	const used = new Set(watchlists.map(({ network }) => network))
	for (const [slug, { name }] of networks)
		if (!used.has(String(name)))
			findings.push({ of: `network ${slug}`, covered: 'no', words: 'nothing is watched there' })
	return {
		networks: [...networks.values()].filter(({ name }) => used.has(String(name))),
		receivers: [...receivers.values()],
		watchlists: distinct(watchlists),
		...store,
		findings,
	}
}

/** Defender exports no networks: those that its monitors name, with an endpoint to be set. */
function namedByDefender({ networks, monitors }: OzSite): readonly OzNetwork[] {
	const given = new Set(networks.map(({ slug }) => slug))
	const named = new Set(monitors.flatMap((monitor) => monitor.networks).filter((name) => !given.has(name)))
	return [...named].map((slug) => {
		const chainId = Object.hasOwn(defenderChains, slug) ? (defenderChains[slug] ?? null) : null
		const variable = `${chainId === 1 ? 'ETHEREUM' : slug.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_RPC_URL`
		const urls: readonly Secret[] = [{ type: 'environment', value: variable }]
		return { slug, isEvm: chainId !== null, chainId, urls, schedule: null, confirmations: null }
	})
}

/** Null-free settings, or the reason why there are none. */
function networkOf(network: OzNetwork, store: Store): Readonly<Record<string, unknown>> | string {
	const { slug, isEvm, chainId, schedule, confirmations } = network
	if (!isEvm || chainId === null) return 'tracewatch watches EVM chains, and this is none, or has no known chain id'
	const name = nameOf(slug)
	const urls = network.urls.filter(({ type, value }) => type !== 'plain' || /^https?:/.test(value))
	if (urls.length === 0) return 'it names no endpoint by HTTP'
	const { symbol, explorer } = chainNamed(chainId)
	return {
		...{ name, chain_id: chainId },
		rpc: urls.map((url, at) => {
			const usual = `${name}_RPC_URL${at === 0 ? '' : `_${at + 1}`}`
			return variableOf(url, { usual, standIn: urlForm }, store)
		}),
		schedule: literal(schedule ?? '*/12 * * * * *'),
		...(confirmations === null || confirmations === 0 ? {} : { confirmations }),
		...(symbol === 'ETH' ? {} : { symbol }),
		...(explorer === null ? {} : { explorer }),
	}
}

interface Place {
	/** The name of the secret, where it has none. */
	readonly usual: string
	readonly standIn: string
}

/** File systems take names of 255 bytes. */
const longestName = 100

/** A text of the files as the settings say it: a `${NAME}` in it is no variable of ours. */
function literal(text: string): string {
	return text.replaceAll('${', () => '$${')
}

/** `${NAME}` of a secret, which is kept, or named as needed. */
function variableOf({ type, value }: Secret, { usual, standIn }: Place, { secrets, needed }: Store): string {
	if (type === 'environment' && /^[A-Za-z_]\w*$/.test(value)) {
		needed.set(value, { source: 'the environment variable of the same name', standIn })
		return `\${${value}}`
	}
	const word = usual.toUpperCase().replace(/[^A-Z0-9_]/g, '_')
	const base = (/^\d/.test(word) ? `_${word}` : word).slice(0, longestName)
	for (let at = 1; ; at++) {
		const name = at === 1 ? base : `${base}_${at}`
		if (needed.has(name) || (secrets.has(name) && secrets.get(name) !== value)) continue
		if (type === 'plain') secrets.set(name, value)
		else needed.set(name, { source: `the secret ${value} of the vault`, standIn })
		return `\${${name}}`
	}
}

interface ConvertedReceiver {
	readonly settings: Readonly<Record<string, unknown>> | null
	/** What differs, or why there is none; empty: nothing. */
	readonly words: string
}

function receiverOf(name: string, { type, config }: OzTrigger, store: Store): ConvertedReceiver {
	const hook = { name, type: 'webhook' }
	const url = (key: string): string | null => {
		const secret = readSecret(config[key] ?? config.url)
		return secret === null ? null : variableOf(secret, { usual: `${name}_URL`, standIn: urlForm }, store)
	}
	const missing: ConvertedReceiver = { settings: null, words: 'it has no URL' }
	switch (type) {
		case 'slack':
		case 'discord': {
			const at = url(`${type}_url`)
			return at === null ? missing : { settings: { ...hook, url: at, format: type }, words: '' }
		}
		case 'telegram': {
			const token = readSecret(config.token ?? config.botToken)
			const chat = config.chat_id ?? config.chatId
			if (token === null || chat === undefined) return { settings: null, words: 'it has no token, or no chat' }
			const variable = variableOf(token, { usual: `${name}_TOKEN`, standIn: wordForm }, store)
			const at = `https://api.telegram.org/bot${variable}`
			return { settings: { ...hook, url: at, format: 'telegram', chat_id: literal(String(chat)) }, words: '' }
		}
		case 'pager-duty': {
			const key = readSecret(config.routingKey)
			if (key === null) return { settings: null, words: 'it has no routing key' }
			const at = 'https://events.pagerduty.com/v2/enqueue'
			const routing = variableOf(key, { usual: `${name}_ROUTING_KEY`, standIn: wordForm }, store)
			return { settings: { ...hook, url: at, format: 'pagerduty', routing_key: routing }, words: '' }
		}
		case 'webhook': {
			const at = url('url')
			const words = 'body and signature are those of Standard Webhooks: change what receives them (docs/delivery.md)'
			return at === null ? missing : { settings: { ...hook, url: at, ...headersOf(name, config, store) }, words }
		}
		case 'email':
			return mailOf(name, config, store)
		default:
			return { settings: null, words: `tracewatch has no receiver of the type ${type}` }
	}
}

function headersOf(name: string, { headers }: OzTrigger['config'], store: Store) {
	const own = typeof headers === 'object' && headers !== null ? Object.entries(headers) : []
	const sent = own.filter(([header]) => !/^content-(type|length)$/i.test(header))
	if (sent.length === 0) return {}
	const sentAs = (header: string, value: unknown) =>
		variableOf(
			readSecret(value) ?? { type: 'plain', value: String(value) },
			{ usual: `${name}_${header}`, standIn: wordForm },
			store,
		)
	return { headers: Object.fromEntries(sent.map(([header, value]) => [header, sentAs(header, value)])) }
}

function mailOf(name: string, config: OzTrigger['config'], store: Store): ConvertedReceiver {
	const to = [config.recipients ?? config.emails ?? []].flat().map((one) => literal(String(one)))
	const [first] = to
	if (first === undefined) return { settings: null, words: 'it names no recipient' }
	const from =
		typeof config.sender === 'string' ? literal(config.sender) : `tracewatch${first.slice(first.indexOf('@'))}`
	const mail = { name, type: 'email' }
	if (typeof config.host !== 'string') {
		store.needed.set('SMTP_URL', { source: 'your mail server: smtps://user:password@host:465', standIn: smtpForm })
		return { settings: { ...mail, smtp: '${SMTP_URL}', from, to }, words: 'through a mail server of your own' }
	}
	const port = typeof config.port === 'number' ? config.port : 465
	const at = `${literal(config.host)}:${port}`
	const scheme = port === 465 ? 'smtps' : 'smtp'
	const [user, password] = [readSecret(config.username), readSecret(config.password)]
	if (user === null || password === null)
		return { settings: { ...mail, smtp: `${scheme}://${at}`, from, to }, words: '' }
	if (user.type === 'plain' && password.type === 'plain') {
		const login = `${encodeURIComponent(user.value)}:${encodeURIComponent(password.value)}`
		const smtp = variableOf(
			{ type: 'plain', value: `${scheme}://${login}@${config.host}:${port}` },
			{ usual: `${name}_SMTP_URL`, standIn: smtpForm },
			store,
		)
		return { settings: { ...mail, smtp, from, to }, words: '' }
	}
	const part = (secret: Secret, usual: string) =>
		secret.type === 'plain'
			? encodeURIComponent(secret.value)
			: variableOf(secret, { usual: `${name}_${usual}`, standIn: wordForm }, store)
	const smtp = `${scheme}://${part(user, 'SMTP_USER')}:${part(password, 'SMTP_PASSWORD')}@${at}`
	return {
		settings: { ...mail, smtp, from, to },
		words: 'a user or password with @ : / # or % must be percent-encoded',
	}
}

interface Into {
	readonly networks: ReadonlyMap<string, Readonly<Record<string, unknown>>>
	readonly receivers: ReadonlyMap<string, Readonly<Record<string, unknown>>>
	readonly findings: Finding[]
	readonly names: (text: string) => string
}

function watchlistsOf(monitor: OzMonitor, { networks, receivers, findings }: Into): readonly Watchlist[] {
	const of = `monitor ${monitor.name}`
	const add = (covered: Covered, words: string, part = '') => findings.push({ of: `${of}${part}`, covered, words })
	if (monitor.isPaused) {
		add('no', 'it is paused')
		return []
	}
	for (const extra of monitor.extras) add('more', `${extra} has no counterpart: more is reported`)
	const watches = watchesOf(monitor, add)
	if (watches.length === 0) return []
	const notified = monitor.triggers.flatMap((key) => String(receivers.get(key)?.name ?? '') || [])
	for (const key of monitor.triggers)
		if (!receivers.has(key)) add('no', 'no file describes it, or tracewatch has no such receiver', `, trigger ${key}`)
	const names = notified.length > 0 ? notified : [...receivers.values()].map(({ name }) => String(name))
	if (notified.length === 0 && names.length > 0) add('more', 'none of its triggers is here: all receivers are notified')
	return monitor.networks.flatMap((slug) => {
		const network = networks.get(slug)
		if (network === undefined) {
			add('no', 'this network was not converted', `, network ${slug}`)
			return []
		}
		return [{ name: nameOf(`${monitor.name}-${slug}`), network: String(network.name), receivers: names, watches }]
	})
}

function watchesOf(
	monitor: OzMonitor,
	add: (covered: Covered, words: string, part?: string) => void,
): readonly Watch[] {
	const { conditions } = monitor
	const isAlone = conditions.every(({ of }) => of === 'transaction')
	const label = monitor.name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ').trim() || 'monitor'
	const addresses = monitor.addresses.flatMap((text) => {
		const address = checksummed(text)
		if (address === null) add('no', 'it is no address', `, ${text}`)
		return address ?? []
	})
	const usual = { of: 'transaction', signature: '', expression: null, status: 'any' } as const
	const verdicts = (conditions.length === 0 ? [usual] : conditions).map((condition) => {
		const verdict = verdictOn(condition, isAlone)
		const what = condition.of === 'transaction' ? 'transactions' : `${condition.of} ${condition.signature}`
		const status = condition.of === 'transaction' && condition.status !== 'any' ? ` (${condition.status})` : ''
		add(verdict.covered, verdict.words, `, ${what}${status}`)
		return verdict
	})
	const parts = verdicts.flatMap(({ watch }) => watch ?? [])
	const own = parts.length === 0 ? [] : addresses.map((address) => ({ address, label, ...together(parts) }))
	const accounts = verdicts.flatMap((verdict) => verdict.accounts ?? [])
	const ofTokens = accounts.flatMap(({ address: text, direction }): Watch[] => {
		const address = checksummed(text)
		if (address === null || addresses.length === 0) return []
		return [{ address, label, kinds: ['token'], direction, tokens: addresses }]
	})
	return merged([...own, ...ofTokens])
}

/** One watch for all conditions: all their kinds, and the smallest of their values. */
function together(parts: readonly WatchPart[]): Omit<Watch, 'address' | 'label'> {
	const kinds = [...new Set(parts.flatMap((part) => part.kinds))]
	const calls = [...new Set(parts.flatMap((part) => part.calls ?? []))]
	const values = parts.flatMap(({ kinds, minValueWei }) => (kinds.includes('transfer') ? [minValueWei ?? 0n] : []))
	const least = values.reduce<bigint | null>((one, other) => (one === null || other < one ? other : one), null)
	return {
		kinds,
		...(calls.length === 0 ? {} : { calls }),
		...(least === null || least === 0n ? {} : { min_value: `${least} wei` }),
	}
}

/** A watchlist names an address once: with both directions where both are asked for. */
function merged(watches: readonly Watch[]): readonly Watch[] {
	const byAddress = new Map<string, Watch>()
	for (const watch of watches) {
		const before = byAddress.get(watch.address)
		if (before === undefined) {
			byAddress.set(watch.address, watch)
			continue
		}
		const { direction, min_value: _, ...rest } = { ...before, ...watch }
		const kinds = [...new Set([...(before.kinds ?? []), ...(watch.kinds ?? [])])]
		const both = before.direction === watch.direction ? { direction } : {}
		byAddress.set(watch.address, {
			...rest,
			kinds,
			...(both.direction === undefined ? {} : { direction: both.direction }),
		})
	}
	return [...byAddress.values()]
}

function checksummed(text: string): string | null {
	try {
		return toChecksum(parseAddress(text.toLowerCase()))
	} catch {
		return null
	}
}

/** Two monitors may have the same name. */
function distinct(watchlists: readonly Watchlist[]): readonly Watchlist[] {
	const names = createNames()
	return watchlists.map((list) => ({ ...list, name: names(list.name) }))
}

/** Gives each text a name of its own. */
function createNames(): (text: string) => string {
	const taken = new Set<string>()
	return (text) => {
		const base = nameOf(text)
		for (let at = 1; ; at++) {
			const name = at === 1 ? base : `${base}-${at}`
			if (taken.has(name.toLowerCase())) continue
			taken.add(name.toLowerCase())
			return name
		}
	}
}

/** One word as our settings take it. */
function nameOf(text: string): string {
	const word = text
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, '-')
		.replaceAll(/^-+|-+$/g, '')
		.slice(0, 56)
	return word === '' ? 'unnamed' : word
}
