import type { TxLogs } from '../../../core/events/tokenLogs.js'
import { cut, groupedBy } from '../../../core/lists.js'
import { refOf } from '../../../core/spans.js'
import { RpcError } from '../../../errors.js'
import type { Log as Logger } from '../../../model/ports.js'
import { askAll } from '../../blocks/batchedCalls.js'
import { receiptCall } from '../../blocks/readReceipts.js'
import type { Rpc } from '../../rpc/rpc.js'
import {
	bloomIn,
	type Header,
	hash,
	hexOf,
	isObject,
	type Json,
	malformed,
	quantity,
	type Reading,
	unsettled,
} from '../../wire/wire.js'
import { bloomOf } from './bloom.js'
import { createReceiptProof, type ReceiptProof } from './receiptProof.js'
import { isSame, type Log, type LogReceipt, readLogReceipt, readLogs } from './wireLogs.js'

export interface WholeBlocks {
	/** Complete and in order: checked against the root of receipts, else bloom and the block's end. Throws RpcError. */
	read(rpc: Rpc, headers: readonly Header[], signal: AbortSignal): Promise<readonly WholeBlock[]>
}

export interface WholeBlock {
	readonly number: bigint
	readonly txs: readonly WholeTx[]
	readonly proof: ReceiptProof
}

interface WholeTx extends TxLogs {
	readonly logs: readonly Log[]
}

/** Blocks in parallel: some hundred kilobytes each. */
const AT_ONCE = 8
/** If more transactions than this follow the last log, every receipt of the block is read. */
const LONGEST_END = 50
/** A refused method is not asked for again for 10 minutes. */
const REFUSED_MS = 10 * 60_000

export function createWholeBlocks({
	chainId,
	isBelieved,
	clock,
	log,
}: {
	readonly chainId: number
	/** Accept logs that fit their header's bloom, although the receipts do not make the root. */
	readonly isBelieved: boolean
	readonly clock: () => number
	readonly log: Logger
}): WholeBlocks {
	const refusedUntilMs = new WeakMap<Rpc, number>()
	const prove = createReceiptProof({ chainId, clock, log })

	async function readOne(rpc: Rpc, block: Header, signal: AbortSignal): Promise<WholeBlock> {
		const { number } = block
		if (block.txHashes.length === 0) return { number, txs: [], proof: 'receipts' }
		let wasCaught = false
		if ((refusedUntilMs.get(rpc) ?? 0) <= clock()) {
			try {
				return await fromReceipts(rpc, block, 'eth_getBlockReceipts', signal)
			} catch (error) {
				if (!(error instanceof RpcError) || !mayFallBack(error)) throw error
				log.debug({ endpoint: rpc.endpoint, error: error.message }, 'receipts of whole blocks are read otherwise')
				// A bloom knows neither amounts nor how often a transfer was made: it is no proof against a caught endpoint.
				if (error.kind === 'malformed' && !isBelieved) {
					return fromReceipts(rpc, block, 'eth_getTransactionReceipt', signal)
				}
				wasCaught = error.kind === 'malformed'
				if (error.kind !== 'timeout' && error.kind !== 'server') refusedUntilMs.set(rpc, clock() + REFUSED_MS)
			}
		}
		const logs = await fromLogs(rpc, block, signal).catch((error: unknown) => {
			if (error instanceof RpcError && mayFallBack(error)) return null
			throw error
		})
		if (logs === null) return fromReceipts(rpc, block, 'eth_getTransactionReceipt', signal)
		return { number, txs: logs, proof: wasCaught ? 'new' : 'bloom' }
	}

	async function fromReceipts(
		rpc: Rpc,
		block: Header,
		method: 'eth_getBlockReceipts' | 'eth_getTransactionReceipt',
		signal: AbortSignal,
	): Promise<WholeBlock> {
		const reading: Reading = { endpoint: rpc.endpoint, method }
		const raw =
			method === 'eth_getBlockReceipts'
				? await completed(rpc, block, await rpc.call(method, [hexOf(block.number)], signal), signal)
				: await askAll(rpc, block.txHashes.map(receiptCall), signal)
		// The node has the header and not yet the receipts.
		if (raw === null) throw unsettled(reading, `it has no receipts of block ${block.number} yet`)
		const receipts = await inOrder(await withLogs(rpc, block, raw, signal), block, reading)
		const proof = await prove(receipts, block, reading)
		const txs = receipts.flatMap(({ txHash, sender, logs }, txIndex) =>
			logs.length === 0 ? [] : [{ txHash, txIndex, block: refOf(block), initiator: sender, logs }],
		)
		return { number: block.number, txs, proof }
	}

	/** Null where they cannot be proved to be complete. */
	async function fromLogs(rpc: Rpc, block: Header, signal: AbortSignal): Promise<readonly WholeTx[] | null> {
		const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getLogs' }
		if (block.logsBloom === null) return null
		const answer = await rpc.call(reading.method, [{ blockHash: block.hash }], signal)
		const logs = await readLogs(answer, reading)
		for (const { block: own } of logs) {
			if (own.hash !== block.hash) throw malformed(reading, `logs of another block came for block ${block.number}`)
		}
		const isWhole = logs.every(({ index }, at) => index === BigInt(at))
		if (!isWhole || block.logsBloom !== (await bloomOf(logs))) return null
		return (await isEnd(rpc, block, logs, signal)) ? groupsOf(logs, block) : null
	}

	/** Whether no log follows these: their indexes show a gap before a log, only receipts show one at the end. */
	async function isEnd(rpc: Rpc, block: Header, logs: readonly Log[], signal: AbortSignal): Promise<boolean> {
		const last = logs.at(-1)
		if (last === undefined) return true
		const end = block.txHashes.slice(Math.max(0, block.txHashes.indexOf(last.txHash)))
		if (end.length > LONGEST_END) return false
		const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
		const answers = await askAll(rpc, end.map(receiptCall), signal)
		const answered: Log[] = []
		for (const raw of answers) for (const one of (await readLogReceipt(raw, reading))?.logs ?? []) answered.push(one)
		const own = logs.filter(({ txHash }) => end.includes(txHash))
		return answered.length === own.length && answered.every((one, at) => own[at] !== undefined && isSame(one, own[at]))
	}

	return {
		async read(rpc, headers, signal) {
			const blocks: WholeBlock[] = []
			for (const some of cut(headers, AT_ONCE))
				blocks.push(...(await Promise.all(some.map((header) => readOne(rpc, header, signal)))))
			return blocks
		},
	}
}

