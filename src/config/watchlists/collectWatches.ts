import { deepFreeze } from '../../base/deepFreeze.js'
import type { Problem } from '../../errors.js'
import type { Watch, WatchRules } from '../../model/watch.js'
import { mostProblems } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'
import type { AddressRow } from './addresses/addressFile.js'
import type { WatchTable } from './table/watchTable.js'
import { type Options, withTags } from './watchOptions.js'

/**
 * Collects the watches of one watchlist, from its own list and from its address files. An address that occurs twice in
 * it is added to `problems`. Watches in `table` before are those of other watchlists.
 */
export function collectWatches(
	source: Source,
	table: WatchTable,
	problems: Problem[],
	{ network, watchlist }: Pick<WatchRules, 'network' | 'watchlist'>,
) {
	const start = table.length
	/** For each watch from `start` on. */
	const places: number[] = []
	/** The sources of consecutive watches, in order. `file` null: the list of the watchlist. */
	const stretches: { readonly from: number; readonly file: string | null }[] = []
	const rules = new Map<Options, Map<readonly string[], WatchRules>>()

	/** Returns the same object for the same options and tags. */
	function rulesOf(options: Options, tags: readonly string[]): WatchRules {
		const byTags = rules.get(options) ?? new Map<readonly string[], WatchRules>()
		rules.set(options, byTags)
		const own = byTags.get(tags) ?? deepFreeze({ network, ...options, tags: withTags(options.tags, tags), watchlist })
		byTags.set(tags, own)
		return own
	}

	function begin(file: string | null): void {
		if (stretches.at(-1)?.file !== file) stretches.push({ from: table.length, file })
	}

	/** `place`: its index in the list, or its line in an address file. */
	function add(watch: Found, own: WatchRules, place: number, problem: (message: string) => Problem): void {
		const before = table.addOnceSince(start, watch.address, watch.label, own)
		if (before === -1) places.push(place)
		else problems.push(problem(`this address stands already ${placeOf(before)}; a watchlist names an address once`))
	}

	function placeOf(before: number): string {
		const place = places[before - start] ?? 0
		const there = stretches.findLast(({ from }) => from <= before)?.file ?? null
		const here = stretches.at(-1)?.file ?? null
		const line = there === null ? source.locate(['watches', place, 'address']).line : place
		return there === here ? `in line ${line}` : `in ${there ?? source.file}:${line}`
	}

	return {
		addEntry(index: number, watch: Found, options: Options): void {
			begin(null)
			const problem = (message: string) => source.problem(['watches', index, 'address'], message)
			add(watch, rulesOf(options, noTags), index, problem)
		},
		/** Returns what takes the rows of the file, which messages name by `file`. */
		beginFile(file: string, options: Options): (row: AddressRow) => void {
			begin(file)
			return (row) => {
				if (problems.length >= mostProblems) return
				add(row, rulesOf(options, row.tags), row.place.line, (message) => ({ file, ...row.place, message }))
			}
		},
	}
}

type Found = Pick<Watch, 'address' | 'label'>
const noTags: readonly string[] = Object.freeze([])
