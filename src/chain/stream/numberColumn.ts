/** Whole numbers from 0 to 2^32 - 1, possibly millions. Beyond the first 65,536, growing copies nothing. */
export interface NumberColumn {
	readonly length: number
	/** 0 beyond its end. */
	at(index: number): number
	push(value: number): void
}

/** Starts small, because a block has a list for each of its transactions. */
const fewest = 16
const runBits = 16
const runLength = 1 << runBits

export function createNumberColumn(): NumberColumn {
	const runs: Uint32Array[] = []
	let last = new Uint32Array(fewest)
	let length = 0

	/** Makes room for one more number: doubles the first run, then adds further runs. */
	function grow(): void {
		if (last.length === runLength) {
			last = new Uint32Array(runLength)
			runs.push(last)
			return
		}
		const larger = new Uint32Array(2 * last.length)
		larger.set(last)
		last = larger
		runs[0] = last
	}

	runs.push(last)
	return {
		get length() {
			return length
		},
		at: (index) => runs[index >>> runBits]?.[index & (runLength - 1)] ?? 0,
		push(value) {
			const place = length & (runLength - 1)
			if (place === last.length || (place === 0 && length > 0)) grow()
			last[place] = value
			length++
		},
	}
}
