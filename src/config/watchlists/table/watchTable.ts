/** The room holds watches in memory, and stores the last good ones. This file: those of one network. */

import { createAddressTable } from '../../../core/packed/addressTable.js'
import { createNumberColumn, createTextColumn } from '../../../core/packed/columns.js'
import type { Address } from '../../../model/glossary.js'
import type { Watch, WatchIndex, WatchRules } from '../../../model/watch.js'
import { createInterned } from './interned.js'

/**
 * The watches of one network in packed columns: 100 bytes each where an object takes 300. They are numbered from 0 in
 * the order in which they were added; `at` creates a new Watch object on each call.
 */
export interface WatchTable {
	/** The number of watches. */
	readonly length: number
	readonly index: WatchIndex
	at(number: number): Watch
	/** Rules are stored by reference and compared by identity. */
	add(address: Address, label: string | null, rules: WatchRules): void
	/**
	 * Adds the watch and returns -1, unless a watch of this address has that number or a later one. In that case adds
	 * nothing and returns the number of the last such watch.
	 */
	addOnceSince(number: number, address: Address, label: string | null, rules: WatchRules): number
}

/** `seed` is passed to `createAddressTable`. */
export function createWatchTable(seed: number): WatchTable {
	const addresses = createAddressTable(seed)
	/** For each address: the number of its last watch. */
	const last = createNumberColumn()
	/** For each watch: its address, 1 + the number of the previous watch of the same address, its rules, its label. */
	const [addressOf, before, rulesOf] = [createNumberColumn(), createNumberColumn(), createNumberColumn()]
	const labels = createTextColumn()
	const rules = createInterned<WatchRules>()

	/** For each rules: the fields that most watches lack; null: none. */
	const rare: (RareFields | null)[] = []

	const at = (number: number): Watch => watchOf(addresses.at(addressOf.at(number)), number)
	// The usual fields are written out: a copy of all with `...` takes four times as long.
	function watchOf(address: Address, number: number): Watch {
		const place = rulesOf.at(number)
		const own = rules.at(place) as WatchRules
		const { network, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist } = own
		const label = labels.at(number)
		const watch = { network, address, label, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist }
		const more = rare[place] ?? null
		return Object.freeze(more === null ? watch : { ...watch, ...more })
	}

	function listOf(address: Address, index: number): readonly Watch[] {
		const list: Watch[] = []
		for (let next = last.at(index) + 1; next !== 0; next = before.at(next - 1)) list.push(watchOf(address, next - 1))
		return list.length === 1 ? list : list.reverse()
	}

	function lowestFromBlock(index: number): bigint | null {
		let lowest: bigint | null = null
		for (let next = last.at(index) + 1; next !== 0; next = before.at(next - 1)) {
			const { fromBlock } = rules.at(rulesOf.at(next - 1)) as WatchRules
			if (fromBlock !== null && (lowest === null || fromBlock < lowest)) lowest = fromBlock
		}
		return lowest
	}

	/** `found`: the index of its address. */
	function add(found: number, label: string | null, own: WatchRules): void {
		const number = addressOf.length
		if (found === last.length) {
			last.push(number)
			before.push(0)
		} else {
			before.push(last.at(found) + 1)
			last.set(found, number)
		}
		addressOf.push(found)
		const place = rules.placeOf(own)
		rulesOf.push(place)
		if (place === rare.length) rare.push(rareFieldsOf(own))
		labels.push(label)
	}

	const index: WatchIndex = {
		*fromBlocks() {
			for (let found = 0; found < addresses.size; found++) yield [addresses.at(found), lowestFromBlock(found)]
		},
		rules: () => rules.values(),
		get size() {
			return addresses.size
		},
		has: addresses.has,
		keys: () => addresses.keys()[Symbol.iterator]() as MapIterator<Address>,
		get(address) {
			const found = addresses.indexOf(address)
			return found === -1 ? undefined : listOf(address, found)
		},
		*entries(): MapIterator<[Address, readonly Watch[]]> {
			for (let found = 0; found < addresses.size; found++) {
				const address = addresses.at(found)
				yield [address, listOf(address, found)]
			}
			return undefined
		},
		*values(): MapIterator<readonly Watch[]> {
			for (const [, list] of index.entries()) yield list
			return undefined
		},
		forEach(act) {
			for (const [address, list] of index.entries()) act(list, address, index as Map<Address, readonly Watch[]>)
		},
		[Symbol.iterator]: () => index.entries(),
	}

	return {
		get length() {
			return addressOf.length
		},
		index,
		at,
		add(address, label, own) {
			add(addresses.add(address), label, own)
		},
		addOnceSince(number, address, label, own) {
			const found = addresses.add(address)
			const there = found === last.length ? -1 : last.at(found)
			if (there >= number) return there
			add(found, label, own)
			return -1
		},
	}
}

type UsualField = 'network' | 'tags' | 'kinds' | 'direction' | 'minValueWei' | 'receivers' | 'fromBlock' | 'watchlist'
type RareFields = Omit<WatchRules, UsualField>

/** Every field but the usual ones, so that a field that WatchRules gains is kept. */
function rareFieldsOf(own: WatchRules): RareFields | null {
	const { network, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist, ...more } = own
	const set = Object.entries(more).filter(([, value]) => value !== undefined)
	return set.length === 0 ? null : (Object.fromEntries(set) as RareFields)
}
