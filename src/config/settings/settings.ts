/**
 * The room `config/settings` reads tracewatch.yaml: its schema (`settingsSchema.ts`, `receiverSchema.ts`), its
 * variables (`interpolate.ts`), and which of its values are secret (`secrets.ts`).
 */

import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { addresseeInWords } from '../../core/outbox/queue.js'
import type { Problem } from '../../errors.js'
import type { Addressee } from '../../model/delivery.js'
import type { StatePlace } from '../../model/state.js'
import { type Names, namesOf, type WatchlistPlace } from '../names.js'
import { revisionOf } from '../watchlists/revision.js'
import { atMost, check, inOrder, readSource, type Source } from '../yaml/sourceFile.js'
import type { Place } from '../yaml/yaml.js'
import { type Filled, interpolate } from './interpolate.js'
import type { ReceiverSettings } from './receiverSchema.js'
import { crossProblems, roughNames } from './roughSettings.js'
import { hideSecrets, secretsOf } from './secrets.js'
import { type NetworkSettings, settingsSchema, watchlistsSchema } from './settingsSchema.js'
import { statePlaceOf } from './statePlace.js'

export type { NetworkSettings, ReceiverSettings }

/** The contents of tracewatch.yaml, without the watchlists. */
export interface Settings {
	/** Absolute path of the file. */
	readonly path: string
	/** Hash of the file's path and content, as `revisionNow` makes it. */
	readonly settingsRevision: string
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

/** Null: wrong, or not known. They are used also where other settings have problems. */
const placesSchema = z.object({
	watchlists: watchlistsSchema.nullable().catch(null),
	state: settingsSchema.shape.state.nullable().catch(null),
})

/** Reads tracewatch.yaml. Problems are returned, not thrown. */
export async function readSettings(path: string, env: NodeJS.ProcessEnv, cwd: string): Promise<SettingsRead> {
	const source = await readSource(path, cwd)
	if ('problems' in source) {
		const names = { networks: null, receivers: null }
		return { settings: null, source: null, problems: source.problems, watchlists: null, statePlace: null, names }
	}
	const { value, filled, problems: missing, warnings } = interpolate(source.value, env, dirname(path))
	const checked = check(source, settingsSchema, value)
	const places = placesSchema.safeParse(value).data
	/** If a variable is missing, the place is unknown: `${NAME}` itself would be read as a folder. */
	const isMissing = (key: string) => missing.some(({ path: [first] }) => first === key)
	const { watchlists: lists = null, state = null } = places ?? {}
	const watchlists = lists === null || isMissing('watchlists') ? null : placeOf(lists, source, path)
	const statePlace = state === null || isMissing('state') ? null : statePlaceOf(state, dirname(path))
	const found = {
		missing: missing.map(({ path: at, message }) => source.problem(at, message)),
		checked: 'problems' in checked ? checked.problems : [],
		cross: [...crossProblems(source, value), ...(watchlists === null ? [] : listedTwice(watchlists, source))],
	}
	const problems = inSafeWords(found, source, filled)
	if ('problems' in checked || problems.length > 0 || watchlists === null || statePlace === null) {
		return { settings: null, source, problems, watchlists, statePlace, names: roughNames(value) }
	}
	const { data } = checked
	const settings: Settings = {
		path,
		settingsRevision: revisionOf([{ path, digest: hash('sha256', source.bytes) }]),
		networks: data.networks,
		receivers: data.receivers,
		watchlists,
		statePlace,
		historyMs: data.history,
		heartbeatUrl: data.heartbeat_url,
		http: data.http,
		httpPassword: data.http_password,
		secrets: secretsOf(data, filled),
	}
	const openSecrets = warnings.map(({ path: at, message }) => source.problem(at, message))
	return { settings, source, problems: [], openSecrets, watchlists, statePlace, names: namesOf(settings) }
}

/** Whether one of these is the receiver, and the mailbox one of its `to`. */
export function configuredIn(receivers: readonly ReceiverSettings[]): (addressee: Addressee) => boolean {
	return ({ receiver, recipient }) =>
		receivers.some((one) => {
			if (one.name !== receiver) return false
			return one.type === 'email' ? one.to.some((mailbox) => mailbox === recipient) : recipient === null
		})
}

/** The name under which a delivery is counted: what waits for a mailbox that was taken out has one of its own. */
export function namesIn(receivers: readonly ReceiverSettings[]): (addressee: Addressee) => string {
	const isConfigured = configuredIn(receivers)
	const names = new Set(receivers.map(({ name }) => name))
	return (one) => (isConfigured(one) || !names.has(one.receiver) ? one.receiver : addresseeInWords(one))
}

/** The problems in order, without the values of `${NAME}`. Missing variables come first. */
function inSafeWords(
	found: Readonly<Record<'missing' | 'checked' | 'cross', readonly Problem[]>>,
	source: Source,
	filled: readonly Filled[],
): readonly Problem[] {
	const { missing, checked, cross } = found
	// A scalar whose variable is missing is reported once, not also as an invalid URL or number.
	const rest = checked.filter((one) => !missing.some((other) => samePlace(one, other)))
	const places = filled.map((entry) => ({ ...entry, place: source.locate(entry.path) }))
	return atMost([...inOrder(missing), ...inOrder([...rest, ...cross])]).map((problem) => {
		const about = places.find(({ place }) => samePlace(problem, place))
		return { ...problem, message: hideSecrets(problem.message, about?.template, filled) }
	})
}

function placeOf(watchlists: z.output<typeof watchlistsSchema>, source: Source, path: string): WatchlistPlace {
	const named = { file: source.file, ...source.locate(['watchlists']) }
	if (typeof watchlists === 'string') return { folder: resolve(dirname(path), watchlists), named }
	return { files: watchlists.map((file) => resolve(dirname(path), file)), named }
}

/** Finds a file that is listed under two spellings; the schema finds two equal entries. */
function listedTwice(place: WatchlistPlace, source: Source): readonly Problem[] {
	const files = 'files' in place ? place.files : []
	const fault = (index: number) => source.problem(['watchlists', index], 'an entry of `watchlists` is listed twice')
	return files.flatMap((file, index) => (files.indexOf(file) < index ? fault(index) : []))
}

function samePlace(one: Place, other: Place): boolean {
	return one.line === other.line && one.column === other.column
}
