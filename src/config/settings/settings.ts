/**
 * The room `config/settings` reads tracewatch.yaml: its schema (`settingsSchema.ts`, `receiverSchema.ts`), its
 * variables (`interpolate.ts`), and which of its values are secret (`secrets.ts`).
 */

import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { quoted } from '../../base/text/quoted.js'
import type { Problem } from '../../errors.js'
import type { StatePlace } from '../../model/state.js'
import { at, guessNames, listAt, type Names, namesOf, type WatchlistPlace } from '../names.js'
import { suggestion } from '../words.js'
import { atMost, check, inOrder, readSource, type Source } from '../yaml/sourceFile.js'
import type { Place } from '../yaml/yaml.js'
import { interpolate } from './interpolate.js'
import type { ReceiverSettings } from './receiverSchema.js'
import { hideSecrets, secretsOf } from './secrets.js'
import { type NetworkSettings, settingsSchema, watchlistsSchema } from './settingsSchema.js'
import { statePlaceOf } from './statePlace.js'

export type { NetworkSettings, ReceiverSettings }

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
	const rest =
		'problems' in checked ? checked.problems.filter((one) => !problems.some((other) => samePlace(one, other))) : []
	const places = filled.map((entry) => ({ ...entry, place: source.locate(entry.path) }))
	const others = inOrder([...rest, ...cross])
	const all = atMost([...inOrder(problems), ...others]).map((problem) => {
		const about = places.find(({ place }) => samePlace(problem, place))
		return { ...problem, message: hideSecrets(problem.message, about?.template, filled) }
	})
	if ('problems' in checked || all.length > 0) {
		const asked = watchlistsSchema.safeParse(at(value, 'watchlists'))
		const watchlists = asked.success && !Array.isArray(value) ? placeOf(asked.data, source, path) : null
		const state = settingsSchema.shape.state.safeParse(at(value, 'state'))
		const statePlace = state.success && !Array.isArray(value) ? statePlaceOf(state.data, dirname(path)) : null
		return { settings: null, source, problems: all, watchlists, statePlace, names: guessNames(value) }
	}
	const { data } = checked
	const settings: Settings = {
		path,
		networks: data.networks,
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

function placeOf(watchlists: z.output<typeof watchlistsSchema>, source: Source, path: string): WatchlistPlace {
	const named = { file: source.file, ...source.locate(['watchlists']) }
	if (typeof watchlists === 'string') return { folder: resolve(dirname(path), watchlists), named }
	return { files: watchlists.map((file) => resolve(dirname(path), file)), named }
}

function samePlace(one: Place, other: Place): boolean {
	return one.line === other.line && one.column === other.column
}

/** Names that stand twice in the list `key`, of networks or of receivers. `value` is the unchecked data of the file. */
function twice(source: Source, value: unknown, key: string, what: string): readonly Problem[] {
	const names = listAt(value, key).map((entry) => at(entry, 'name'))
	return names.flatMap((name, index) => {
		const before = names.indexOf(name)
		if (typeof name !== 'string' || before === index) return []
		const { line } = source.locate([key, before, 'name'])
		return [source.problem([key, index, 'name'], `the name \`${name}\` is taken by the ${what} in line ${line}`)]
	})
}

/**
 * Fallbacks of receivers that name no receiver, or the receiver itself. Two may name each other: a message to a
 * fallback is not passed on to its own fallback.
 */
function fallbackProblems(source: Source, value: unknown): readonly Problem[] {
	const receivers = listAt(value, 'receivers')
	return receivers.flatMap((receiver, index) => {
		const [name, fallback] = [at(receiver, 'name'), at(receiver, 'fallback')]
		if (typeof fallback !== 'string') return []
		const names = receivers.map((one) => at(one, 'name')).filter((one) => typeof one === 'string')
		const others = names.filter((other) => other !== name)
		const message = !names.includes(fallback)
			? `no receiver ${quoted(fallback)} is in the settings${suggestion(fallback, others)}`
			: fallback === name && 'a receiver cannot be its own `fallback`'
		return message ? [source.problem(['receivers', index, 'fallback'], message)] : []
	})
}
