import { createNumberColumn, createTextColumn } from '../../core/columns.js'
import type { Address } from '../../model/glossary.js'

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
	const allTags: (readonly string[])[] = []
	const tagsAt = new Map<readonly string[], number>()
	return {
		get length() {
			return lines.length
		},
		at: (index) => ({
			address: addresses.at(index) as Address,
			label: labels.at(index),
			tags: allTags[tagsOf.at(index)] ?? [],
			line: lines.at(index),
			column: columns.at(index),
		}),
		push({ address, label, tags, line, column }) {
			addresses.push(address)
			labels.push(label)
			let place = tagsAt.get(tags)
			if (place === undefined) {
				place = allTags.push(tags) - 1
				tagsAt.set(tags, place)
			}
			tagsOf.push(place)
			lines.push(line)
			columns.push(column)
		},
	}
}
