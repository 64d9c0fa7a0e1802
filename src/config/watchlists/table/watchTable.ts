/** The room holds watches in memory. This file: those of one network. */

import { createAddressTable } from '../../../core/packed/addressTable.js'
import type { Address } from '../../../model/glossary.js'
import type { Watch, WatchIndex, WatchRules } from '../../../model/watch.js'

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

/** `seed` is passed to `createAddressTable`. */
export function createWatchTable(seed: number): WatchTable {
	const addresses = createAddressTable(seed)
	/** By address: the numbers of its watches; a single one, as most have, without a list. */
	const watchesOf: (number | readonly number[])[] = []
	/** By watch. */
	const addressOf: number[] = []
	const labels: (string | null)[] = []
	const rulesOf: WatchRules[] = []
	const distinct = new Set<WatchRules>()

	const rulesAt = (number: number) => rulesOf[number] as WatchRules
	function numbersAt(place: number): readonly number[] {
		const found = watchesOf[place] ?? []
		return typeof found === 'number' ? [found] : found
	}

	function at(number: number): Watch {
		const address = addresses.at(addressOf[number] ?? 0)
		return Object.freeze({ ...rulesAt(number), address, label: labels[number] ?? null })
	}

	function lowestFromBlock(place: number): bigint | null {
		const blocks = numbersAt(place).flatMap((number) => rulesAt(number).fromBlock ?? [])
		return blocks.reduce<bigint | null>((lowest, one) => (lowest === null || one < lowest ? one : lowest), null)
	}

	const index: WatchIndex = {
		*fromBlocks() {
			for (const place of watchesOf.keys()) yield [addresses.at(place), lowestFromBlock(place)]
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
			for (const place of watchesOf.keys()) yield numbersAt(place).map(at)
			return undefined
		},
		*[Symbol.iterator]() {
			for (const place of watchesOf.keys()) yield [addresses.at(place), numbersAt(place).map(at)]
			return undefined
		},
	}

	return {
		get length() {
			return addressOf.length
		},
		index,
		at,
		addOnceSince(number, address, label, own) {
			const place = addresses.add(address)
			const before = numbersAt(place)
			const last = before.at(-1) ?? -1
			if (last >= number && last !== -1) return last
			watchesOf[place] = last === -1 ? addressOf.length : [...before, addressOf.length]
			addressOf.push(place)
			labels.push(label)
			rulesOf.push(own)
			distinct.add(own)
			return -1
		},
	}
}
