import { createAddressTable } from '../../core/addressTable.js'
import { createNumberColumn, createTextColumn } from '../../core/columns.js'
import type { Address } from '../../model/glossary.js'
import type { Watch, WatchIndex, WatchRules } from '../../model/watch.js'
import { createInterned } from './interned.js'

/**
 * The watches of one network, packed: a hundred bytes each where an object takes three hundred. They are numbered from
 * 0 in the order in which they were added; a Watch is made when it is asked for.
 */
export interface WatchTable {
	/** How many watches. */
	readonly length: number
	readonly index: WatchIndex
	at(number: number): Watch
	/** So many watches are about to be added. */
	reserve(more: number): void
	/** The rules are kept as they are, and distinguished by identity. */
	add(address: Address, label: string | null, rules: WatchRules): void
	/**
	 * The same where no watch of this address has that number or a later one: -1 then. Else nothing is added, and the
	 * number of the last such watch is given.
	 */
	addOnceSince(number: number, address: Address, label: string | null, rules: WatchRules): number
}

/** `seed`: see createAddressTable. */
export function createWatchTable(seed: number): WatchTable {
	const addresses = createAddressTable(seed)
	/** By address: number of its last watch. */
	const last = createNumberColumn()
	/** By watch: its address, the watch of the same address before it + 1, its rules, its label. */
	const [addressOf, before, rulesOf] = [createNumberColumn(), createNumberColumn(), createNumberColumn()]
	const labels = createTextColumn()
	const rules = createInterned<WatchRules>()

	const at = (number: number): Watch => watchOf(addresses.at(addressOf.at(number)), number)
	// Written out: a copy made with `...` takes four times as long.
	function watchOf(address: Address, number: number): Watch {
		const own = rules.at(rulesOf.at(number)) as WatchRules
		const { network, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist } = own
		const label = labels.at(number)
		const watch = { network, address, label, tags, kinds, direction, minValueWei, receivers, fromBlock, watchlist }
		const { silences, tokens, thresholds } = own
		if (silences === undefined && tokens === undefined && thresholds === undefined) return Object.freeze(watch)
		const more = { ...(silences && { silences }), ...(tokens && { tokens }), ...(thresholds && { thresholds }) }
		return Object.freeze({ ...watch, ...more })
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

	/** `found`: of its address. */
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
		rulesOf.push(rules.placeOf(own))
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
		reserve: addresses.reserve,
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
