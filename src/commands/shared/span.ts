import { UsageError } from '../../errors.js'
import type { Span } from '../../model/chain.js'

/** Of an option. */
export function readBlock(text: string): bigint {
	if (/^(\d{1,18}|0x[0-9a-fA-F]{1,15})$/.test(text)) return BigInt(text)
	throw new RangeError('takes a block number')
}

/** The same; `latest` is the head, which is known later. */
export function readLastBlock(text: string): bigint | 'latest' {
	return text === 'latest' ? text : readBlock(text)
}

/**
 * A span with both ends included. What is wrong with it is a UsageError before any node is asked; what only the head
 * shows, one of the returned function.
 */
export function spanOf(from: bigint, asked: bigint | 'latest'): (head: bigint) => Span {
	const ordered = (to: bigint): Span => {
		if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`)
		if (to === 0n) throw new UsageError('block 0 holds no transactions: the first to be read is block 1')
		// The genesis block cannot be traced.
		return { from: from === 0n ? 1n : from, to }
	}
	if (asked !== 'latest') ordered(asked)
	return (head) => {
		const to = asked === 'latest' ? head : asked
		if (to > head) throw new UsageError(`block ${to} is not there yet: the head is ${head}`)
		return ordered(to)
	}
}
