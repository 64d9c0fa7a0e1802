import { JsonFault } from './jsonFault.js'

/**
 * Counts the memory that a value takes, roughly. `bytes` may be below 0, where some of it is given back. Throws
 * JsonFault `too-large` beyond `mostBytes`.
 */
export function createKept(mostBytes: number): (bytes: number) => void {
	let keptBytes = 0
	return (bytes) => {
		keptBytes += bytes
		if (keptBytes <= mostBytes) return
		const megabytes = Math.round(mostBytes / 1_048_576)
		throw new JsonFault('too-large', `what counts of the answer takes more than ${megabytes} MiB of memory`)
	}
}
