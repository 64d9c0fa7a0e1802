import { basename, dirname, resolve } from 'node:path'
import { quoted } from '../../base/quoted.js'
import type { TimeSlices } from '../../base/timeSlices.js'
import { parseAmount } from '../../core/amount.js'
import { noTokens } from '../../core/tokenChoice.js'
import type { Problem } from '../../errors.js'
import type { KnownTokens } from '../../model/token.js'
import { type Coin, type Names, at as valueAt } from '../names.js'
import { check, inOrder, type Source } from '../source.js'
import { mostProblems, suggestion } from '../words.js'
import type { AddressFile } from './addressFile.js'
import { collectWatches } from './collectWatches.js'
import { readTokenChoice } from './tokenChoice.js'
import { fileEntrySchema, headSchema, watchSchema } from './watchlistSchema.js'
import { type Options, type OptionsWritten, usual, withOptions } from './watchOptions.js'
import type { WatchSetBuilder } from './watchSet.js'

export interface Surroundings {
	readonly names: Names
	/** Reads a file of addresses, by its absolute path. */
	readonly addressFile: (path: string) => Promise<AddressFile>
	readonly slices: TimeSlices
	/** Where the watches go. */
	readonly gathered: WatchSetBuilder
}

/**
 * Gathers the watches of one file: those of its list, then those of its files of addresses. Each entry is checked for
 * itself, so that one wrong entry hides no problem of another; with problems what was gathered is not to be used.
 */
