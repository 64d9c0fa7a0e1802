import { createNumberColumn, createTextColumn } from '../../../core/packed/columns.js'
import type { Address } from '../../../model/glossary.js'
import { createInterned } from '../table/interned.js'

/** One line of an address file. */
export interface AddressRow {
	readonly address: Address
	readonly label: string | null
	readonly tags: readonly string[]
	/** Position of the address in the file. */
	readonly line: number
	readonly column: number
}

/** The lines of an address file in packed columns, since a file may have a million lines. */
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
