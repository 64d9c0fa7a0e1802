import type { Address } from '../../model/glossary.js'
import type { Coverage } from '../../model/watch.js'
import { createAddressTable } from './addressTable.js'

/**
 * The coverage of each address, packed: most of a million addresses were first seen at the same head and share one
 * value.
 */
export interface CoverageTable extends ReadonlyMap<Address, Coverage> {
	set(address: Address, coverage: Coverage): void
	/** Index of an address, from 0 in the order of insertion; -1: not contained. */
	indexOf(address: Address): number
	addressAt(place: number): Address
	/** A copy; changes of one do not affect the other. */
	copy(): CoverageTable
}

/** `seed` must be unpredictable, so that an attacker cannot choose colliding addresses: see createAddressTable. */
export interface CoverageTableOptions {
	/** Approximate number of addresses. Default: unknown. */
	readonly expected?: number
	readonly seed?: number
}

export function createCoverageTable({ seed = 0, expected = 0 }: CoverageTableOptions = {}): CoverageTable {
	const addresses = createAddressTable(seed)
	addresses.reserve(expected)
	return tableOf(addresses, [], [], new Map())
}

function tableOf(
	addresses: ReturnType<typeof createAddressTable>,
	/** By address index: the index into `kinds`. */
	kindOf: number[],
	kinds: Coverage[],
	places: Map<string, number>,
): CoverageTable {
	/** Consecutive addresses usually share one object; its key need not be computed again. */
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
		return kinds.push(coverage) - 1
	}
	const coverageAt = (index: number) => kinds[kindOf[index] ?? 0] as Coverage

	const table: CoverageTable = {
		get size() {
			return addresses.size
		},
		has: addresses.has,
		indexOf: addresses.indexOf,
		addressAt: addresses.at,
		get(address) {
			const index = addresses.indexOf(address)
			return index === -1 ? undefined : coverageAt(index)
		},
		set(address, coverage) {
			const place = placeOf(coverage)
			kindOf[addresses.add(address)] = place
		},
		copy: () => tableOf(addresses.copy(), kindOf.slice(), [...kinds], new Map(places)),
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

/** A table with the contents of a map; returns the argument if it is a table. */
export function coverageTableOf(
	covered: ReadonlyMap<Address, Coverage>,
	options?: CoverageTableOptions,
): CoverageTable {
	if ('addressAt' in covered) return covered as CoverageTable
	const table = createCoverageTable(options)
	for (const [address, coverage] of covered) table.set(address, coverage)
	return table
}
