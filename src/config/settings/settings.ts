/**
 * The room reads tracewatch.yaml: its schema (`settingsSchema.ts`, `receiverSchema.ts`), its variables
 * (`interpolate.ts`), and what of it is secret (`secrets.ts`).
 */

import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import type { Problem } from '../../errors.js'
import type { StatePlace } from '../../model/state.js'
import type { KnownTokens } from '../../model/token.js'
import type { Network, Silence } from '../../model/watch.js'
import { at, guessNames, type Names, namesOf, type WatchlistPlace } from '../names.js'
import { atMost, check, inOrder, readSource, type Source } from '../source.js'
import type { Place } from '../yaml.js'
import { fallbackProblems } from './fallback.js'
import { interpolate } from './interpolate.js'
import { hideSecrets, secretsOf } from './secrets.js'
import { settingsSchema, stallAfterMs, watchlistsSchema } from './settingsSchema.js'
import { statePlaceOf } from './statePlace.js'
import { readTokens } from './tokens.js'
import type { WebhookFormat } from './webhookFormat.js'

export interface NetworkSettings extends Network {
	/** In order of preference; not empty. Keys may stand in the paths. */
	readonly rpc: readonly string[]
	/** As node-cron takes it, seconds first. */
	readonly schedule: string
	/** Time without progress after which the network counts as stalled; null: never. */
	readonly stallAfterMs: number | null
	readonly source: 'auto' | 'trace_filter' | 'trace_block' | 'debug_traceBlockByNumber'
	/** Whole blocks only: no request names a watched address. */
	readonly isPrivate: boolean
	/** Whether books are kept of the balances; never on a private network, since balances are asked for by address. */
	readonly keepsBooks: boolean
	/** Whether they are kept by block access lists alone, as on a private network. */
	readonly keepsListedBooks: boolean
	/** To each endpoint; null: no limit. */
	readonly requestsPerSecond: number | null
	/** Of one answer. */
	readonly maxAnswerBytes: number
	/**
	 * Of 500 blocks caught up, so many are read whole to prove that no log is missing; infinite: all in doubt. Null: by
	 * what that costs.
	 */
	readonly mostLogProofs: number | null
	/**
	 * ws:// or wss://, in order of preference; empty: new heads are seen by the schedule alone. Keys may stand in the
	 * paths.
	 */
	readonly ws: readonly string[]
}

/** What every receiver can be given besides where it is. */
export interface ReceiverOptions {
	/** Name of the receiver that is told when this one takes no more; null: none. */
	readonly fallback: string | null
	/** Past `max` alerts within `everyMs` the rest come as one message; null: each by itself. */
	readonly digest: { readonly everyMs: number; readonly max: number } | null
	/** When alerts are held; empty: never. */
	readonly silences: readonly Silence[]
}

export interface EmailSettings extends ReceiverOptions {
	readonly type: 'email'
	readonly name: string
	/** smtp:// or smtps:// with its port; user and password URL-encoded. */
	readonly smtp: string
	readonly from: string
	/** Not empty, each once. */
	readonly to: readonly string[]
}

export interface WebhookSettings extends ReceiverOptions {
	readonly type: 'webhook'
	readonly name: string
	/** As the format takes it: the chat of telegram and the topic of ntfy stand in it. */
	readonly url: string
	readonly format: WebhookFormat
	/** Format standard: `whsec_…`, or several with a space between; format pagerduty: the routing key; null: none. */
	readonly secret: string | null
	/** Values are secrets; no name twice in whatever case, none that the sender writes itself. */
	readonly headers: Readonly<Record<string, string>>
}

export type ReceiverSettings = EmailSettings | WebhookSettings

/** What tracewatch.yaml says, without the watchlists. */
export interface Settings {
	/** Absolute path of the file. */
	readonly path: string
	readonly networks: readonly NetworkSettings[]
	readonly receivers: readonly ReceiverSettings[]
	readonly watchlists: WatchlistPlace
	readonly statePlace: StatePlace
	/** With several instances: how long one may be silent before others take over what it did. */
	readonly leaseMs: number
	/** How long what was sent is kept; 0: not at all. */
	readonly historyMs: number
	/** Fetched while all networks progress; null: none. */
	readonly heartbeatUrl: string | null
	/** Deliveries about one network to one receiver at which its polling waits. */
	readonly maxPending: number
	readonly http: { readonly host: string; readonly port: number } | null
	/** Null: the pages are shown on loopback only. */
	readonly httpPassword: string | null
	/** Texts that must never leave the process; see secrets.ts. */
	readonly secrets: readonly string[]
}

export interface SettingsRead {
	/** Null when there are problems. */
	readonly settings: Settings | null
	readonly problems: readonly Problem[]
	readonly source: Source | null
	/** Null: that cannot be known. */
	readonly watchlists: WatchlistPlace | null
	/** Null: that cannot be known. */
	readonly statePlace: StatePlace | null
	readonly names: Names
}

