import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ConfigError, type Problem } from '../errors.js'
import type { Watch } from '../model.js'
import { type Known, knownOf, type WatchlistPlace } from './known.js'
import { createRevision } from './revision.js'
import type { Settings } from './settings.js'
import { readSource, reason, shown } from './source.js'
import { readWatchlist } from './watchlist.js'

export interface Watchlists {
	/** In the order of the files, then as they stand in each. */
	readonly watches: readonly Watch[]
	/** Absolute paths, in order. */
	readonly files: readonly string[]
	/** Hash over names and contents of the files: the same set has the same. */
	readonly revision: string
}

/**
 * The files of a place: those given, or every *.yaml and *.yml of the folder by name; hidden ones are not watchlists.
 *
 * @throws the system's error when the folder cannot be read.
 */
export function watchlistPaths(place: WatchlistPlace): readonly string[] {
	if ('files' in place) return place.files
	return readdirSync(place.folder)
		.filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'))
		.sort()
		.map((name) => join(place.folder, name))
}

/**
 * Reads all watchlists anew, for the settings as they are.
 *
 * @throws ConfigError with every problem of every file; then nothing of them is to be used.
 */
export async function loadWatchlists(settings: Settings, { cwd = process.cwd() } = {}): Promise<Watchlists> {
	const { watchlists, problems } = await readWatchlists(settings.watchlists, knownOf(settings), cwd)
	if (watchlists === null) throw new ConfigError(problems)
	return watchlists
}

/** Reads and checks all watchlists; null when there are problems. */
export async function readWatchlists(
	place: WatchlistPlace,
	known: Known,
	cwd: string,
): Promise<{ readonly watchlists: Watchlists | null; readonly problems: readonly Problem[] }> {
	const fail = (message: string) => ({ watchlists: null, problems: [{ ...place.named, message }] })
	const folder = 'folder' in place ? shown(place.folder, cwd) : ''
	let files: readonly string[]
	try {
		files = watchlistPaths(place)
	} catch (error) {
		const hint = isFile(error) ? '; a single watchlist is written as a list: [file.yaml]' : ''
		return fail(`the folder of the watchlists, ${folder}, cannot be read: ${reason(error)}${hint}`)
	}
	if (files.length === 0) return fail(`the folder of the watchlists, ${folder}, holds no watchlist (*.yaml or *.yml)`)

	const problems: Problem[] = []
	const watches: Watch[] = []
	const revision = createRevision()
	for (const path of files) {
		const source = await readSource(path, cwd)
		if ('problems' in source) {
			problems.push(...source.problems)
			continue
		}
		revision.add(path, source.bytes)
		const one = readWatchlist(source, basename(path), known)
		problems.push(...one.problems)
		for (const watch of one.watches) watches.push(watch)
	}
	if (problems.length > 0) return { watchlists: null, problems }
	return {
		watchlists: Object.freeze({
			watches: Object.freeze(watches),
			files: Object.freeze([...files]),
			revision: revision.value(),
		}),
		problems,
	}
}

function isFile(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
}
