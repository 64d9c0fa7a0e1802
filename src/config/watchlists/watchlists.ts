/**
 * The room `config/watchlists` reads watchlists (`watchlist.ts`) and address files (`addressFile.ts`) into the watches
 * of each network, and reloads them when they are edited (`watchFiles.ts`, `followWatchlists.ts`).
 */

import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/systemError.js'
import { formatProblem, type Problem } from '../../errors.js'
import type { WatchSet } from '../../model/watch.js'
import type { Names, WatchlistPlace } from '../names.js'
import type { Reading } from '../yaml/openFile.js'
import { atMost, readSource, reason, shown } from '../yaml/sourceFile.js'
import { type AddressFile, readAddressFile } from './addresses/addressFile.js'
import { type Content, revisionOf } from './revision.js'
import { createWatchSet } from './table/watchTable.js'
import { readWatchlist, type Surroundings } from './watchlist.js'

export interface Watchlists {
	readonly watches: WatchSet
	/** Absolute paths of the watchlists, in order. */
	readonly watchlistFiles: readonly string[]
	/** Absolute paths of the address files that they name, in order, without duplicates. */
	readonly addressFiles: readonly string[]
	/** The paths and contents of `watchlistFiles` and `addressFiles`. */
	readonly contents: readonly Content[]
	/** Hash of `contents`. */
	readonly revision: string
	/** Watches that are valid, but probably a mistake; at most 100. */
	readonly warnings: readonly Problem[]
}

export interface WatchlistsRead extends Omit<Watchlists, 'watches'> {
	/** Null when there are problems. */
	readonly watches: WatchSet | null
	readonly problems: readonly Problem[]
}

/**
 * The watchlist files: the given ones, or every *.yaml and *.yml of the folder sorted by name, without hidden files.
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
 * Reads and checks all watchlists and their address files. `expected`: see `createWatchSet`. Problems are returned, not
 * thrown; throws only the signal's reason.
 */
export async function readWatchlists(
	place: WatchlistPlace,
	names: Names,
	cwd: string,
	{ expected, ...reading }: Reading & { readonly expected?: ReadonlyMap<string, number> } = {},
): Promise<WatchlistsRead> {
	const fail = (message: string) => {
		const none = { watches: null, watchlistFiles: [], addressFiles: [], contents: [], revision: revisionOf([]) }
		return { ...none, warnings: [], problems: [{ ...place.named, message }] }
	}
	const folder = 'folder' in place ? shown(place.folder, cwd) : ''
	let files: readonly string[]
	try {
		files = watchlistPaths(place)
	} catch (error) {
		const hint = codeOf(error) === 'ENOTDIR' ? '; a single watchlist is written as a list: [file.yaml]' : ''
		return fail(`the folder of the watchlists, ${folder}, cannot be read: ${reason(error)}${hint}`)
	}
	if (files.length === 0) return fail(`the folder of the watchlists, ${folder}, holds no watchlist (*.yaml or *.yml)`)

	const problems: Problem[] = []
	const warnings: Problem[] = []
	const gathered = createWatchSet(expected)
	const contents: Content[] = []
	const addresses = new Map<string, AddressFile>()
	const readAddresses: Surroundings['readAddresses'] = async (path, chainId, take) => {
		const file = await readAddressFile(path, { ...reading, cwd, chainId }, take)
		const before = addresses.get(path)
		addresses.set(path, before === undefined ? file : again(before, file, shown(path, cwd)))
	}
	const surroundings = { names, readAddresses, shown: (path: string) => shown(path, cwd), gathered, warnings }
	for (const path of files) {
		const source = await readSource(path, cwd, reading)
		contents.push({ path, digest: source.bytes && hash('sha256', source.bytes) })
		if ('problems' in source) {
			problems.push(...source.problems)
			continue
		}
		problems.push(...atMost(await readWatchlist(source, path, surroundings)))
	}
	for (const [path, file] of addresses) {
		contents.push({ path, digest: file.digest })
		problems.push(...file.problems)
	}
	return {
		watches: problems.length > 0 ? null : gathered.set(),
		watchlistFiles: Object.freeze([...files]),
		addressFiles: Object.freeze([...addresses.keys()]),
		contents,
		revision: revisionOf(contents),
		warnings,
		problems,
	}
}

/** A file that several watchlists name: each reading is checked for its network, and a problem is reported once. */
function again(before: AddressFile, { digest, problems }: AddressFile, file: string): AddressFile {
	const known = new Set(before.problems.map(formatProblem))
	const more = problems.filter((problem) => !known.has(formatProblem(problem)))
	if (digest === before.digest) return { digest, problems: [...before.problems, ...more] }
	const changed = { file, line: 1, column: 1, message: 'the file changed while it was read: read it again' }
	// Without a digest, it counts as changed at the next look.
	return { digest: null, problems: [...before.problems, ...more, changed] }
}
