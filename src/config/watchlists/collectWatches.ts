import { deepFreeze } from '../../base/deepFreeze.js'
import type { TimeSlices } from '../../base/timeSlices.js'
import { createNumberColumn } from '../../core/columns.js'
import type { Problem } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Silence, Watch, WatchRules } from '../../model/watch.js'
import type { Source } from '../source.js'
import { mostProblems } from '../words.js'
import type { AddressFile } from './addressFile.js'
import { type Options, withTags } from './watchOptions.js'
import type { WatchTable } from './watchTable.js'

export interface CollectOptions {
	readonly network: string
	/** Name of the file, without its folder. */
	readonly watchlist: string
	readonly silences: readonly Silence[]
	readonly source: Source
	/** Where the watches go; what stands there already is of other watchlists. */
	readonly table: WatchTable
	/** Where an address that stands twice is reported. */
	readonly problems: Problem[]
}

/**
 * Gathers the watches of one watchlist, from its own list and from files of addresses, and sees to it that no address
 * stands twice.
 */
export function collectWatches({ network, watchlist, silences, source, table, problems }: CollectOptions) {
	const start = table.length
	/** By watch, from `start` on: its index in the list, or its line in a file. */
	const places = createNumberColumn()
	/** Which of them are of which file; null: of the list. In order. */
	const stretches: { readonly from: number; readonly file: AddressFile | null }[] = []
	const files = new Set<string>()
	const rules = new Map<Options, Map<readonly string[], WatchRules>>()

	/** The same for the same options and tags. */
	function rulesOf(options: Options, tags: readonly string[]): WatchRules {
		const byTags = rules.get(options) ?? new Map<readonly string[], WatchRules>()
		rules.set(options, byTags)
		const before = byTags.get(tags)
		if (before !== undefined) return before
		const own = { network, ...options, tags: withTags(options.tags, tags), watchlist }
		const made: WatchRules = deepFreeze(silences.length === 0 ? own : { ...own, silences })
		byTags.set(tags, made)
		return made
	}

	function begin(file: AddressFile | null): void {
		if (stretches.at(-1)?.file !== file) stretches.push({ from: table.length, file })
	}

	/** What is wrong when the address stood in this watchlist before; null when it did not, and then it is there. */
	function add(address: Address, label: string | null, own: WatchRules, place: number): string | null {
		const before = table.addOnceSince(start, address, label, own)
		if (before !== -1) return `this address stands already ${placeOf(before)}; a watchlist names an address once`
		places.push(place)
		return null
	}

	function placeOf(before: number): string {
		const place = places.at(before - start)
		const there = stretches.findLast(({ from }) => from <= before)?.file ?? null
		const here = stretches.at(-1)?.file ?? null
		const line = there === null ? source.locate(['watches', place, 'address']).line : place
		return there === here ? `in line ${line}` : `in ${there === null ? source.file : there.file}:${line}`
	}

	return {
		rules: function* () {
			for (const byTags of rules.values()) yield* byTags.values()
		},
		hasFile: (path: string) => files.has(path),
		addEntry(index: number, { address, label }: Pick<Watch, 'address' | 'label'>, options: Options): void {
			begin(null)
			const fault = add(address, label, rulesOf(options, noTags), index)
			if (fault !== null) problems.push(source.problem(['watches', index, 'address'], fault))
		},
		/** The file's own problems are reported by whoever read it. */
		async addFile(path: string, file: AddressFile, options: Options, slices: TimeSlices): Promise<void> {
			files.add(path)
			begin(file)
			const { rows } = file
			table.reserve(rows.length)
			for (let row = 0; row < rows.length; row++) {
				if (slices.isOver()) await slices.next()
				if (problems.length >= mostProblems) return
				const { address, label, tags, line, column } = rows.at(row)
				const fault = add(address, label, rulesOf(options, tags), line)
				if (fault !== null) problems.push({ file: file.file, line, column, message: fault })
			}
		},
	}
}

const noTags: readonly string[] = Object.freeze([])
