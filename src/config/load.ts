/**
 * The room turns words into one checked, frozen configuration, or into every problem in them, each with its file, line
 * and column. Nothing else in the program reads YAML.
 */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { deepFreeze } from '../base/deepFreeze.js'
import { ConfigError, type Problem } from '../errors.js'
import type { StatePlace } from '../model/state.js'
import type { WatchSet } from '../model/watch.js'
import type { Names } from './names.js'
import { readSettings, type Settings } from './settings/settings.js'
import { warningsOf } from './warnings.js'
import { readWatchlists } from './watchlists/watchlists.js'

/** All that the program is given by its user: checked, complete and frozen. */
export interface Config extends Settings {
	readonly watches: WatchSet
	/** Absolute paths of the watchlists, in order. */
	readonly watchlistFiles: readonly string[]
	/** Absolute paths of the files of addresses that they name, in order. */
	readonly addressFiles: readonly string[]
	/** Hash of all these files as read. */
	readonly revision: string
	/** What is right, but probably not meant. */
	readonly warnings: readonly Problem[]
	/** What is wrong with the watchlists, where the last good ones stand in for them. */
	readonly refused?: readonly Problem[]
}

export interface LoadOptions {
	readonly env: NodeJS.ProcessEnv
	/** Folder that paths in messages are relative to. Default: the process's. */
	readonly cwd?: string
	/** Called with the secrets before the watchlists are read, whose problems might repeat one. */
	readonly onSecrets?: (secrets: readonly string[]) => void
	/** The watchlists that were last right, where they are wrong now and the settings are not; null: there are none. */
	readonly lastGood?: (settings: Settings) => Promise<WatchSet | null>
}

/** Where a configuration is looked for when none is named. */
const places = ['tracewatch.yaml', '/etc/tracewatch/tracewatch.yaml']

/**
 * The configuration file to use: `named` if given, else ./tracewatch.yaml, else /etc/tracewatch/tracewatch.yaml.
 *
 * @throws ConfigError when none of them is there.
 */
export function findConfig(named: string | undefined, cwd: string): string {
	if (named !== undefined) return resolve(cwd, named)
	const found = places.map((place) => resolve(cwd, place)).find(existsSync)
	if (found !== undefined) return found
	const advice = 'run `tracewatch init` to write one, or name one with -c'
	const message = `there is no configuration, here or at ${places[1]}: ${advice}`
	throw new ConfigError([{ file: 'tracewatch.yaml', line: 1, column: 1, message }])
}

/**
 * Reads tracewatch.yaml and all its watchlists.
 *
 * @throws ConfigError with every problem of every file.
 */
export async function loadConfig(path: string, options: LoadOptions): Promise<Config> {
	const { env, cwd = process.cwd(), onSecrets, lastGood } = options
	const { settings, source, problems, watchlists: place, names } = await readSettings(resolve(cwd, path), env, cwd)
	if (settings !== null) onSecrets?.(settings.secrets)
	const read = place === null ? null : await readWatchlists(place, names, cwd)
	if (settings !== null && read !== null && read.watches === null) {
		const watches = (await lastGood?.(settings)) ?? null
		if (watches !== null && fits(watches, names)) {
			const { files, addressFiles, revision } = read
			const kept = { watches, watchlistFiles: files, addressFiles, revision, warnings: [], refused: read.problems }
			return deepFreeze({ ...settings, ...kept })
		}
	}
	if (settings === null || source === null || read === null || read.watches === null) {
		throw new ConfigError([...problems, ...(read?.problems ?? [])])
	}
	const { watches, files, addressFiles, revision } = read
	const warnings = warningsOf(settings, watches, source)
	return deepFreeze({ ...settings, watches, watchlistFiles: files, addressFiles, revision, warnings })
}

/** Whether all that the watches name is configured still. */
function fits({ rules }: WatchSet, { networks, receivers }: Names): boolean {
	return rules.every(
		(one) => networks?.has(one.network) === true && one.receivers.every((name) => receivers?.includes(name) === true),
	)
}

/** What the state is read with. */
export interface StateSettings {
	readonly statePlace: StatePlace
	readonly leaseMs: number
	/** Undefined where the settings do not say. */
	readonly historyMs: number | undefined
	readonly networks: readonly string[]
	readonly receivers: readonly string[]
	readonly secrets: readonly string[]
	/** What is wrong with the settings, and did not matter here. */
	readonly problems: readonly Problem[]
}

/**
 * Reads where the state is, also when the rest of the settings is wrong or a secret is missing: who looks at the state
 * by night has neither the service's secrets nor time for them.
 *
 * @throws ConfigError when that cannot be known.
 */
export async function loadStateSettings(
	path: string,
	{ env, cwd = process.cwd() }: LoadOptions,
): Promise<StateSettings> {
	const { settings, problems, statePlace, names } = await readSettings(resolve(cwd, path), env, cwd)
	if (statePlace === null) throw new ConfigError(problems)
	return {
		statePlace,
		leaseMs: settings?.leaseMs ?? 30_000,
		historyMs: settings?.historyMs,
		networks: [...(names.networks?.keys() ?? [])],
		receivers: names.receivers ?? [],
		secrets: settings?.secrets ?? (statePlace.kind === 'postgres' ? [statePlace.url] : []),
		problems,
	}
}

/**
 * Reads the watchlists alone, against the names of networks and receivers in tracewatch.yaml; needs no secret. Resolves
 * to how many watches there are.
 *
 * @throws ConfigError with every problem of every watchlist, or of tracewatch.yaml where it does not say where they
 * are.
 */
export async function checkWatchlists(path: string, { env, cwd = process.cwd() }: LoadOptions): Promise<number> {
	const { problems, watchlists: place, names } = await readSettings(resolve(cwd, path), env, cwd)
	if (place === null) throw new ConfigError(problems)
	const read = await readWatchlists(place, names, cwd)
	if (read.watches === null) throw new ConfigError(read.problems)
	return read.watches.length
}
