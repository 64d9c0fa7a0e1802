import type { Address } from '../model/glossary.js'
import type { Coverage } from '../model/watch.js'
import { createAddressTable } from './addressTable.js'
import { createNumberColumn } from './columns.js'

/**
 * From where on each address is watched, packed: nearly all of a million were first seen at the same head, and share
 * what is said.
 */
export interface CoverageTable extends ReadonlyMap<Address, Coverage> {
	set(address: Address, coverage: Coverage): void
	/** With the same content; it goes its own way from here on. */
	copy(): CoverageTable
	/** Each coverage, and the addresses that it is of, in the order in which they were first set. */
	groups(): Iterable<{ readonly coverage: Coverage; readonly size: number; addresses(): Iterable<Address> }>
}

/** Which addresses meet in a slot must not be known to others: see createAddressTable. */
export interface CoverageTableOptions {
	/** About so many addresses will be set. Default: not known. */
	readonly expected?: number
	readonly seed?: number
}

export function createCoverageTable({ seed = 0, expected = 0 }: CoverageTableOptions = {}): CoverageTable {
	const addresses = createAddressTable(seed)
	addresses.reserve(expected)
	return tableOf(addresses, createNumberColumn(), [], [], new Map())
}

function tableOf(
	addresses: ReturnType<typeof createAddressTable>,
	/** By address: its place in `kinds`. */
	kindOf: ReturnType<typeof createNumberColumn>,
	kinds: Coverage[],
	/** By kind: how many addresses it is of. */
	counts: number[],
	places: Map<string, number>,
): CoverageTable {
	/** Most come one after the other with the same words, as one object: what it is called need not be made anew. */
	let last: Coverage | null = null
	let lastPlace = 0

	function placeOf(coverage: Coverage): number {
		if (coverage !== last) {
			last = coverage
			lastPlace = placeByContent(coverage)
		}
		return lastPlace
	}

	function placeByContent(coverage: Coverage): number {
		const { since, from, leftAt, missed } = coverage
		const key = `${since} ${from} ${leftAt} ${missed.map((span) => `${span.from}-${span.to}`).join(' ')}`
		const before = places.get(key)
		if (before !== undefined) return before
		places.set(key, kinds.length)
		counts.push(0)
		return kinds.push(coverage) - 1
	}
	function count(kind: number, more: number): void {
		counts[kind] = (counts[kind] ?? 0) + more
	}
	const coverageAt = (index: number) => kinds[kindOf.at(index)] as Coverage

	const table: CoverageTable = {
		get size() {
			return addresses.size
		},
		has: addresses.has,
		get(address) {
			const index = addresses.indexOf(address)
			return index === -1 ? undefined : coverageAt(index)
		},
		set(address, coverage) {
			const place = placeOf(coverage)
			const index = addresses.add(address)
			count(place, 1)
			if (index === kindOf.length) return kindOf.push(place)
			count(kindOf.at(index), -1)
			kindOf.set(index, place)
		},
		copy: () => tableOf(addresses.copy(), kindOf.copy(), [...kinds], [...counts], new Map(places)),
		*groups() {
			const { size: all } = addresses
			const only = counts.indexOf(all)
			// Mostly: then nobody waits until a million are sorted.
			if (only !== -1 && all > 0) {
				yield { coverage: kinds[only] as Coverage, size: all, addresses: addresses.keys }
				return
			}
			// One pass over all for all groups: there may be as many of these as of those.
			const starts = new Uint32Array(kinds.length)
			for (let kind = 1; kind < kinds.length; kind++) starts[kind] = (starts[kind - 1] ?? 0) + (counts[kind - 1] ?? 0)
			const sorted = new Uint32Array(all)
			const next = starts.slice()
			for (let index = 0; index < all; index++) {
				const kind = kindOf.at(index)
				const place = next[kind] ?? 0
				sorted[place] = index
				next[kind] = place + 1
			}
			for (const [kind, coverage] of kinds.entries()) {
				const [start = 0, size = 0] = [starts[kind], counts[kind]]
				if (size === 0) continue
				const members = sorted.subarray(start, start + size)
				yield {
					coverage,
					size,
					*addresses() {
						for (const index of members) yield addresses.at(index)
					},
				}
			}
		},
		keys: () => addresses.keys() as MapIterator<Address>,
		*entries(): MapIterator<[Address, Coverage]> {
			for (let index = 0; index < addresses.size; index++) yield [addresses.at(index), coverageAt(index)]
			return undefined
		},
		*values(): MapIterator<Coverage> {
			for (let index = 0; index < addresses.size; index++) yield coverageAt(index)
			return undefined
		},
		forEach(act) {
			for (const [address, coverage] of table.entries())
				act(coverage, address, table as unknown as Map<Address, Coverage>)
		},
		[Symbol.iterator]: () => table.entries(),
	}
	return table
}

/** A table with the content of a map; the table itself where it is one. */
export function coverageTableOf(
	covered: ReadonlyMap<Address, Coverage>,
	options?: CoverageTableOptions,
): CoverageTable {
	if ('groups' in covered) return covered as CoverageTable
	const table = createCoverageTable(options)
	for (const [address, coverage] of covered) table.set(address, coverage)
	return table
}
