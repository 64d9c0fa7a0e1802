import { UsageError } from '../errors.js'
import type { Span } from '../model/chain.js'
import type { CommandArgs } from './command.js'

/** `--from` and `--to`, both included, up to the head; `--to latest` is the head. Throws UsageError. */
export function spanOf({ values }: CommandArgs, head: bigint): Span {
	const from = numberOf(values.from, '--from')
	const to = values.to === 'latest' ? head : numberOf(values.to, '--to')
	if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`)
	if (to > head) throw new UsageError(`block ${to} is not there yet: the head is ${head}`)
	// No node traces the genesis block.
	return { from: from === 0n ? 1n : from, to: to === 0n ? 1n : to }
}

function numberOf(value: unknown, option: string): bigint {
	if (typeof value !== 'string') throw new UsageError(`${option} is missing: a block number`)
	if (!/^(\d{1,18}|0x[0-9a-fA-F]{1,15})$/.test(value))
		throw new UsageError(`${option} takes a block number, not \`${value}\``)
	return BigInt(value)
}
