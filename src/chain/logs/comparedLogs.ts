/** What one reading of logs has and another has not; in slices, for a stranger fills a block with thousands of them. */

import type { TimeSlices } from '../../base/timeSlices.js'
import type { BlockRef } from '../../model/chain.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import { unsettled } from '../wire.js'
import type { WholeBlock } from './wholeBlocks.js'
import { isSame, type Log } from './wireLogs.js'

/** Numbers of the blocks in which one endpoint has logs that the other has not, or has otherwise. */
export async function blocksThatDiffer(
	one: readonly Log[],
	other: readonly Log[],
	slices: TimeSlices,
): Promise<ReadonlySet<bigint>> {
	const keyOf = ({ block, txHash, index, address, topics: words, data }: Log) =>
		[block.hash, txHash, index, address, ...words, data].join(':')
	const extra = [...(await onlyIn(one, other, keyOf, slices)), ...(await onlyIn(other, one, keyOf, slices))]
	return new Set(extra.map(({ block }) => block.number))
}

interface Whole {
	/** Blocks whose receipts were read. */
	readonly blocks: readonly WholeBlock[]
	/** What they hold for the addresses that the logs were asked for. */
	readonly events: readonly TokenEvent[]
}

/**
 * Transfers of whole blocks that an endpoint did not find in them when it was asked by topics. Throws `unsettled` where
 * it found a log that the blocks do not have.
 */
export async function leftOut(
	{ blocks, events }: Whole,
	/** In blocks that were not read whole, too. */
	found: readonly Log[],
	{ known, endpoint, slices }: { readonly known: KnownTokens; readonly endpoint: string; readonly slices: TimeSlices },
): Promise<readonly TokenEvent[]> {
	const txs = new Map(blocks.flatMap(({ txs: own }) => own.map((tx) => [tx.txHash, tx.logs] as const)))
	const numbers = new Set(blocks.map(({ number }) => number))
	const places = new Set<string>()
	for (const log of found) {
		if (slices.isOver()) await slices.next()
		const { block, txHash, index } = log
		// Celo logs of blocks themselves, and stands the block's hash in the place of a transaction's.
		if (!numbers.has(block.number) || txHash === block.hash) continue
		const logs = txs.get(txHash)
		const there = logs?.[Number(index - (logs[0]?.index ?? 0n))]
		if (there === undefined || there.block.hash !== block.hash || !isSame(log, there)) {
			const reading = { endpoint, method: 'eth_getLogs' }
			throw unsettled(reading, `the receipts of block ${block.number} lack log ${index}, which it tells`)
		}
		places.add(placeOf(log))
	}
	const missed: TokenEvent[] = []
	for (const event of events) {
		if (slices.isOver()) await slices.next()
		const log = txs.get(event.txHash)?.[Number(event.trace.split('_')[1])]
		if (log !== undefined && isFoundByTopics(log, known) && !places.has(placeOf(log))) missed.push(event)
	}
	return missed
}

function placeOf({ txHash, index }: Log): string {
	return `${txHash}:${index}`
}

/** Where nothing is indexed no topic names the address; of tokens without decimals all such logs are asked for. */
function isFoundByTopics({ address, topics }: Log, known: KnownTokens): boolean {
	return topics.length > 1 || known.get(address)?.decimals === null
}

async function onlyIn<T>(
	one: readonly T[],
	other: readonly T[],
	keyOf: (item: T) => string,
	slices: TimeSlices,
): Promise<readonly T[]> {
	if (one.length === 0) return []
	const known = new Set<string>()
	for (const item of other) {
		if (slices.isOver()) await slices.next()
		known.add(keyOf(item))
	}
	const extra: T[] = []
	for (const item of one) {
		if (slices.isOver()) await slices.next()
		if (!known.has(keyOf(item))) extra.push(item)
	}
	return extra
}

/** Both as one, in the order of the chain, which each is in. */
export async function merged<T extends { readonly block: BlockRef; readonly txIndex: number | null }>(
	one: readonly T[],
	other: readonly T[],
	slices: TimeSlices,
): Promise<readonly T[]> {
	const all: T[] = []
	let next = 0
	for (const item of one) {
		if (slices.isOver()) await slices.next()
		for (let before = other[next]; before !== undefined && byPlace(before, item) < 0; before = other[++next]) {
			all.push(before)
		}
		all.push(item)
	}
	for (; next < other.length; next++) all.push(other[next] as T)
	return all
}

export function byPlace(
	one: { readonly block: BlockRef; readonly txIndex: number | null },
	other: { readonly block: BlockRef; readonly txIndex: number | null },
): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return (one.txIndex ?? 0) - (other.txIndex ?? 0)
}
