import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { TxLog } from '../../../core/events/tokenLogs.js'
import type { BlockRef } from '../../../model/chain.js'
import type { Address, Hash } from '../../../model/glossary.js'
import {
	address,
	bloomIn,
	hash,
	hexBytes,
	isObject,
	type Json,
	malformed,
	quantity,
	type Reading,
	unsettled,
} from '../../wire/wire.js'

/** A log with its place, as `eth_getLogs` and receipts give it. */
export interface Log extends TxLog {
	readonly block: BlockRef
	readonly txHash: Hash
	/** Among all logs of its block. */
	readonly index: bigint
}

/** Throws `malformed`; `unsettled` if the node marks the log as removed from the chain. */
function readLog(raw: unknown, reading: Reading): Log {
	if (!isObject(raw)) throw malformed(reading, 'a log is not an object')
	const emitter = address(raw.address)
	const data = raw.data === undefined || raw.data === null ? '0x' : hexBytes(raw.data)
	const topics = Array.isArray(raw.topics) ? raw.topics.map(hash) : raw.topics === null ? [] : null
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

/** The logs of an answer, each once, by place; in slices: there may be a hundred thousand. Throws as `readLog`. */
export async function readLogs(raw: unknown, reading: Reading): Promise<readonly Log[]> {
	if (!Array.isArray(raw)) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	const logs = new Map<string, Log>()
	let last: Log | null = null
	let isInOrder = true
	for (const one of raw as readonly unknown[]) {
		if (isSliceOver()) await nextSlice()
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

/** The receipt of a transaction, read as far as logs need it. */
export interface LogReceipt {
	readonly txHash: Hash
	readonly block: BlockRef
	readonly sender: Address | null
	/** In order. */
	readonly logs: readonly Log[]
	readonly raw: Json
}

/** Null where the transaction is in no block. Throws `malformed`. */
export async function readLogReceipt(raw: unknown, reading: Reading): Promise<LogReceipt | null> {
	if (raw === null) return null
	if (!isObject(raw)) throw malformed(reading, 'a receipt is not an object')
	const [txHash, blockHash, number] = [hash(raw.transactionHash), hash(raw.blockHash), quantity(raw.blockNumber)]
	if (txHash === null || blockHash === null || number === null) {
		throw malformed(reading, 'a receipt lacks its transaction or block')
	}
	const logs = await readLogs(raw.logs ?? emptyLogs(raw), reading)
	for (const [place, log] of logs.entries()) {
		if (isSliceOver()) await nextSlice()
		if (log.txHash !== txHash || log.block.hash !== blockHash) {
			throw malformed(reading, `the receipt of ${txHash} holds a log of another transaction or block`)
		}
		if (log.index !== (logs[0]?.index ?? 0n) + BigInt(place)) {
			throw malformed(reading, `the receipt of ${txHash} lacks a log before place ${log.index}`)
		}
	}
	return { txHash, block: { number, hash: blockHash }, sender: address(raw.from), logs, raw }
}

/** `null` is an empty list where the bloom of the receipt names no log; the header is compared afterwards. */
function emptyLogs(raw: Json): readonly unknown[] | null {
	const bloom = bloomIn(raw)
	return bloom === null || BigInt(bloom) === 0n ? [] : null
}
