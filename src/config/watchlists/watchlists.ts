/**
 * The room reads watchlists (`watchlist.ts`) and files of addresses (`addressFile.ts`) into the watches of each
 * network, and follows what is edited (`reload.ts`, `follow.ts`).
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTimeSlices } from '../../base/timeSlices.js'
import type { Problem } from '../../errors.js'
import type { WatchSet } from '../../model/watch.js'
import type { Names, WatchlistPlace } from '../names.js'
import { atMost, readSource, reason, shown } from '../source.js'
import { type AddressFile, readAddressFile } from './addressFile.js'
import { type Content, contentHash, revisionOf } from './revision.js'
import { readWatchlist } from './watchlist.js'
import { createWatchSet } from './watchSet.js'

export interface Watchlists {
	readonly watches: WatchSet
	/** Absolute paths of the watchlists, in order. */
	readonly files: readonly string[]
	/** Absolute paths of the files of addresses that they name, in order, each once. */
	readonly addressFiles: readonly string[]
	/** Hash over names and contents of `files` and `addressFiles`: the same set has the same. */
	readonly revision: string
}

export interface WatchlistsRead extends Omit<Watchlists, 'watches'> {
	/** Null when there are problems. */
	readonly watches: WatchSet | null
	readonly problems: readonly Problem[]
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
 * Reads and checks all watchlists and the files of addresses that they name; nothing is thrown for what stands in them.
 */
export async function readWatchlists(
	place: WatchlistPlace,
	names: Names,
	cwd: string,
	signal?: AbortSignal,
): Promise<WatchlistsRead> {
	const none = { watches: null, files: [], addressFiles: [] }
	const fail = (message: string) => ({
		...none,
		revision: revisionOf([]),
		problems: [{ ...place.named, message }],
	})
	const folder = 'folder' in place ? shown(place.folder, cwd) : ''
	let files: readonly string[]
	try {
		files = watchlistPaths(place)
	} catch (error) {
		const hint = isFile(error) ? '; a single watchlist is written as a list: [file.yaml]' : ''
		return fail(`the folder of the watchlists, ${folder}, cannot be read: ${reason(error)}${hint}`)
	}
	if (files.length === 0) return fail(`the folder of the watchlists, ${folder}, holds no watchlist (*.yaml or *.yml)`)

	const slices = createTimeSlices()
	const problems: Problem[] = []
	const gathered = createWatchSet()
	const contents: Content[] = []
	const addresses = new Map<string, AddressFile>()
	const addressFile = async (path: string) => {
		const before = addresses.get(path)
		if (before !== undefined) return before
		const file = await readAddressFile(path, cwd, slices, signal)
		addresses.set(path, file)
		return file
	}
	for (const path of files) {
		const source = await readSource(path, cwd, signal)
		contents.push({ path, digest: await contentHash(source.bytes) })
		if ('problems' in source) {
			problems.push(...source.problems)
			continue
		}
		problems.push(...atMost(await readWatchlist(source, path, { names, addressFile, slices, gathered })))
	}
	for (const [path, file] of addresses) {
		contents.push({ path, digest: file.digest })
		problems.push(...file.problems)
	}
	return {
		watches: problems.length > 0 ? null : gathered.set(),
		files: Object.freeze([...files]),
		addressFiles: Object.freeze([...addresses.keys()]),
		revision: revisionOf(contents),
		problems,
	}
}

function isFile(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
}
