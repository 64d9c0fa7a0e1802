import { createNumberColumn, createTextColumn } from '../../core/columns.js'
import type { Address } from '../../model/glossary.js'
import { createInterned } from './interned.js'

/** One line of a file of addresses. */
export interface AddressRow {
	readonly address: Address
	readonly label: string | null
	readonly tags: readonly string[]
	/** Where the address stands. */
	readonly line: number
	readonly column: number
}

/** The lines of a file of addresses, packed: a file may have a million. */
export interface AddressRows {
	readonly length: number
	at(index: number): AddressRow
	push(row: AddressRow): void
}

export function createAddressRows(): AddressRows {
	const [addresses, labels] = [createTextColumn(), createTextColumn()]
	const [tagsOf, lines, columns] = [createNumberColumn(), createNumberColumn(), createNumberColumn()]
	const allTags = createInterned<readonly string[]>()
	return {
		get length() {
			return lines.length
		},
		at: (index) => ({
			address: addresses.at(index) as Address,
			label: labels.at(index),
			tags: allTags.at(tagsOf.at(index)) ?? [],
			line: lines.at(index),
			column: columns.at(index),
		}),
		push({ address, label, tags, line, column }) {
			addresses.push(address)
			labels.push(label)
			tagsOf.push(allTags.placeOf(tags))
			lines.push(line)
			columns.push(column)
		},
	}
}
