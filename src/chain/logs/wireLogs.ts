import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import type { TxLog } from '../../core/tokenLogs.js'
import type { BlockRef } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import { address, hash, hexBytes, isObject, type Json, malformed, quantity, type Reading, unsettled } from '../wire.js'

/** A log with its place, as `eth_getLogs` and receipts tell it. */
export interface Log extends TxLog {
	readonly block: BlockRef
	readonly txHash: Hash
	/** Among all logs of its block. */
	readonly index: bigint
}

/** Throws `malformed`; `unsettled` where the node itself says that the log has left the chain. */
function readLog(raw: unknown, reading: Reading): Log {
	if (!isObject(raw)) throw malformed(reading, 'a log is not an object')
	const emitter = address(raw.address)
	const data = raw.data === undefined || raw.data === null ? '0x' : hexBytes(raw.data)
	const topics = Array.isArray(raw.topics) ? raw.topics.map(hash) : null
	const number = quantity(raw.blockNumber)
	const [blockHash, txHash] = [hash(raw.blockHash), hash(raw.transactionHash)]
	const index = quantity(raw.logIndex)
	if (emitter === null || data === null || topics === null || topics.length > 4) {
		throw malformed(reading, 'a log lacks its address, topics or data')
	}
	if (number === null || blockHash === null || txHash === null || index === null) {
		throw malformed(reading, 'a log lacks its block, transaction or place')
	}
	if (raw.removed === true) throw unsettled(reading, `a log of block ${number} was removed`)
	const words: Hash[] = []
	for (const topic of topics) {
		if (topic === null) throw malformed(reading, 'a log has a topic that is no word')
		words.push(topic)
	}
	return { address: emitter, topics: words, data, block: { number, hash: blockHash }, txHash, index }
}

/**
 * The logs of an answer, each once, in the order of their places; a stranger fills a block with a hundred thousand.
 * Throws as `readLog`.
 */
export async function readLogs(raw: unknown, reading: Reading, slices: TimeSlices): Promise<readonly Log[]> {
	if (!Array.isArray(raw)) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	const logs = new Map<string, Log>()
	let last: Log | null = null
	let isInOrder = true
	for (const one of raw as readonly unknown[]) {
		if (slices.isOver()) await slices.next()
		const log = readLog(one, reading)
		isInOrder &&= last === null || byPlace(last, log) < 0
		last = log
		const key = `${log.txHash}:${log.index}`
		const before = logs.get(key)
		if (before !== undefined && !isSame(before, log)) {
			throw malformed(reading, `two different logs have the place ${log.index} in block ${log.block.number}`)
		}
		logs.set(key, log)
	}
	const all = [...logs.values()]
	return isInOrder ? all : all.sort(byPlace)
}

export function isSame(one: Log, other: Log): boolean {
	return (
		one.txHash === other.txHash &&
		one.index === other.index &&
		one.address === other.address &&
		one.data === other.data &&
		one.topics.length === other.topics.length &&
		one.topics.every((topic, at) => topic === other.topics[at])
	)
}

function byPlace(one: Log, other: Log): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return one.index < other.index ? -1 : one.index > other.index ? 1 : 0
}

/** The receipt of a transaction, as far as its logs go. */
export interface LogReceipt {
	readonly txHash: Hash
	readonly block: BlockRef
	readonly sender: Address | null
	/** In order. */
	readonly logs: readonly Log[]
	/** Then it has no logs; false also where it does not say, before Byzantium. */
	readonly failed: boolean
	/** The rest of it. */
	readonly raw: Json
}

/** Null where the transaction is in no block. Throws `malformed`. */
export async function readLogReceipt(
	raw: unknown,
	reading: Reading,
	slices: TimeSlices = createTimeSlices(),
): Promise<LogReceipt | null> {
	if (raw === null) return null
	if (!isObject(raw)) throw malformed(reading, 'a receipt is not an object')
	const [txHash, blockHash, number] = [hash(raw.transactionHash), hash(raw.blockHash), quantity(raw.blockNumber)]
	if (txHash === null || blockHash === null || number === null) {
		throw malformed(reading, 'a receipt lacks its transaction or block')
	}
	const logs = await readLogs(raw.logs, reading, slices)
	for (const [place, log] of logs.entries()) {
		if (slices.isOver()) await slices.next()
		if (log.txHash !== txHash || log.block.hash !== blockHash) {
			throw malformed(reading, `the receipt of ${txHash} holds a log of another transaction or block`)
		}
		if (log.index !== (logs[0]?.index ?? 0n) + BigInt(place)) {
			throw malformed(reading, `the receipt of ${txHash} lacks a log before place ${log.index}`)
		}
	}
	const failed = isFailed(raw)
	if (failed && logs.length > 0) throw malformed(reading, `the receipt of ${txHash}, which failed, holds logs`)
	return { txHash, block: { number, hash: blockHash }, sender: address(raw.from), logs, failed, raw }
}

function isFailed({ root, status }: Json): boolean {
	return hash(root) === null && quantity(status) === 0n
}
