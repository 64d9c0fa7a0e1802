// A node that no one has seen: it serves a made-up chain with manners drawn by chance from those that nodes are known
// to have (docs/nodes.md), in mixtures that no node has.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Address } from '../../src/model/glossary.js'
import { hex } from './anvil.js'
import { orCut } from './orCut.js'
import { randomOf } from './random.js'
import { baseFee, type StrangeBlock, type StrangeTx } from './strangeChain.js'
import type { StrangeManners } from './strangeManners.js'
import { strangeTraces } from './strangeTraces.js'

/** What it refuses. */
class Refused extends Error {
	readonly code: number

	constructor(code: number, message: string) {
		super(message)
		this.code = code
	}
}

export interface StrangeNode {
	readonly url: string
	/** The chain as it is now, from block 0 on; replaced at will. */
	chain: readonly StrangeBlock[]
	close(): Promise<void>
}

export async function startStrangeNode(
	chainId: number,
	first: readonly StrangeBlock[],
	manners: StrangeManners,
	seed: number,
): Promise<StrangeNode> {
	const random = randomOf(seed)
	const early = new Map<string, number>()
	const { address, rowsOf, allRows, callOf } = strangeTraces(manners)
	const head = () => node.chain.at(manners.headGoesBack && random() < 0.2 ? -2 : -1)
	const unknown = (method: string) => new Refused(-32601, `the method ${method} does not exist/is not available`)

	function blockAt(at: unknown): StrangeBlock | undefined {
		if (typeof at === 'object' && at !== null && 'blockHash' in at) {
			if (manners.balances !== 'hash') throw new Refused(-32602, 'invalid argument 1: cannot unmarshal object')
			return node.chain.find(({ hash }) => hash === at.blockHash)
		}
		if (at === 'latest') return head()
		if (at === 'safe' || at === 'finalized') {
			if (manners.tags === 'refused') throw new Refused(-39001, 'Unknown block error')
			return manners.tags === 'null' ? undefined : node.chain.at(-9)
		}
		if (typeof at !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]*)$/.test(at)) throw new Refused(-32602, 'invalid params')
		return node.chain[Number(at)]
	}

	function headerOf(block: StrangeBlock | undefined): object | null {
		if (block === undefined) return null
		const withdrawals = block.withdrawals.map(({ index, gwei, ...one }) => {
			return { index: hex(index), validatorIndex: '0x1', address: address(one.address), amount: hex(gwei) }
		})
		return {
			...{ number: hex(block.number), hash: block.hash, parentHash: block.parentHash, miner: address(block.miner) },
			...{ timestamp: hex(block.timestampS), difficulty: '0x0', baseFeePerGas: hex(baseFee), withdrawals },
			...{ logsBloom: `0x${'0'.repeat(512)}`, receiptsRoot: block.hash, withdrawalsRoot: block.hash },
			transactions: block.txs.map(({ hash }) => hash),
		}
	}

	function receiptOf(block: StrangeBlock, tx: StrangeTx, at: number): object {
		const price = { gasUsed: hex(tx.gasUsed), effectiveGasPrice: hex(baseFee + tx.tip) }
		const place = { blockHash: block.hash, blockNumber: hex(block.number), transactionIndex: hex(BigInt(at)) }
		const status = tx.root.error === null ? '0x1' : '0x0'
		return { transactionHash: tx.hash, from: address(tx.from), ...place, ...price, status, logs: [], type: '0x0' }
	}

	function ofTx<T>(hash: unknown, tell: (block: StrangeBlock, tx: StrangeTx, at: number) => T): T | null {
		for (const block of node.chain) {
			const at = block.txs.findIndex((tx) => tx.hash === hash)
			const tx = block.txs[at]
			if (tx !== undefined) return tell(block, tx, at)
		}
		return null
	}

	function filtered({ fromBlock, toBlock, ...lists }: Record<string, unknown>): object[] {
		const [from, to] = [Number(fromBlock), Number(toBlock)]
		if (from > to) throw new Refused(-32602, 'invalid parameters: fromBlock cannot be greater than toBlock')
		if (manners.range > 0 && to - from >= manners.range) throw new Refused(-32005, 'Block range limit exceeded.')
		const isBeyond = to >= node.chain.length
		if (isBeyond && manners.beyond === 'refused') throw new Refused(-32001, `block not found: ${toBlock}`)
		if (isBeyond && manners.beyond === 'empty') return []
		const [froms, tos] = [lists.fromAddress, lists.toAddress] as (readonly string[] | undefined)[]
		const isIn = (list: readonly string[] | undefined, one: unknown) =>
			list?.some((asked) => asked.toLowerCase() === String(one).toLowerCase()) ?? false
		return node.chain.slice(from, to + 1).flatMap((block) =>
			allRows(block).filter((row) => {
				const { action, result } = row as { action: Record<string, unknown>; result?: Record<string, unknown> | null }
				const isFrom = isIn(froms, action.from ?? action.address)
				const isTo = isIn(tos, action.to ?? action.refundAddress ?? action.author ?? result?.address)
				if (froms === undefined || tos === undefined) return isFrom || isTo || (froms ?? tos) === undefined
				return manners.both === 'either' ? isFrom || isTo : isFrom && isTo
			}),
		)
	}

	/** Whether the head's traces are not there yet. */
	function isEarly(block: StrangeBlock): boolean {
		if (block !== node.chain.at(-1)) return false
		const asked = (early.get(block.hash) ?? 0) + 1
		early.set(block.hash, asked)
		return asked <= manners.early
	}

	function answer(method: string, params: readonly unknown[]): unknown {
		const [at] = params
		const isDebug = manners.traces === 'debug'
		switch (method) {
			case 'eth_chainId':
				return hex(BigInt(chainId))
			case 'web3_clientVersion':
				return 'Strange/1.0'
			case 'eth_getBlockByNumber':
				return headerOf(blockAt(at))
			case 'eth_getTransactionByHash':
			case 'eth_getTransactionReceipt':
				return ofTx(at, receiptOf)
			case 'eth_getBlockReceipts': {
				if (manners.receipts === 'each') throw unknown(method)
				const block = node.chain.find(({ hash }) => hash === at) ?? blockAt(at)
				return block === undefined ? null : block.txs.map((tx, index) => receiptOf(block, tx, index))
			}
			case 'eth_getBalance': {
				if (manners.balances === 'none') throw new Refused(-32000, 'missing trie node')
				const block = blockAt(params[1])
				if (block === undefined) throw new Refused(-32000, 'header not found')
				return hex(block.balances.get(String(at).toLowerCase() as Address) ?? 0n)
			}
			case 'trace_filter':
				if (manners.traces !== 'filter') throw unknown(method)
				return filtered(at as Record<string, unknown>)
			case 'trace_block': {
				if (isDebug) throw unknown(method)
				const block = blockAt(at)
				if (block === undefined) return null
				if (!isEarly(block)) return allRows(block)
				if (manners.earlyAs === 'nonce') throw new Refused(-32000, 'first run for txIndex 0 error: nonce too high')
				return manners.earlyAs === 'null' ? null : []
			}
			case 'trace_transaction':
				if (isDebug) throw unknown(method)
				return ofTx(at, rowsOf)
			case 'debug_traceBlockByNumber': {
				if (!isDebug) throw unknown(method)
				const { tracer } = params[1] as { tracer: string }
				if (tracer !== manners.tracer) throw new Refused(-32000, 'tracer not found')
				const block = blockAt(at)
				if (block === undefined) throw new Refused(-32000, 'block not found')
				const of = (tx: StrangeTx, index: number) =>
					tracer === 'callTracer' ? callOf(tx.root) : rowsOf(block, tx, index)
				return block.txs.map((tx, index) => ({ ...(manners.hashes && { txHash: tx.hash }), result: of(tx, index) }))
			}
			default:
				throw unknown(method)
		}
	}

	function reply({ id, method, params }: { id: unknown; method: string; params: readonly unknown[] }) {
		try {
			return { jsonrpc: '2.0', id, result: answer(method, params) }
		} catch (error) {
			if (!(error instanceof Refused)) throw error
			return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
		}
	}

	async function answerAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = []
		for await (const chunk of request) chunks.push(chunk)
		const asked = JSON.parse(Buffer.concat(chunks).toString())
		const isBatch = Array.isArray(asked)
		const refusesBatch = isBatch && asked.length > manners.batch
		const noBatch = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch limit exceeded' } }
		const each = isBatch ? asked.map(reply) : [reply(asked)]
		const body = refusesBatch ? noBatch : isBatch ? (manners.reversed ? each.toReversed() : each) : each[0]
		const error = !isBatch && body !== undefined && 'error' in body ? body.error : undefined
		const isOfMethod = error?.code === -32601
		response.statusCode = error !== undefined && manners.refusal === 'status' ? (isOfMethod ? 404 : 400) : 200
		const words = error !== undefined && manners.refusal === 'words' && !isOfMethod
		const text = words ? `message: ${error.message}, trace_id: 1` : JSON.stringify(body)
		if (manners.gzip) response.setHeader('content-encoding', 'gzip').end(gzipSync(text))
		else response.end(text)
	}
	const server = createServer((request, response) => orCut(response, answerAll(request, response)))
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const node: StrangeNode = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/KEY/evm`,
		chain: first,
		async close() {
			server.closeAllConnections()
			await new Promise((resolve) => server.close(resolve))
		},
	}
	return node
}
