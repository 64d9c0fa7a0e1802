/** The room holds watches in memory: those of one network, and the watchlists of all networks. */

import { randomBytes } from 'node:crypto'
import { createAddressTable } from '../../../core/packed/addressTable.js'
import type { Address } from '../../../model/glossary.js'
import type { Watch, WatchIndex, WatchRules, WatchSet } from '../../../model/watch.js'

/**
 * The watches of one network, numbered from 0 in the order in which they were added. `at` creates a new Watch object on
 * each call: a million of them with a Map would take three times the memory.
 */
export interface WatchTable {
	/** The number of watches. */
	readonly length: number
	readonly index: WatchIndex
	at(number: number): Watch
	/**
	 * Adds the watch and returns -1, unless a watch of this address has that number or a later one. In that case adds
	 * nothing and returns the number of the last such watch. Rules are stored by reference.
	 */
	addOnceSince(number: number, address: Address, label: string | null, rules: WatchRules): number
}

/**
 * A long list in pieces of 4,096. An array that grows is copied each time; with a million watches 80 MB of such copies
 * wait for the collector.
 */
function createColumn<Value>() {
	const pieces: Value[][] = []
	return {
		at: (index: number): Value | undefined => pieces[index >> 12]?.[index & 4_095],
		set(index: number, value: Value): void {
			const piece = pieces[index >> 12] ?? []
			pieces[index >> 12] = piece
			piece[index & 4_095] = value
		},
	}
}

/** `seed` is passed to `createAddressTable`. `expected`: addresses for which room is made at once. */
export function createWatchTable(seed: number, expected = 0): WatchTable {
	const addresses = createAddressTable(seed)
	addresses.reserve(expected)
	/** By address: the numbers of its watches; a single one, as most have, without a list. */
	const watchesOf = createColumn<number | readonly number[]>()
	/** By watch. */
	const addressOf = createColumn<number>()
	const labels = createColumn<string | null>()
	const rulesOf = createColumn<WatchRules>()
	let length = 0
	const distinct = new Set<WatchRules>()

	const rulesAt = (number: number) => rulesOf.at(number) as WatchRules
	function numbersAt(place: number): readonly number[] {
		const found = watchesOf.at(place) ?? []
		return typeof found === 'number' ? [found] : found
	}

	function at(number: number): Watch {
		const address = addresses.at(addressOf.at(number) ?? 0)
		return Object.freeze({ ...rulesAt(number), address, label: labels.at(number) ?? null })
	}

	function lowestFromBlock(place: number): bigint | null {
		const blocks = numbersAt(place).flatMap((number) => rulesAt(number).fromBlock ?? [])
		return blocks.reduce<bigint | null>((lowest, one) => (lowest === null || one < lowest ? one : lowest), null)
	}

	const index: WatchIndex = {
		*fromBlocks() {
			for (let place = 0; place < addresses.size; place++) yield [addresses.at(place), lowestFromBlock(place)]
		},
		rules: () => [...distinct],
		get size() {
			return addresses.size
		},
		has: addresses.has,
		keys: () => addresses.keys()[Symbol.iterator]() as MapIterator<Address>,
		get(address) {
			const place = addresses.indexOf(address)
			return place === -1 ? undefined : numbersAt(place).map(at)
		},
		*values() {
			for (let place = 0; place < addresses.size; place++) yield numbersAt(place).map(at)
			return undefined
		},
		*[Symbol.iterator]() {
			for (let place = 0; place < addresses.size; place++) yield [addresses.at(place), numbersAt(place).map(at)]
			return undefined
		},
	}

	return {
		get length() {
			return length
		},
		index,
		at,
		addOnceSince(number, address, label, own) {
			const place = addresses.add(address)
			const before = numbersAt(place)
			const last = before.at(-1) ?? -1
			if (last >= number && last !== -1) return last
			watchesOf.set(place, last === -1 ? length : [...before, length])
			addressOf.set(length, place)
			labels.set(length, label)
			rulesOf.set(length, own)
			length += 1
			distinct.add(own)
			return -1
		},
	}
}

/** Collects the watches of all watchlists, one watchlist after the other. */
export interface WatchSetBuilder {
	/** Begins a watchlist of a network, which ends the one before. Returns the table for its watches. */
	begin(network: string, watchlist: string): WatchTable
	set(): WatchSet
}

/** `expected`: addresses of each network, as far as they can be guessed. */
export function createWatchSet(expected: ReadonlyMap<string, number> = new Map()): WatchSetBuilder {
	const networks = new Map<string, WatchTable>()
	/** In order. Watches of a list are consecutive: from `first` on in the set, from `from` on in their table. */
	const lists: { readonly watchlist: string; readonly table: WatchTable; from: number; first: number }[] = []
	const counted = () => {
		const last = lists.at(-1)
		return last === undefined ? 0 : last.first + last.table.length - last.from
	}

	return {
		begin(network, watchlist) {
			const table = networks.get(network) ?? createWatchTable(randomBytes(4).readUInt32LE(), expected.get(network))
			networks.set(network, table)
			lists.push({ watchlist, table, from: table.length, first: counted() })
			return table
		},
		set() {
			const length = counted()
			const endOf = (list: number) => lists[list + 1]?.first ?? length
			return Object.freeze({
				length,
				lists: Object.freeze(
					lists.map(({ watchlist, first }, list) => Object.freeze({ watchlist, first, length: endOf(list) - first })),
				),
				networks,
				rules: Object.freeze([...networks.values()].flatMap(({ index }) => index.rules?.() ?? [])),
				at(number: number) {
					const place = number < 0 ? length + number : number
					const list = lists.findLast(({ first }) => first <= place)
					return list === undefined || place >= length ? undefined : list.table.at(list.from + place - list.first)
				},
				*[Symbol.iterator]() {
					for (const [list, { table, from, first }] of lists.entries())
						for (let place = first; place < endOf(list); place++) yield table.at(from + place - first)
				},
			})
		},
	}
}
