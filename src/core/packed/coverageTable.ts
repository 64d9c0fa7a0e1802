import type { Address } from '../../model/glossary.js'
import type { Coverage } from '../../model/watch.js'
import { type AddressTable, createAddressTable } from './addressTable.js'

/** The coverage of each address: a Map of a million takes three times the memory, and a second to copy. */
export interface CoverageTable extends ReadonlyMap<Address, Coverage> {
	set(address: Address, coverage: Coverage): void
	/** A copy; changes of one do not affect the other. */
	copy(): CoverageTable
}

export function createCoverageTable(): CoverageTable {
	// Unpredictable, so that an attacker cannot choose addresses that all collide.
	return tableOf(createAddressTable(Math.floor(Math.random() * 2 ** 32)), [], new Map())
}

/** `coverages`: by the index of the address; `kinds`: by content, because most of a million addresses share one. */
function tableOf(addresses: AddressTable, coverages: Coverage[], kinds: Map<string, Coverage>): CoverageTable {
	/** Consecutive addresses usually come with the same object. */
	let [given, shared]: [Coverage | null, Coverage | null] = [null, null]

	function sharedOf(coverage: Coverage): Coverage {
		if (coverage === given && shared !== null) return shared
		const { since, from, leftAt, missed } = coverage
		const key = [since, from, leftAt, ...missed.map((span) => `${span.from}-${span.to}`)].join(' ')
		given = coverage
		shared = kinds.get(key) ?? coverage
		kinds.set(key, shared)
		return shared
	}

	const table: CoverageTable = {
		get size() {
			return addresses.size
		},
		has: addresses.has,
		get: (address) => coverages[addresses.indexOf(address)],
		set(address, coverage) {
			coverages[addresses.add(address)] = sharedOf(coverage)
		},
		copy: () => tableOf(addresses.copy(), coverages.slice(), new Map(kinds)),
		keys: () => addresses.keys() as MapIterator<Address>,
		values: () => coverages.values() as MapIterator<Coverage>,
		*entries(): MapIterator<[Address, Coverage]> {
			for (const [index, coverage] of coverages.entries()) yield [addresses.at(index), coverage]
			return undefined
		},
		forEach(act) {
			for (const [address, coverage] of table) act(coverage, address, table as unknown as Map<Address, Coverage>)
		},
		[Symbol.iterator]: () => table.entries(),
	}
	return table
}

/** A table with the contents of a map; returns the argument if it is a table. */
export function coverageTableOf(covered: ReadonlyMap<Address, Coverage>): CoverageTable {
	if ('copy' in covered) return covered as CoverageTable
	const table = createCoverageTable()
	for (const [address, coverage] of covered) table.set(address, coverage)
	return table
}
