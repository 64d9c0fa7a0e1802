import { JsonFault } from './jsonFault.js'

/** Counts the memory that a value takes, roughly. */
export interface MemoryCount {
	/** Negative where memory is freed. Throws JsonFault `too-large` above the limit. */
	add(bytes: number): void
	bytes(): number
}

export function createMemoryCount(mostBytes: number): MemoryCount {
	let keptBytes = 0
	return {
		add(bytes) {
			keptBytes += bytes
			if (keptBytes <= mostBytes) return
			const megabytes = Math.round(mostBytes / 1_048_576)
			throw new JsonFault('too-large', `what counts of the answer takes more than ${megabytes} MiB of memory`)
		},
		bytes: () => keptBytes,
	}
}
