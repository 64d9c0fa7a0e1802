import type { Turns } from '../../base/timeSlices.js'
import type { Problem } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { Silence, Watch } from '../../model/watch.js'
import type { Source } from '../source.js'
import { mostProblems } from '../words.js'
import type { AddressFile, AddressRow } from './addressFile.js'
import { type Options, withTags } from './watchOptions.js'

export interface CollectOptions {
	readonly network: string
	/** Name of the file, without its folder. */
	readonly watchlist: string
	readonly silences: readonly Silence[]
	readonly source: Source
	/** Where an address that stands twice is told. */
	readonly problems: Problem[]
}

/** Gathers the watches of one watchlist, from its own list and from files of addresses, and sees to it that no address stands twice. */
export function collectWatches({ network, watchlist, silences, source, problems }: CollectOptions) {
	const watches: Watch[] = []
	/** Where an address stood first: its index in the list, or its line in a file. */
	const first = new Map<Address, number | AddressRow>()
	const files = new Map<string, AddressFile>()

	// Written out: copied with `...`, a hundred thousand of them take four times as long and twice the memory.
	function add(address: Address, label: string | null, options: Options, tags: readonly string[]): void {
		const { kinds, direction, minValueWei, receivers, fromBlock } = options
		watches.push(
			Object.freeze(
				silences.length === 0
					? { network, address, label, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist }
					: { network, address, label, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist, silences },
			),
		)
	}

	/** What is wrong when the address stood before; null when it did not. */
	function seenBefore(address: Address, here: number | AddressRow, file: AddressFile | null): string | null {
		const before = first.get(address)
		if (before === undefined) {
			first.set(address, here)
			return null
		}
		return `this address stands already ${placeOf(before, file)}; a watchlist names an address once`
	}

	function placeOf(before: number | AddressRow, here: AddressFile | null): string {
		if (typeof before === 'number') {
			const { line } = source.locate(['watches', before, 'address'])
			return here === null ? `in line ${line}` : `in ${source.file}:${line}`
		}
		const there = [...files.values()].find(({ rows }) => rows.includes(before)) ?? here
		return there === here ? `in line ${before.line}` : `in ${there?.file}:${before.line}`
	}

	return {
		watches,
		hasFile: (path: string) => files.has(path),
		addEntry(index: number, { address, label }: Pick<Watch, 'address' | 'label'>, options: Options): void {
			const fault = seenBefore(address, index, null)
			if (fault !== null) problems.push(source.problem(['watches', index, 'address'], fault))
			else add(address, label, options, options.tags)
		},
		/** The file's own problems are told by whoever read it. */
		async addFile(path: string, file: AddressFile, options: Options, turns: Turns): Promise<void> {
			files.set(path, file)
			const tagsOf = new Map<readonly string[], readonly string[]>()
			for (const row of file.rows) {
				if (turns.isOver()) await turns.next()
				if (problems.length >= mostProblems) return
				const { address, label, line, column } = row
				const fault = seenBefore(address, row, file)
				if (fault !== null) {
					problems.push({ file: file.file, line, column, message: fault })
					continue
				}
				const tags = tagsOf.get(row.tags) ?? withTags(options.tags, row.tags)
				tagsOf.set(row.tags, tags)
				add(address, label, options, tags)
			}
		},
	}
}
