/** The room packs values of many addresses, a few bytes each; an object per address would take a hundred. */

/** Whole numbers from 0 to 2^32 - 1. */
export interface NumberColumn {
	readonly length: number
	at(index: number): number
	set(index: number, value: number): void
	push(value: number): void
	copy(): NumberColumn
}

export function createNumberColumn(from: Uint32Array = new Uint32Array(16), taken = 0): NumberColumn {
	let [values, length] = [from, taken]
	return {
		get length() {
			return length
		},
		at: (index) => values[index] ?? 0,
		set(index, value) {
			values[index] = value
		},
		push(value) {
			if (length === values.length) {
				const wider = new Uint32Array(2 * values.length)
				wider.set(values)
				values = wider
			}
			values[length++] = value
		},
		copy: () => createNumberColumn(values.slice(), length),
	}
}
