/** Reads the number of blocks that a refusal allows, in the various wordings of nodes and providers. */

/** A whole number, with or without separators for thousands: "10,000", "2K". */
const number = '(\\d+(?:[,_]\\d{3})*)\\s?(k)?(?![\\d_]|,\\d)'

/** Ranges first: where a text has both, the range would work this time. */
const ranges = [
	/\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i,
	// Reth: "query exceeds max results N, retry with the range A-B".
	/with the range (\d+)-(\d+)/i,
]

/** Text before the number; the number must not count results, bytes or requests. */
const phrases: readonly RegExp[] = [
	'maximum is set to ', // requested too many blocks from X to Y, maximum is set to N
	'max(?:imum)? (?:block )?range:? (?:is )?', // Max range: N; maximum block range: N; query exceeds max block range N
	'requested blocks is ', // Maximum allowed number of requested blocks is N
	'limited to (?:an? )?', // currently limited to N blocks; limited to a N range
	'query to at most ', // please limit the query to at most N blocks
	'range greater than ', // block range greater than N max
	'range exceeds ', // block range exceeds N
	'range [\\d,]+ exceeds limit of ', // Infura: range N exceeds limit of N
	'max is ', // eth_getLogs range is too large, max is 10k blocks
	'smaller than size ', // query must be smaller than size N
	'\\(maximum ', // block range is too wide (maximum N)
	'up to an? ', // up to a 2K block range
	'blocks distance: ', // maximum [from, to] blocks distance: N
	'\\([\\d,]+ > ', // exceeds the range allowed for your plan (A > B)
	'ranges? over ', // ranges over N blocks are not supported on freetier
].map(
	(before) => new RegExp(`${before}${number}(?!\\s*(?:logs|results|bytes|requests|addresses|traces|[km]b)\\b)\\b`, 'i'),
)

/** Blocks per request; null when the text names none. */
export function blockLimitIn(text: string): number | null {
	for (const range of ranges) {
		const ends = range.exec(text)
		if (ends?.[1] === undefined || ends[2] === undefined) continue
		const blocks = Number(BigInt(ends[2]) - BigInt(ends[1])) + 1
		if (blocks >= 1) return blocks
	}
	for (const phrase of phrases) {
		const found = phrase.exec(text)
		if (found?.[1] === undefined) continue
		const blocks = Number(found[1].replaceAll(/[,_]/g, '')) * (found[2] === undefined ? 1 : 1_000)
		if (Number.isSafeInteger(blocks) && blocks >= 1) return blocks
	}
	return null
}
