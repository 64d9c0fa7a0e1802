import { basename, dirname, resolve } from 'node:path'
import { quoted } from '../../base/text/quoted.js'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Problem } from '../../errors.js'
import { listAt, type Names, at as valueAt } from '../names.js'
import { mostProblems } from '../words.js'
import { check, inOrder, type Source } from '../yaml/sourceFile.js'
import type { AddressRow } from './addresses/addressFile.js'
import { collectWatches } from './collectWatches.js'
import { createOptionReader, unknownName } from './optionReader.js'
import type { WatchSetBuilder } from './table/watchSet.js'
import { fileEntrySchema, headSchema, watchSchema } from './watchlistSchema.js'
import { type Options, usual } from './watchOptions.js'

export interface Surroundings {
	readonly names: Names
	/** Reads an address file, named by its absolute path. Its problems are the caller's. */
	readonly readAddresses: (path: string, take: (row: AddressRow) => void) => Promise<void>
	/** The path of an address file as messages show it. */
	readonly shown: (path: string) => string
	/** Collects the watches. */
	readonly gathered: WatchSetBuilder
}

/**
 * Reads the watches of one file: those of its list, then those of its address files. Each entry is checked separately,
 * so that a problem in one does not hide the problems of others. When problems are returned, the collected watches must
 * not be used.
 */
export async function readWatchlist(
	source: Source,
	path: string,
	{ names, readAddresses, shown, gathered }: Surroundings,
): Promise<readonly Problem[]> {
	const head = check(source, headSchema, source.value)
	const problems: Problem[] = 'problems' in head ? [...head.problems] : []
	const network = textAt(source.value, 'network')
	if (network !== null && names.networks !== null && !names.networks.has(network)) {
		problems.push(source.problem(['network'], unknownName('network', network, [...names.networks.keys()])))
	}
	const coin = network === null ? null : (names.networks?.get(network) ?? null)
	const optionsOf = createOptionReader({ source, names, coin, problems })
	const shared = optionsOf('data' in head ? head.data : null, source.value, [], usual)
	const sharedAny = valueAt(source.value, 'receivers') !== undefined
	const table = gathered.begin(network ?? '', basename(path))
	const collected = collectWatches({
		network: network ?? '',
		watchlist: basename(path),
		source,
		table,
		problems,
	})

	const addFiles = async (names: readonly string[], at: readonly PropertyKey[], options: Options) => {
		for (const [index, name] of names.entries()) {
			const fault = (message: string) => problems.push(source.problem([...at, 'addresses_from', index], message))
			const file = resolve(dirname(path), name)
			if (collected.hasFile(file)) fault(`the file ${quoted(name)} stands already in this watchlist`)
			else await readAddresses(file, collected.beginFile(file, shown(file), options))
		}
	}
	const noReceiver = (at: readonly PropertyKey[]) => {
		const message = 'this watch has no receiver: name `receivers` here, or for the whole watchlist'
		problems.push(source.problem(at, message))
	}

	for (const [index, entry] of listAt(source.value, 'watches').entries()) {
		if (isSliceOver()) await nextSlice()
		if (problems.length >= mostProblems) break
		const at = ['watches', index]
		if (valueAt(entry, 'receivers') === undefined && !sharedAny) noReceiver(at)
		if (valueAt(entry, 'addresses_from') === undefined) {
			const checked = check(source, watchSchema, entry, at)
			const options = optionsOf('data' in checked ? checked.data : null, entry, at, shared)
			if ('data' in checked) collected.addEntry(index, checked.data, options)
			else {
				problems.push(...checked.problems)
				// Reports a duplicate address also in an entry with other problems.
				const address = watchSchema.shape.address.safeParse(valueAt(entry, 'address'))
				if (address.success) collected.addEntry(index, { address: address.data, label: null }, options)
			}
		} else {
			const checked = check(source, fileEntrySchema, entry, at)
			const options = optionsOf('data' in checked ? checked.data : null, entry, at, shared)
			if ('data' in checked) await addFiles(checked.data.addresses_from, at, options)
			else problems.push(...checked.problems)
		}
	}
	const files = 'data' in head ? (head.data.addresses_from ?? []) : []
	if (files.length > 0 && !sharedAny) noReceiver(['addresses_from'])
	await addFiles(files, [], shared)
	if (valueAt(source.value, 'watches') === undefined && valueAt(source.value, 'addresses_from') === undefined)
		problems.push(source.problem(['watches'], '`watches` is missing'))
	gathered.end(collected.rules())
	return inOrder(problems)
}

function textAt(value: unknown, key: string): string | null {
	const found = valueAt(value, key)
	return typeof found === 'string' ? found : null
}