export async function readWatchlist(
	source: Source,
	path: string,
	{ names, addressFile, slices, gathered }: Surroundings,
): Promise<readonly Problem[]> {
	const head = check(source, headSchema, source.value)
	const problems: Problem[] = 'problems' in head ? [...head.problems] : []
	const network = textAt(source.value, 'network')
	if (network !== null && names.networks !== null && !names.networks.has(network)) {
		problems.push(source.problem(['network'], unknownName('network', network, [...names.networks.keys()])))
	}
	const coin = network === null ? null : (names.networks?.get(network) ?? null)

	/**
	 * The options of one place over those that hold around it; wrong amounts and null receivers are reported here.
	 */
	const optionsOf = (written: OptionsWritten | null, value: unknown, at: readonly PropertyKey[], base: Options) => {
		problems.push(...receiverProblems(source, names, value, at))
		const amount = (key: 'min_value' | 'balance_below' | 'balance_above') => {
			const read = readAmount(key, valueAt(value, key), coin)
			if ('message' in read) problems.push(source.problem([...at, key], read.message))
			return 'wei' in read ? read.wei : null
		}
		const amounts = {
			minValueWei: amount('min_value'),
			belowWei: amount('balance_below'),
			aboveWei: amount('balance_above'),
		}
		const tokens = readTokenChoice(written?.tokens ?? null, coin === null ? null : (coin.tokens ?? noTokensOf(coin)))
		for (const { index, message } of tokens.faults) problems.push(source.problem([...at, 'tokens', index], message))
		if (written === null) return base
		const options = withOptions(written, { ...amounts, tokens: tokens.choice }, base)
		const fault = thresholdFault(options, coin)
		const key = (['balance_below', 'balance_above', 'kinds'] as const).find((one) => valueAt(value, one) !== undefined)
		if (fault !== null && key !== undefined) problems.push(source.problem([...at, key], fault))
		return options
	}
	const shared = optionsOf('data' in head ? head.data : null, source.value, [], usual)
	const sharedAny = valueAt(source.value, 'receivers') !== undefined
	const silences = 'data' in head ? head.data.silences : []
	const table = gathered.begin(network ?? '', basename(path))
	const collected = collectWatches({
		network: network ?? '',
		watchlist: basename(path),
		silences,
		source,
		table,
		problems,
	})

	const addFiles = async (names: readonly string[], at: readonly PropertyKey[], options: Options) => {
		for (const [index, name] of names.entries()) {
			const fault = (message: string) => problems.push(source.problem([...at, 'addresses_from', index], message))
			const file = resolve(dirname(path), name)
			if (collected.hasFile(file)) fault(`the file ${quoted(name)} stands already in this watchlist`)
			else await collected.addFile(file, await addressFile(file), options, slices)
		}
	}
	const nobody = (at: readonly PropertyKey[]) => {
		const message = 'nobody is told of this watch: name `receivers` here, or for the whole watchlist'
		problems.push(source.problem(at, message))
	}

	for (const [index, entry] of listAt(source.value, 'watches').entries()) {
		if (slices.isOver()) await slices.next()
		if (problems.length >= mostProblems) break
		const at = ['watches', index]
		if (valueAt(entry, 'receivers') === undefined && !sharedAny) nobody(at)
		if (valueAt(entry, 'addresses_from') === undefined) {
			const checked = check(source, watchSchema, entry, at)
			const options = optionsOf('data' in checked ? checked.data : null, entry, at, shared)
			if ('data' in checked) collected.addEntry(index, checked.data, options)
			else {
				problems.push(...checked.problems)
				// Another mistake in the entry does not hide that its address stands twice.
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
	if (files.length > 0 && !sharedAny) nobody(['addresses_from'])
	await addFiles(files, [], shared)
	if (valueAt(source.value, 'watches') === undefined && valueAt(source.value, 'addresses_from') === undefined)
		problems.push(source.problem(['watches'], '`watches` is missing'))
	gathered.end(collected.rules())
	return inOrder(problems)
}

/** Null where it cannot be known which they are. */
function noTokensOf({ tokens }: Coin): KnownTokens | null {
	return tokens === null ? null : noTokens
}

function receiverProblems(
	source: Source,
	{ receivers: known }: Names,
	value: unknown,
	at: readonly PropertyKey[],
): readonly Problem[] {
	if (known === null) return []
	return listAt(value, 'receivers').flatMap((name, index) =>
		typeof name !== 'string' || known.includes(name)
			? []
			: [source.problem([...at, 'receivers', index], unknownName('receiver', name, known))],
	)
}

/** An amount in wei, at least 1; what is not a text the schema reports, and without a coin nothing can be said. */
function readAmount(
	key: string,
	value: unknown,
	coin: Coin | null,
): { readonly wei: bigint | null } | { readonly message: string } {
	if (typeof value !== 'string' || coin === null) return { wei: null }
	try {
		const wei = parseAmount(value, coin.decimals, coin.symbol)
		return { wei: wei > 1n ? wei : 1n }
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		return { message: `\`${key}\`: ${error.message}` }
	}
}

/** Why thresholds that are set would never be told; null when they would be. */
function thresholdFault({ thresholds, kinds }: Options, coin: Coin | null): string | null {
	if (thresholds === undefined) return null
	const { belowWei, aboveWei } = thresholds
	if (belowWei !== null && aboveWei !== null && belowWei > aboveWei)
		return '`balance_below` is more than `balance_above`: no balance would be right'
	if (!kinds.includes('balance')) return '`kinds` leaves out balance, so that the thresholds would be told to nobody'
	if (coin?.keepsBooks === false)
		return 'this network keeps no books (`proof: off` or `private`), so that its balances are not known'
	return null
}

function unknownName(what: 'network' | 'receiver', name: string, known: readonly string[]): string {
	const near = suggestion(name, known)
	const all = known.length > 10 ? `${known.slice(0, 10).join(', ')} …` : known.join(', ')
	return `no ${what} ${quoted(name)} is in the settings${near === '' ? `, which have ${all}` : near}`
}

function textAt(value: unknown, key: string): string | null {
	const found = valueAt(value, key)
	return typeof found === 'string' ? found : null
}

function listAt(value: unknown, key: string): readonly unknown[] {
	const found = valueAt(value, key)
	return Array.isArray(found) ? found : []
}
