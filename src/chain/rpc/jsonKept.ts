import { JsonFault } from './jsonFault.js'

/** Counts the memory that a value takes, roughly. */
export interface Kept {
	/** Below 0 where some of it is given back. Throws JsonFault `too-large` beyond the most that is borne. */
	add(bytes: number): void
	bytes(): number
}

export function createKept(mostBytes: number): Kept {
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
