/**
 * The room `config/settings` reads tracewatch.yaml: its schema (`settingsSchema.ts`, `receiverSchema.ts`), its
 * variables (`interpolate.ts`), and which of its values are secret (`secrets.ts`).
 */

import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import type { Problem } from '../../errors.js'
import type { StatePlace } from '../../model/state.js'
import type { KnownTokens } from '../../model/token.js'
import type { Network } from '../../model/watch.js'
import { at, guessNames, type Names, namesOf, type WatchlistPlace } from '../names.js'
import { atMost, check, inOrder, readSource, type Source } from '../yaml/sourceFile.js'
import type { Place } from '../yaml/yaml.js'
import { fallbackProblems } from './fallbackProblems.js'
import { interpolate } from './interpolate.js'
import { hideSecrets, secretsOf } from './secrets.js'
import { settingsSchema, stallAfterMs, watchlistsSchema } from './settingsSchema.js'
import { statePlaceOf } from './statePlace.js'
import { readTokens } from './tokenSettings.js'
import type { WebhookFormat } from './webhookFormat.js'

export interface NetworkSettings extends Network {
	/** Endpoints in order of preference; not empty. The paths may contain keys. */
	readonly rpc: readonly string[]
	/** In the format of node-cron, seconds first. */
	readonly schedule: string
	/** Time in ms without progress after which the network counts as stalled; null: never. */
	readonly stallAfterMs: number | null
	readonly source: 'auto' | 'trace_filter' | 'trace_block' | 'debug_traceBlockByNumber'
	/** Requests whole blocks only, so that no request names a watched address. */
	readonly isPrivate: boolean
	/**
	 * Whether books of balances are kept by asking for balances. Never on a private network, since balances are asked for
	 * by address.
	 */
	readonly keepsBooks: boolean
	/** Whether books are kept from block access lists alone, as on a private network. */
	readonly keepsListedBooks: boolean
	/** Limit for each endpoint; null: no limit. */
	readonly requestsPerSecond: number | null
	/**
	 * ws:// or wss:// endpoints in order of preference. Empty: polls start by the schedule alone. The paths may contain
	 * keys.
	 */
	readonly ws: readonly string[]
}

/** Options that every receiver can have. */
export interface ReceiverOptions {
	/** Name of the receiver that is notified when this one accepts no more messages; null: none. */
	readonly fallback: string | null
	/** Alerts beyond `max` within `everyMs` are sent as one message; null: every alert is sent by itself. */
	readonly digest: { readonly everyMs: number; readonly max: number } | null
}

export interface EmailSettings extends ReceiverOptions {
	readonly type: 'email'
	readonly name: string
	/** smtp:// or smtps:// with its port; user and password are URL-encoded. */
	readonly smtp: string
	readonly from: string
	/** Not empty, without duplicates. */
	readonly to: readonly string[]
}

export interface WebhookSettings extends ReceiverOptions {
	readonly type: 'webhook'
	readonly name: string
	/** Contains the chat of telegram and the topic of ntfy. */
	readonly url: string
	readonly format: WebhookFormat
	/** Format standard: `whsec_…`, or several separated by a space. Format pagerduty: the routing key. Null: none. */
	readonly secret: string | null
	/** Values are secret, except words under public names (`isOpenly`). Names are unique without regard to case. */
	readonly headers: Readonly<Record<string, string>>
}

export type ReceiverSettings = EmailSettings | WebhookSettings

/** The contents of tracewatch.yaml, without the watchlists. */
export interface Settings {
	/** Absolute path of the file. */
	readonly path: string
	readonly networks: readonly NetworkSettings[]
	readonly receivers: readonly ReceiverSettings[]
	readonly watchlists: WatchlistPlace
	readonly statePlace: StatePlace
	/** How long sent deliveries are kept, in ms; 0: not at all. */
	readonly historyMs: number
	/** URL fetched while all networks make progress; null: none. */
	readonly heartbeatUrl: string | null
	readonly http: { readonly host: string; readonly port: number } | null
	/** Null: the pages are served on loopback only. */
	readonly httpPassword: string | null
	/** Texts that must never leave the process; see `secrets.ts`. */
	readonly secrets: readonly string[]
}

export interface SettingsRead {
	/** Null when the settings have problems. */
	readonly settings: Settings | null
	readonly problems: readonly Problem[]
	/** Warnings about secrets in files that others can read. */
	readonly openSecrets?: readonly Problem[]
	readonly source: Source | null
	/** Null: unknown. */
	readonly watchlists: WatchlistPlace | null
	/** Null: unknown. */
	readonly statePlace: StatePlace | null
	readonly names: Names
}

/** Reads tracewatch.yaml. Problems are returned, not thrown. */
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
	const { value, filled, problems: missing, warnings } = interpolate(source.value, env, dirname(path))
	const problems = missing.map(({ path: at, message }) => source.problem(at, message))
	const checked = check(source, settingsSchema, value)
	const cross = [
		...twice(source, value, 'networks', 'network'),
		...twice(source, value, 'receivers', 'receiver'),
		...fallbackProblems(source, value),
	]
	// A scalar whose variable is missing is reported once, not also as an invalid URL or number.
	const tokens = 'data' in checked ? tokensOf(checked.data.networks, source) : null
	const rest =
		'problems' in checked ? checked.problems.filter((one) => !problems.some((other) => samePlace(one, other))) : []
	const places = filled.map((entry) => ({ ...entry, place: source.locate(entry.path) }))
	const others = inOrder([...rest, ...cross, ...(tokens?.problems ?? [])])
	const all = atMost([...inOrder(problems), ...others]).map((problem) => {
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
		historyMs: data.history,
		heartbeatUrl: data.heartbeat_url,
		http: data.http,
		httpPassword: data.http_password,
		secrets: secretsOf(data, filled),
	}
	const { watchlists, statePlace } = settings
	const openSecrets = warnings.map(({ path: at, message }) => source.problem(at, message))
	return { settings, source, problems: [], openSecrets, watchlists, statePlace, names: namesOf(settings) }
}

type NetworkWritten = z.output<typeof settingsSchema>['networks'][number]

/** The known tokens of each network, in the order of the networks. */
function tokensOf(networks: readonly NetworkWritten[], source: Source) {
	const byNetwork: KnownTokens[] = []
	const problems: Problem[] = []
	for (const [index, written] of networks.entries()) {
		const read = readTokens({ chainId: written.chain_id, written: written.tokens, source, at: ['networks', index] })
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
		private: isPrivate,
		proof,
		tokens: _tokens,
		...network
	}: NetworkWritten,
	tokens: KnownTokens | undefined,
): NetworkSettings {
	const stallAfter = stallAfterMs({ ...network, stall_after })
	// Balances are asked for by address, and a private network never sends addresses.
	const keepsBooks = proof === 'auto' && !isPrivate
	const keepsListedBooks = proof === 'auto' && isPrivate
	const asked = { requestsPerSecond, isPrivate, keepsBooks, keepsListedBooks }
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

/** Problems for duplicate names in a list of networks or receivers. */
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
