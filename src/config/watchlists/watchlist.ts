import { basename, dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { deepFreeze } from '../../base/deepFreeze.js'
import { quoted } from '../../base/text/quoted.js'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import type { Problem } from '../../errors.js'
import type { Watch, WatchRules } from '../../model/watch.js'
import { listAt, type Names, textAt, at as valueAt } from '../names.js'
import { mostProblems } from '../words.js'
import { check, inOrder, type Source } from '../yaml/sourceFile.js'
import type { AddressRow } from './addresses/addressFile.js'
import type { WatchSetBuilder, WatchTable } from './table/watchTable.js'
import { type OptionsWritten, watchlistSchemas } from './watchlistSchema.js'
import { faultsOf, type Options, silenceOf, usual, withOptions, withTags } from './watchOptions.js'

export interface Surroundings {
	readonly names: Names
	/** Reads an address file, named by its absolute path. Its problems are the caller's. */
	readonly readAddresses: (path: string, chainId: number | null, take: (row: AddressRow) => void) => Promise<void>
	/** The path of an address file as messages show it. */
	readonly shown: (path: string) => string
	/** Collects the watches. */
	readonly gathered: WatchSetBuilder
	/** Collects what is valid, but probably a mistake; at most 100. */
	readonly warnings: Problem[]
}

/**
 * Reads the watches of one file: those of its list, then those of its address files. Each entry is checked separately,
 * so that a problem in one does not hide the problems of others. When problems are returned, the collected watches must
 * not be used.
 */
export async function readWatchlist(
	source: Source,
	path: string,
	{ names, readAddresses, shown, gathered, warnings }: Surroundings,
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
	const collect = collectInto(source, gathered.begin(owner.network, owner.watchlist), problems, owner)
	const addressFiles = new Set<string>()

	const addFiles = async (names: readonly string[], at: readonly PropertyKey[], options: Options) => {
		for (const [index, name] of names.entries()) {
			const fault = (message: string) => problems.push(source.problem([...at, 'addresses_from', index], message))
			const file = resolve(dirname(path), name)
			if (addressFiles.has(file)) fault(`the file ${quoted(name)} is already listed in this watchlist`)
			else {
				const place = shown(file)
				const add = collect(place, options)
				const take = (row: AddressRow) =>
					add(row, row.place.line, (message) => ({ file: place, ...row.place, message }))
				await readAddresses(file, coin?.chainId ?? null, take)
			}
			addressFiles.add(file)
		}
	}
	const noReceiver = (at: readonly PropertyKey[]) => {
		const message = 'this watch has no receiver: name `receivers` here, or for the whole watchlist'
		problems.push(source.problem(at, message))
	}
	const judged = new Set<Options>()
	/** Once for options that many watches share. */
	const warnOfSilence = (options: Options, at: readonly PropertyKey[]) => {
		if (judged.has(options) || warnings.length >= mostProblems) return
		judged.add(options)
		const message = silenceOf({ ...owner, ...options }, coin)
		if (message !== null) warnings.push(source.problem([...(options === shared ? [] : at), 'kinds'], message))
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
			const found = checked?.data ?? (address == null ? null : { address, label: null })
			const problem = (message: string) => source.problem([...at, 'address'], message)
			if (found !== null) collect(null, checked?.options ?? shared)({ ...found, tags: noTags }, index, problem)
			warnOfSilence(checked?.options ?? shared, at)
		} else {
			const checked = read(schemas.entry, at, shared)
			if (checked !== null) await addFiles(checked.data.addresses_from, at, checked.options)
			warnOfSilence(checked?.options ?? shared, at)
		}
	}
	const files = head?.data.addresses_from ?? []
	if (files.length > 0 && !sharedAny) noReceiver(['addresses_from'])
	await addFiles(files, [], shared)
	if (files.length > 0) warnOfSilence(shared, [])
	if (valueAt(source.value, 'watches') === undefined && valueAt(source.value, 'addresses_from') === undefined)
		problems.push(source.problem(['watches'], '`watches` is missing'))
	return inOrder(problems)
}

type Found = Pick<Watch, 'address' | 'label' | 'tags'>
const noTags: readonly string[] = Object.freeze([])

/**
 * Collects the watches of one watchlist. The result begins a file of addresses (null: the list of the watchlist), and
 * returns what adds a watch of it to `table`. `place`: its line in the file, or its index in the list. An address that
 * occurs twice in the watchlist is added to `problems`. Watches in `table` before are those of other watchlists.
 */
function collectInto(
	source: Source,
	table: WatchTable,
	problems: Problem[],
	{ network, watchlist }: Pick<WatchRules, 'network' | 'watchlist'>,
) {
	const start = table.length
	/** Of each watch, in order. */
	const places: number[] = []
	/** Where the watches of each file begin, in order. */
	const files: { readonly file: string | null; readonly from: number }[] = []
	const rules = new Map<Options, Map<readonly string[], WatchRules>>()

	return (file: string | null, options: Options) => {
		if (files.at(-1)?.file !== file) files.push({ file, from: table.length })
		// The same object for the same options and tags.
		const byTags = rules.get(options) ?? new Map<readonly string[], WatchRules>()
		rules.set(options, byTags)
		return ({ address, label, tags }: Found, place: number, problem: (message: string) => Problem): void => {
			if (problems.length >= mostProblems) return
			const own = byTags.get(tags) ?? deepFreeze({ network, ...options, tags: withTags(options.tags, tags), watchlist })
			byTags.set(tags, own)
			const before = table.addOnceSince(start, address, label, own)
			if (before === -1) return void places.push(place)
			const first = files.findLast(({ from }) => from <= before)?.file ?? null
			const found = places[before - start] ?? 0
			const line = first === null ? source.locate(['watches', found, 'address']).line : found
			const words = first === file ? `in line ${line}` : `in ${first ?? source.file}:${line}`
			problems.push(problem(`this address is already listed ${words}; list an address once`))
		}
	}
}