/** With the receipts that a node gives by hash only. One is asked for first: most often they are not there yet. */
async function completed(rpc: Rpc, block: Header, raw: unknown, signal: AbortSignal): Promise<unknown> {
	if (raw !== null && !Array.isArray(raw)) return raw
	const given = ((raw ?? []) as readonly unknown[]).filter((one) => one !== null)
	const named = new Set(given.map((one) => (isObject(one) ? hash(one.transactionHash) : null)))
	const [first, ...others] = block.txHashes.filter((txHash) => !named.has(txHash))
	if (first === undefined) return given
	const one = await rpc.call('eth_getTransactionReceipt', [first], signal)
	if (one === null) return raw
	return [...given, one, ...(await askAll(rpc, others.map(receiptCall), signal))]
}

/** Receipts whose logs cannot be read get those of `eth_getLogs`, if it answers; what they prove is seen afterwards. */
async function withLogs(rpc: Rpc, block: Header, raw: unknown, signal: AbortSignal): Promise<unknown> {
	if (!Array.isArray(raw) || !raw.some((one) => lacksLogs(one, block))) return raw
	const answer = await rpc.call('eth_getLogs', [{ blockHash: block.hash }], signal).catch((error: unknown) => {
		if (error instanceof RpcError && mayFallBack(error)) return null
		throw error
	})
	if (!Array.isArray(answer)) return raw
	const logs = groupedBy(answer.filter(isObject), ({ transactionHash }) => hash(transactionHash))
	return raw.map((one) => (lacksLogs(one, block) ? { ...one, logs: logs.get(hash(one.transactionHash)) ?? [] } : one))
}

/** Without a list of logs that have their places, although no bloom says that there are none. */
function lacksLogs(receipt: unknown, { logsBloom }: Header): receipt is Json {
	if (!isObject(receipt)) return false
	const { logs } = receipt
	if (Array.isArray(logs)) return logs.some((one) => !isObject(one) || quantity(one.logIndex) === null)
	return [logsBloom, bloomIn(receipt)].some((bloom) => bloom === null || BigInt(bloom) > 0n)
}

/** One receipt for each transaction of the header, in its order. */
async function inOrder(raw: unknown, block: Header, reading: Reading): Promise<readonly LogReceipt[]> {
	if (!Array.isArray(raw)) throw malformed(reading, 'the result is not a list')
	const receipts = new Map<string, LogReceipt>()
	for (const one of raw as readonly unknown[]) {
		const receipt = await readLogReceipt(one, reading)
		if (receipt === null) throw unsettled(reading, `a receipt of block ${block.number} is missing`)
		if (receipt.block.hash !== block.hash) {
			throw unsettled(reading, `receipts of block ${block.number} carry another hash than its header`)
		}
		receipts.set(receipt.txHash, receipt)
	}
	return block.txHashes.map((txHash) => {
		const receipt = receipts.get(txHash)
		if (receipt === undefined) throw unsettled(reading, `the receipt of ${txHash} is missing`)
		return receipt
	})
}

/** By transaction; logs of the block itself (Celo) belong to no transaction and are left out. */
function groupsOf(logs: readonly Log[], block: Header): readonly WholeTx[] {
	const groups = groupedBy(logs, ({ txHash }) => txHash)
	return block.txHashes.flatMap((txHash, txIndex) => {
		const own = groups.get(txHash)
		return own === undefined ? [] : [{ txHash, txIndex, block: refOf(block), initiator: null, logs: own }]
	})
}

/** Whether another method may succeed. */
export function mayFallBack({ kind }: RpcError): boolean {
	return ['unsupported', 'bad-params', 'too-large', 'malformed', 'timeout', 'server'].includes(kind)
}