/** Reads tracewatch.yaml; whatever is wrong comes back, and nothing is thrown. */
export async function readSettings(path: string, env: NodeJS.ProcessEnv, cwd: string): Promise<SettingsRead> {
	const source = await readSource(path, cwd)
	if ('problems' in source) {
		return {
			settings: null,
			source: null,
			problems: source.problems,
			watchlists: null,
			statePlace: null,
			names: guessNames(null),
		}
	}
	const { value, filled, problems: missing } = interpolate(source.value, env, path)
	const problems = missing.map(({ path: at, message }) => source.problem(at, message))
	const checked = check(source, settingsSchema, value)
	const cross = [
		...twice(source, value, 'networks', 'network'),
		...twice(source, value, 'receivers', 'receiver'),
		...fallbackProblems(source, value),
	]
	// A scalar that could not be filled is reported once, not also as a bad URL or number.
	const tokens = 'data' in checked ? await tokensOf(checked.data.networks, source, path, cwd) : null
	const rest =
		'problems' in checked ? checked.problems.filter((one) => !problems.some((other) => samePlace(one, other))) : []
	const places = filled.map((entry) => ({ ...entry, place: source.locate(entry.path) }))
	const all = atMost(inOrder([...problems, ...rest, ...cross, ...(tokens?.problems ?? [])])).map((problem) => {
		const about = places.find(({ place }) => samePlace(problem, place))
		return { ...problem, message: hideSecrets(problem.message, about?.template, filled) }
	})
	if ('problems' in checked || tokens === null || all.length > 0) {
		const asked = watchlistsSchema.safeParse(at(value, 'watchlists'))
		const watchlists = asked.success && !Array.isArray(value) ? placeOf(asked.data, source, path) : null
		const state = settingsSchema.shape.state.safeParse(at(value, 'state'))
		const statePlace = state.success && !Array.isArray(value) ? statePlaceOf(state.data, dirname(path)) : null
		return { settings: null, source, problems: all, watchlists, statePlace, names: guessNames(value) }
	}
	const { data } = checked
	const settings: Settings = {
		path,
		networks: data.networks.map((network, index) => networkOf(network, tokens.byNetwork[index])),
		receivers: data.receivers,
		watchlists: placeOf(data.watchlists, source, path),
		statePlace: statePlaceOf(data.state, dirname(path)),
		leaseMs: data.lease,
		historyMs: data.history,
		heartbeatUrl: data.heartbeat_url,
		maxPending: data.max_pending,
		http: data.http,
		httpPassword: data.http_password,
		secrets: secretsOf(data, filled),
	}
	const { watchlists, statePlace } = settings
	return { settings, source, problems: [], watchlists, statePlace, names: namesOf(settings) }
}

type NetworkWritten = z.output<typeof settingsSchema>['networks'][number]

/** The tokens that each network names, in their order. */
async function tokensOf(networks: readonly NetworkWritten[], source: Source, path: string, cwd: string) {
	const byNetwork: KnownTokens[] = []
	const problems: Problem[] = []
	for (const [index, written] of networks.entries()) {
		const { chain_id: chainId, token_list: list } = written
		const listPath = list === null ? null : resolve(dirname(path), list)
		const read = await readTokens({ chainId, written, listPath, source, at: ['networks', index], cwd })
		byNetwork.push(read.tokens)
		problems.push(...read.problems)
	}
	return { byNetwork, problems }
}

function networkOf(
	{
		chain_id,
		stall_after,
		requests_per_second: requestsPerSecond,
		max_answer: maxAnswerBytes,
		private: isPrivate,
		proof,
		tokens: _tokens,
		token_list: _list,
		log_proof: mostLogProofs,
		...network
	}: NetworkWritten,
	tokens: KnownTokens | undefined,
): NetworkSettings {
	const stallAfter = stallAfterMs({ ...network, stall_after })
	// Balances are asked for by address, which a private network never does.
	const keepsBooks = proof === 'auto' && !isPrivate
	const keepsListedBooks = proof === 'auto' && isPrivate
	const asked = { requestsPerSecond, maxAnswerBytes, mostLogProofs, isPrivate, keepsBooks, keepsListedBooks }
	const named = tokens === undefined || tokens.size === 0 ? {} : { tokens }
	return { ...network, chainId: chain_id, stallAfterMs: stallAfter, ...asked, ...named }
}

function placeOf(watchlists: z.output<typeof watchlistsSchema>, source: Source, path: string): WatchlistPlace {
	const named = { file: source.file, ...source.locate(['watchlists']) }
	if (typeof watchlists === 'string') return { folder: resolve(dirname(path), watchlists), named }
	return { files: watchlists.map((file) => resolve(dirname(path), file)), named }
}

function samePlace(one: Place, other: Place): boolean {
	return one.line === other.line && one.column === other.column
}

/** Names that stand twice in a list of networks or receivers. */
function twice(source: Source, value: unknown, key: string, what: string): Problem[] {
	const entries: unknown = at(value, key)
	if (!Array.isArray(entries)) return []
	const first = new Map<string, number>()
	return entries.flatMap((entry: unknown, index) => {
		const name: unknown = at(entry, 'name')
		if (typeof name !== 'string') return []
		const before = first.get(name)
		if (before === undefined) {
			first.set(name, index)
			return []
		}
		const { line } = source.locate([key, before, 'name'])
		return [source.problem([key, index, 'name'], `the name \`${name}\` is taken by the ${what} in line ${line}`)]
	})
}
