import { deepFreeze } from '../../base/deepFreeze.js'
import type { Problem } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Watch, WatchRules } from '../../model/watch.js'
import { mostProblems } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'
import type { AddressRow } from './addresses/addressFile.js'
import type { WatchTable } from './table/watchTable.js'
import { type Options, withTags } from './watchOptions.js'

export interface CollectOptions {
	readonly network: string
	/** Name of the file, without its folder. */
	readonly watchlist: string
	readonly source: Source
	/** The table that the watches are added to. Watches in it before are those of other watchlists. */
	readonly table: WatchTable
	/** Duplicate addresses are reported here. */
	readonly problems: Problem[]
}

/**
 * Collects the watches of one watchlist, from its own list and from its address files, and reports addresses that occur
 * twice in it.
 */
export function collectWatches({ network, watchlist, source, table, problems }: CollectOptions) {
	const start = table.length
	/** For each watch from `start` on: its index in the list, or its line in an address file. */
	const places: number[] = []
	/** The sources of consecutive watches, in order. `file` null: the list of the watchlist. */
	const stretches: { readonly from: number; readonly file: string | null }[] = []
	const files = new Set<string>()
	const rules = new Map<Options, Map<readonly string[], WatchRules>>()

	/** Returns the same object for the same options and tags. */
	function rulesOf(options: Options, tags: readonly string[]): WatchRules {
		const byTags = rules.get(options) ?? new Map<readonly string[], WatchRules>()
		rules.set(options, byTags)
		const before = byTags.get(tags)
		if (before !== undefined) return before
		const made: WatchRules = deepFreeze({ network, ...options, tags: withTags(options.tags, tags), watchlist })
		byTags.set(tags, made)
		return made
	}

	function begin(file: string | null): void {
		if (stretches.at(-1)?.file !== file) stretches.push({ from: table.length, file })
	}

	/**
	 * Adds the watch and returns null; when the address is in this watchlist already, adds nothing and returns a message.
	 */
	function add(address: Address, label: string | null, own: WatchRules, place: number): string | null {
		const before = table.addOnceSince(start, address, label, own)
		if (before !== -1) return `this address stands already ${placeOf(before)}; a watchlist names an address once`
		places.push(place)
		return null
	}

	function placeOf(before: number): string {
		const place = places[before - start] ?? 0
		const there = stretches.findLast(({ from }) => from <= before)?.file ?? null
		const here = stretches.at(-1)?.file ?? null
		const line = there === null ? source.locate(['watches', place, 'address']).line : place
		return there === here ? `in line ${line}` : `in ${there ?? source.file}:${line}`
	}

	return {
		hasFile: (path: string) => files.has(path),
		addEntry(index: number, { address, label }: Pick<Watch, 'address' | 'label'>, options: Options): void {
			begin(null)
			const fault = add(address, label, rulesOf(options, noTags), index)
			if (fault !== null) problems.push(source.problem(['watches', index, 'address'], fault))
		},
		/** Returns what takes the rows of the file, which messages name by `file`. */
		beginFile(path: string, file: string, options: Options): (row: AddressRow) => void {
			files.add(path)
			begin(file)
			return ({ address, label, tags, place }) => {
				if (problems.length >= mostProblems) return
				const fault = add(address, label, rulesOf(options, tags), place.line)
				if (fault !== null) problems.push({ file, ...place, message: fault })
			}
		},
	}
}

const noTags: readonly string[] = Object.freeze([])
