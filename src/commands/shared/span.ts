import { UsageError } from '../../errors.js'
import type { Span } from '../../model/chain.js'
import type { CommandArgs } from '../command.js'

/**
 * Reads `--from` and `--to`, both included. `--to latest` is the head, which is passed to the returned function later,
 * so that mistakes in the options are reported before any node is asked. Throws UsageError; so does the returned
 * function.
 */
export function spanOf({ values }: CommandArgs): (head: bigint) => Span {
	const from = numberOf(values.from, '--from')
	const asked = values.to === 'latest' ? null : numberOf(values.to, '--to')
	const ordered = (to: bigint): Span => {
		if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`)
		if (to === 0n) throw new UsageError('block 0 holds no transactions: the first to be read is block 1')
		// The genesis block cannot be traced.
		return { from: from === 0n ? 1n : from, to }
	}
	if (asked !== null) ordered(asked)
	return (head) => {
		const to = asked ?? head
		if (to > head) throw new UsageError(`block ${to} is not there yet: the head is ${head}`)
		return ordered(to)
	}
}

function numberOf(value: unknown, option: string): bigint {
	if (typeof value !== 'string') throw new UsageError(`${option} is missing: a block number`)
	if (!/^(\d{1,18}|0x[0-9a-fA-F]{1,15})$/.test(value))
		throw new UsageError(`${option} takes a block number, not \`${value}\``)
	return BigInt(value)
}
