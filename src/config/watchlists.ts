import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseAmount } from '../core/amount.js'
import { ConfigError, type Problem } from '../errors.js'
import type { Address, Watch } from '../model.js'
import type { Known, Settings, WatchlistPlace } from './settings.js'
import { check, readSource, reason, type Source, shown } from './source.js'
import { watchlistSchema } from './watchlistSchema.js'
import { suggestion } from './words.js'

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
	const known: Known = {
		networks: new Map(settings.networks.map(({ name, decimals, symbol }) => [name, { decimals, symbol }])),
		receivers: settings.receivers.map(({ name }) => name),
	}
	const { watchlists, problems } = await readWatchlists(settings.watchlists, known, cwd)
	if (watchlists === null) throw new ConfigError(problems)
	return watchlists
}

/** Reads and checks all watchlists; null when there are problems. */
export async function readWatchlists(
	place: WatchlistPlace,
	known: Known,
	cwd: string,
): Promise<{ readonly watchlists: Watchlists | null; readonly problems: readonly Problem[] }> {
	const fail = (path: string, message: string) => ({
		watchlists: null,
		problems: [{ file: shown(path, cwd), line: 1, column: 1, message }],
	})
	let files: readonly string[]
	try {
		files = watchlistPaths(place)
	} catch (error) {
		return fail('folder' in place ? place.folder : '', `the folder of the watchlists cannot be read: ${reason(error)}`)
	}
	if (files.length === 0)
		return fail('folder' in place ? place.folder : '', 'no watchlist (*.yaml, *.yml) is in this folder')

	const problems: Problem[] = []
	const watches: Watch[] = []
	const hash = createHash('sha256')
	for (const path of files) {
		const source = await readSource(path, cwd)
		if ('problems' in source) {
			problems.push(...source.problems)
			continue
		}
		hash.update(`${path}\0${source.bytes.byteLength}\0`).update(source.bytes)
		const one = readWatchlist(source, basename(path), known)
		problems.push(...one.problems)
		for (const watch of one.watches) watches.push(watch)
	}
	if (problems.length > 0) return { watchlists: null, problems }
	return {
		watchlists: Object.freeze({
			watches: Object.freeze(watches),
			files: Object.freeze([...files]),
			revision: hash.digest('hex'),
		}),
		problems,
	}
}

function readWatchlist(
	source: Source,
	name: string,
	known: Known,
): { watches: readonly Watch[]; problems: readonly Problem[] } {
	const checked = check(source, watchlistSchema, source.value)
	if ('problems' in checked) return { watches: [], problems: checked.problems }
	const { network, receivers, watches: entries } = checked.data
	const problems: Problem[] = []

	const coin = known.networks?.get(network)
	if (known.networks !== null && coin === undefined) {
		problems.push(source.problem(['network'], unknownName('network', network, [...known.networks.keys()])))
	}
	const checkReceivers = (names: readonly string[], path: readonly PropertyKey[]) => {
		if (known.receivers === null) return
		for (const [index, receiver] of names.entries()) {
			if (!known.receivers.includes(receiver)) {
				problems.push(source.problem([...path, index], unknownName('receiver', receiver, known.receivers)))
			}
		}
	}
	checkReceivers(receivers, ['receivers'])

	const first = new Map<Address, number>()
	const watches = entries.map((entry, index): Watch => {
		const before = first.get(entry.address)
		if (before === undefined) first.set(entry.address, index)
		else {
			const { line } = source.locate(['watches', before, 'address'])
			problems.push(
				source.problem(
					['watches', index, 'address'],
					`this address stands already in line ${line}; one watchlist names it once`,
				),
			)
		}
		if (entry.receivers !== null) checkReceivers(entry.receivers, ['watches', index, 'receivers'])
		else if (receivers.length === 0) {
			const message = 'nobody is told of this watch: name `receivers` here, or for the whole watchlist'
			problems.push(source.problem(['watches', index], message))
		}
		let minValueWei = 1n
		if (entry.min_value !== null && (coin !== undefined || known.networks === null)) {
			try {
				const wei = parseAmount(entry.min_value, coin?.decimals ?? 18, coin?.symbol)
				minValueWei = wei > 1n ? wei : 1n
			} catch (error) {
				if (!(error instanceof RangeError)) throw error
				if (coin !== undefined)
					problems.push(source.problem(['watches', index, 'min_value'], `\`min_value\`: ${error.message}`))
			}
		}
		return Object.freeze({
			network,
			address: entry.address,
			label: entry.label,
			tags: Object.freeze(entry.tags),
			kinds: Object.freeze(entry.kinds),
			direction: entry.direction,
			minValueWei,
			receivers: entry.receivers === null ? receivers : Object.freeze(entry.receivers),
			fromBlock: entry.from_block,
			watchlist: name,
		})
	})
	return { watches, problems }
}

function unknownName(what: 'network' | 'receiver', name: string, known: readonly string[]): string {
	const near = suggestion(name, known)
	const list = near === '' && known.length > 0 ? `; there are ${known.join(', ')}` : near
	return `no ${what} \`${name}\` is in tracewatch.yaml${list}`
}
