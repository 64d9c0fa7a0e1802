import { basename, dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { quoted } from '../../base/text/quoted.js'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Problem } from '../../errors.js'
import { listAt, type Names, at as valueAt } from '../names.js'
import { mostProblems } from '../words.js'
import { check, inOrder, type Source } from '../yaml/sourceFile.js'
import type { AddressRow } from './addresses/addressFile.js'
import { collectWatches } from './collectWatches.js'
import type { WatchSetBuilder } from './table/watchSet.js'
import { type OptionsWritten, watchlistSchemas } from './watchlistSchema.js'
import { faultsOf, type Options, usual, withOptions } from './watchOptions.js'

export interface Surroundings {
	readonly names: Names
	/** Reads an address file, named by its absolute path. Its problems are the caller's. */
	readonly readAddresses: (path: string, chainId: number | null, take: (row: AddressRow) => void) => Promise<void>
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
	const network = textAt(source.value, 'network')
	const coin = network === null ? null : (names.networks?.get(network) ?? null)
	const schemas = watchlistSchemas(names, coin)
	const problems: Problem[] = []
	/** Null where the value has problems, which are reported. */
	const read = <Data extends OptionsWritten>(schema: z.ZodType<Data>, at: readonly PropertyKey[], base: Options) => {
		const value = at.reduce<unknown>((node, step) => valueAt(node, String(step)), source.value)
		const checked = check(source, schema, value, at)
		if ('problems' in checked) {
			problems.push(...checked.problems)
			return null
		}
		const options = withOptions(checked.data, base)
		for (const { keys, message } of faultsOf(options, coin, at.length === 0)) {
			const key = keys.find((one) => valueAt(value, one) !== undefined)
			if (key !== undefined) problems.push(source.problem([...at, key], message))
		}
		return { data: checked.data, options }
	}
	const head = read(schemas.file, [], usual)
	const shared = head?.options ?? usual
	const sharedAny = valueAt(source.value, 'receivers') !== undefined
	const owner = { network: network ?? '', watchlist: basename(path) }
	const table = gathered.begin(owner.network, owner.watchlist)
	const collected = collectWatches(source, table, problems, owner)
	const addressFiles = new Set<string>()

	const addFiles = async (names: readonly string[], at: readonly PropertyKey[], options: Options) => {
		for (const [index, name] of names.entries()) {
			const fault = (message: string) => problems.push(source.problem([...at, 'addresses_from', index], message))
			const file = resolve(dirname(path), name)
			if (addressFiles.has(file)) fault(`the file ${quoted(name)} stands already in this watchlist`)
			else await readAddresses(file, coin?.chainId ?? null, collected.beginFile(shown(file), options))
			addressFiles.add(file)
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
			const checked = read(schemas.watch, at, shared)
			// An address that stands twice is reported also where the entry has other problems.
			const address = checked === null ? schemas.watch.shape.address.safeParse(valueAt(entry, 'address')).data : null
			if (checked !== null) collected.addEntry(index, checked.data, checked.options)
			else if (address != null) collected.addEntry(index, { address, label: null }, shared)
		} else {
			const checked = read(schemas.entry, at, shared)
			if (checked !== null) await addFiles(checked.data.addresses_from, at, checked.options)
		}
	}
	const files = head?.data.addresses_from ?? []
	if (files.length > 0 && !sharedAny) noReceiver(['addresses_from'])
	await addFiles(files, [], shared)
	if (valueAt(source.value, 'watches') === undefined && valueAt(source.value, 'addresses_from') === undefined)
		problems.push(source.problem(['watches'], '`watches` is missing'))
	gathered.end()
	return inOrder(problems)
}

function textAt(value: unknown, key: string): string | null {
	const found = valueAt(value, key)
	return typeof found === 'string' ? found : null
}
