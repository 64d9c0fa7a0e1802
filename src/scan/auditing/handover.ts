import { lengthOf } from '../../core/spans.js'
import type { Block, Part } from '../../model/chain.js'
import type { LookContext } from '../look/look.js'

/** Blocks that the scanner has committed, for the auditor: what moved in them, and for which watches they were read. */
export interface Handover {
	readonly part: Part
	/** Of the scanner's look. Books are kept of its watches only, since the part shows the movements of no others. */
	readonly context: LookContext
}

/** Most blocks and transactions that are held until their movements are committed with the books. */
export const MOST_HELD = { blocks: 256n, transactions: 10_000 }

/** A handover without the logs, which no balance depends on. */
export function handoverOf({ tokens: _, unprovedLogs: __, ...part }: Part, context: LookContext): Handover {
	return { part, context }
}

export function isFull(handed: readonly Handover[], most = MOST_HELD): boolean {
	let [blocks, transactions] = [0n, 0]
	for (const { part } of handed) {
		blocks += lengthOf(part.span)
		transactions += part.transactions.length
	}
	return blocks >= most.blocks || transactions >= most.transactions
}

/** Adjoining handovers as one, which was read for the watches of the last. */
export function merged(handed: readonly [Handover, ...Handover[]]): Handover {
	const [first] = handed
	const last = handed.at(-1) ?? first
	if (first === last) return first
	const parts = handed.map(({ part }) => part)
	const { parentHash } = first.part
	const blocks = new Map<bigint, Block>()
	for (const part of parts) for (const [number, block] of part.blocks) blocks.set(number, block)
	const { endpoint } = last.part
	const part = {
		span: { from: first.part.span.from, to: last.part.span.to },
		last: last.part.last,
		...(endpoint !== undefined && { endpoint }),
		...(parentHash !== undefined && { parentHash }),
		blocks,
		transactions: parts.flatMap(({ transactions }) => transactions),
	}
	return { part, context: last.context }
}
