/** Compares two readings of logs; in time slices, because an attacker can fill a block with thousands of logs. */

import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import { byTransactionPlace } from '../../../core/events/eventsByTransaction.js'
import type { BlockRef } from '../../../model/chain.js'
import type { ControlChanged } from '../../../model/kind.js'
import type { KnownTokens, TokenEvent } from '../../../model/token.js'
import { unsettled } from '../../wire/wire.js'
import type { WholeBlock } from './wholeBlocks.js'
import { isSame, type Log } from './wireLogs.js'

/** Numbers of the blocks in which one endpoint has a log that the other lacks or gives differently. */
export async function blocksThatDiffer(one: readonly Log[], other: readonly Log[]): Promise<ReadonlySet<bigint>> {
	const keyOf = ({ block, txHash, index, address, topics: words, data }: Log) =>
		[block.hash, txHash, index, address, ...words, data].join(':')
	const extra = [...(await onlyIn(one, other, keyOf)), ...(await onlyIn(other, one, keyOf))]
	return new Set(extra.map(({ block }) => block.number))
}

interface Whole {
	/** Blocks whose receipts were read. */
	readonly blocks: readonly WholeBlock[]
	/** Their events of the addresses and contracts that the logs were asked for. */
	readonly events: readonly (TokenEvent | ControlChanged)[]
}

/** Events in whole blocks that the endpoint left out by topics. Throws `unsettled` for a log that the blocks lack. */
export async function leftOut(
	{ blocks, events }: Whole,
	/** May include logs of blocks that were not read whole. */
	found: readonly Log[],
	{ known, endpoint }: { readonly known: KnownTokens; readonly endpoint: string },
): Promise<readonly (TokenEvent | ControlChanged)[]> {
	const txs = new Map(blocks.flatMap(({ txs: own }) => own.map((tx) => [tx.txHash, tx.logs] as const)))
	const numbers = new Set(blocks.map(({ number }) => number))
	const places = new Set<string>()
	for (const log of found) {
		if (isSliceOver()) await nextSlice()
		const { block, txHash, index } = log
		// Celo writes logs that belong to a block itself, with the block's hash in place of a transaction's.
		if (!numbers.has(block.number) || txHash === block.hash) continue
		const logs = txs.get(txHash)
		const there = logs?.[Number(index - (logs[0]?.index ?? 0n))]
		if (there === undefined || there.block.hash !== block.hash || !isSame(log, there)) {
			const reading = { endpoint, method: 'eth_getLogs' }
			throw unsettled(reading, `the receipts of block ${block.number} lack log ${index}, which the endpoint returned`)
		}
		places.add(placeOf(log))
	}
	const missed: (TokenEvent | ControlChanged)[] = []
	for (const event of events) {
		if (isSliceOver()) await nextSlice()
		const isToken = event.kind === 'token'
		const index = isToken ? Number(event.trace.split('_')[1]) : event.logIndex
		const log = txs.get(event.txHash ?? '0x')?.[index ?? -1]
		if (log !== undefined && (!isToken || isFoundByTopics(log, known)) && !places.has(placeOf(log))) missed.push(event)
	}
	return missed
}

function placeOf({ txHash, index }: Log): string {
	return `${txHash}:${index}`
}

/** Topics cannot find logs without indexed parties; for tokens without decimals, all such logs are asked for. */
function isFoundByTopics({ address, topics }: Log, known: KnownTokens): boolean {
	return topics.length > 1 || known.get(address)?.decimals === null
}

async function onlyIn<T>(one: readonly T[], other: readonly T[], keyOf: (item: T) => string): Promise<readonly T[]> {
	if (one.length === 0) return []
	const known = new Set<string>()
	for (const item of other) {
		if (isSliceOver()) await nextSlice()
		known.add(keyOf(item))
	}
	const extra: T[] = []
	for (const item of one) {
		if (isSliceOver()) await nextSlice()
		if (!known.has(keyOf(item))) extra.push(item)
	}
	return extra
}

/** Merges two lists that are each in the order of the chain. */
export async function merged<T extends { readonly block: BlockRef; readonly txIndex: number | null }>(
	one: readonly T[],
	other: readonly T[],
): Promise<readonly T[]> {
	const all: T[] = []
	let next = 0
	for (const item of one) {
		if (isSliceOver()) await nextSlice()
		for (
			let before = other[next];
			before !== undefined && byTransactionPlace(before, item) < 0;
			before = other[++next]
		) {
			all.push(before)
		}
		all.push(item)
	}
	for (; next < other.length; next++) all.push(other[next] as T)
	return all
}
