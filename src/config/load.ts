/**
 * The room `config` reads the YAML files into one checked, frozen configuration, or reports every problem in them with
 * its file, line and column. No other room reads YAML.
 */

import { lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { deepFreeze } from '../base/deepFreeze.js'
import { codeOf } from '../base/systemError.js'
import { ConfigError, type Problem, StateError, UsageError } from '../errors.js'
import type { Addressee } from '../model/delivery.js'
import type { StatePlace, WatchlistCopies } from '../model/state.js'
import type { WatchSet } from '../model/watch.js'
import { namesOf } from './names.js'
import { interpolate } from './settings/interpolate.js'
import { configuredIn, namesIn, readSettings, type Settings } from './settings/settings.js'
import { isDatabase, readState, statePlaceOf } from './settings/statePlace.js'
import { warningsOf } from './warnings.js'
import { readWatchlists, type Watchlists } from './watchlists/watchlists.js'
import { inOrder } from './yaml/sourceFile.js'

/** The whole configuration: checked, complete and frozen. */
export interface Config extends Settings, Watchlists {
	/** Settings that are valid, but probably a mistake. */
	readonly warnings: readonly Problem[]
	/** The problems of the watchlists, when the last good watchlists are used instead of them. */
	readonly refused?: readonly Problem[]
}

export interface LoadOptions {
	readonly env: NodeJS.ProcessEnv
	/** Folder that paths in messages are relative to. Default: the process's working folder. */
	readonly cwd?: string
	/** Called with the secrets before anything else is read or reported, which might quote a secret. */
	readonly onSecrets?: (secrets: readonly string[]) => void
	/**
	 * Opens the copies of the last good watchlists; called when the watchlists have problems and the settings have none.
	 * Null: there are none.
	 */
	readonly lastGood?: (settings: Settings) => Promise<WatchlistCopies | null>
}

/** Default places of the configuration file, in order. */
const places = ['tracewatch.yaml', '/etc/tracewatch/tracewatch.yaml']

/**
 * Returns the path of the configuration file: `named` if given, else ./tracewatch.yaml, else
 * /etc/tracewatch/tracewatch.yaml.
 *
 * @throws ConfigError when `named` is not given and neither file exists.
 */
export function findConfig(named: string | undefined, cwd: string): string {
	if (named !== undefined) return resolve(cwd, named)
	const found = findDefault(cwd)
	if (found !== undefined) return found
	const advice = '`tracewatch setup` writes one; or name one with -c'
	const message = `there is no configuration, here or at ${places[1]}: ${advice}`
	throw new ConfigError([{ file: 'tracewatch.yaml', line: 1, column: 1, message }])
}

function findDefault(cwd: string): string | undefined {
	const [here, installed] = places.map((place) => resolve(cwd, place))
	return [here, installed].find((path) => path !== undefined && isThere(path, path === installed))
}

/** True also for a broken link, and for the last place if its folder may not be entered: reading the file says why. */
function isThere(path: string, isLast: boolean): boolean {
	try {
		lstatSync(path)
		return true
	} catch (error) {
		return isLast && codeOf(error) === 'EACCES'
	}
}

/**
 * Reads tracewatch.yaml and all its watchlists.
 *
 * @throws ConfigError with every problem of every file (at most 100 a file).
 */
export async function loadConfig(path: string, options: LoadOptions): Promise<Config> {
	const { env, cwd = process.cwd(), onSecrets, lastGood } = options
	const settingsRead = await readSettings(resolve(cwd, path), env, cwd)
	const { settings, source, problems, openSecrets = [], watchlists: place, names } = settingsRead
	if (settings !== null) onSecrets?.(settings.secrets)
	const read = place === null ? null : await readWatchlists(place, names, cwd)
	if (settings === null || source === null || place === null || read === null) {
		throw new ConfigError([...problems, ...(read?.problems ?? [])])
	}
	const { watches, problems: refused, ...others } = read
	if (watches !== null) {
		const warnings = [...inOrder([...openSecrets, ...warningsOf(settings, watches, source)]), ...others.warnings]
		return deepFreeze({ ...settings, watches, ...others, warnings })
	}
	const wrong = new ConfigError(refused)
	if (lastGood === undefined) throw wrong
	const copies = await readCopies(() => lastGood(settings), settings, wrong, cwd)
	return deepFreeze({ ...settings, watches: copies, ...others, refused, warnings: [] })
}

/**
 * The last good watchlists. Throws `wrong` where there are none, or they are damaged or do not fit the settings any
 * more; StateError `disk` where they may be read later: a database that starts after this program is no wrong
 * configuration.
 */
export async function readCopies(
	open: () => Promise<WatchlistCopies | null>,
	settings: Settings,
	wrong: ConfigError,
	cwd = process.cwd(),
): Promise<WatchSet> {
	const { named } = settings.watchlists
	const failures: unknown[] = []
	async function* chunksOf(copies: WatchlistCopies, path: string): AsyncGenerator<Uint8Array> {
		try {
			yield* copies.chunks(path)
		} catch (error) {
			failures.push(error)
			throw error
		}
	}
	try {
		const copies = await open()
		if (copies === null) throw wrong
		const reading = { chunks: (path: string) => chunksOf(copies, path) }
		const { watches, revision } = await readWatchlists(
			{ files: copies.watchlists, named },
			namesOf(settings),
			cwd,
			reading,
		)
		if (watches !== null && revision === copies.revision) return watches
	} catch (error) {
		failures.push(error)
	}
	const away = failures.find((one) => one instanceof StateError && one.reason === 'disk')
	if (!(away instanceof StateError)) throw wrong
	const words = `${wrong.message}\nThe last good watchlists cannot be read now: ${away.message}`
	throw new StateError('disk', words, { cause: away })
}

/** The settings that commands need to open the state. */
export interface StateSettings {
	readonly statePlace: StatePlace
	/** Undefined when the settings have problems. */
	readonly historyMs: number | undefined
	readonly networks: readonly string[]
	/** Empty when they cannot be read. */
	readonly receivers: readonly string[]
	/** Of mailboxes only when the settings have no problems; true when nothing is known. */
	readonly isConfigured: (addressee: Addressee) => boolean
	/** As `namesIn`; that of the receiver when the settings have problems. */
	readonly nameOf: (addressee: Addressee) => string
}

/**
 * Reads where the state is, also when other settings are wrong or a secret is missing: an operator who inspects the
 * state in an emergency may not have the secrets of the service.
 *
 * @throws ConfigError when the place of the state cannot be read.
 */
export async function loadStateSettings(
	path: string,
	{ env, cwd = process.cwd(), onSecrets }: LoadOptions,
): Promise<StateSettings> {
	const { settings, problems, statePlace, names } = await readSettings(resolve(cwd, path), env, cwd)
	if (statePlace === null) throw new ConfigError(problems)
	onSecrets?.(settings?.secrets ?? (statePlace.kind === 'postgres' ? [statePlace.url] : []))
	const receivers = names.receivers ?? []
	return {
		statePlace,
		historyMs: settings?.historyMs,
		networks: [...(names.networks?.keys() ?? [])],
		receivers,
		isConfigured:
			settings === null
				? ({ receiver }) => receivers.length === 0 || receivers.includes(receiver)
				: configuredIn(settings.receivers),
		nameOf: settings === null ? ({ receiver }) => receiver : namesIn(settings.receivers),
	}
}

/**
 * Reads the place of a state as the command line names it; `${NAME}` is looked up as in tracewatch.yaml.
 *
 * @throws UsageError, after `onSecrets` was called.
 */
export function readStatePlace(
	text: string,
	named: string | undefined,
	{ env, cwd = process.cwd(), onSecrets }: LoadOptions,
): StatePlace {
	const settingsPath = named === undefined ? (findDefault(cwd) ?? resolve(cwd, 'tracewatch.yaml')) : resolve(cwd, named)
	const { value, filled, problems } = interpolate(text, env, dirname(settingsPath))
	const written = String(value)
	if (isDatabase(written)) onSecrets?.([written, ...filled.flatMap(({ values }) => values)])
	const [missing] = problems
	if (missing !== undefined) throw new UsageError(missing.message)
	try {
		return statePlaceOf(readState(written), cwd)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		const shown = filled.length > 0 || isDatabase(text) ? 'the URL of a database' : `\`${text}\``
		throw new UsageError(`${shown} ${error.message}`)
	}
}

/**
 * Checks only the watchlists, against the names of networks and receivers in tracewatch.yaml. Needs no secret. Resolves
 * to the number of watches.
 *
 * @throws ConfigError with every problem of every watchlist, or of tracewatch.yaml when the place of the watchlists
 * cannot be read from it.
 */
export async function checkWatchlists(path: string, { env, cwd = process.cwd() }: LoadOptions): Promise<number> {
	const { problems, watchlists: place, names } = await readSettings(resolve(cwd, path), env, cwd)
	if (place === null) throw new ConfigError(problems)
	const read = await readWatchlists(place, names, cwd)
	if (read.watches === null) throw new ConfigError(read.problems)
	return read.watches.length
}
