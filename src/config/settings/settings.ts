/**
 * The room `config/settings` reads tracewatch.yaml: its schema (`settingsSchema.ts`, `receiverSchema.ts`), its
 * variables (`interpolate.ts`), and which of its values are secret (`secrets.ts`).
 */

import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import type { Problem } from '../../errors.js'
import type { StatePlace } from '../../model/state.js'
import { at, guessNames, type Names, namesOf, type WatchlistPlace } from '../names.js'
import { atMost, check, inOrder, readSource, type Source } from '../yaml/sourceFile.js'
import type { Place } from '../yaml/yaml.js'
import { fallbackProblems } from './fallbackProblems.js'
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
