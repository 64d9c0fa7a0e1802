import { numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import { askAll, headerCalls, readHeaders } from '../blocks/batchedCalls.js'
import type { Hit } from '../blocks/receipts.js'
import { createEnteredNotes } from '../traces/entered.js'
import { type Header, hexOf, type Reading, unsettled } from '../wire/wire.js'
import { type AskOne, mayAskAlone, refused, type Uncovered } from './askAlone.js'
import { type Asked, scanBlock } from './scanBlock.js'
import { completeSpan, type ScannedSpan } from './scannedSpan.js'
import type { ReadRequest, Source, SourceOptions } from './source.js'

/**
 * `trace_block`: every frame of every block, matched here. The answer proves itself: each transaction of the header's
 * list has its root, all rows carry the header's hash, and every tree is whole. Blocks are asked for by number, because
 * some providers answer a hash with the reward alone (docs/nodes.md, "Providers").
 */
export function traceBlockSource(options: SourceOptions): Source {
	return {
		name: 'trace_block',
		async read(request, signal) {
			const { rpc } = request
			const reading: Reading = {
				endpoint: rpc.endpoint,
				method: 'trace_block',
				calls: request.addresses.calls,
				...(options.onUnknown && { onUnknown: options.onUnknown }),
				...(options.onForeign && { onForeign: options.onForeign }),
			}
			const scanned = await scanSpan(request, options, reading, signal)
			return completeSpan(scanned, request, { tracing: 'trace', options, reading }, signal)
		},
	}
}

/** A function of its own, so that the rows are freed on return and not held while receipts are awaited. */
async function scanSpan(
	{ rpc, span, addresses, last }: ReadRequest,
	{ mayLack = false }: SourceOptions,
	reading: Reading,
	signal: AbortSignal,
): Promise<ScannedSpan> {
	const numbers = [...numbersOf(span)]
	const forHeaders = headerCalls(numbers, last)
	const forTraces = numbers.map((number) => ({
		method: 'trace_block',
		params: [hexOf(number)],
		calls: addresses.calls,
	}))
	// Rewards belong to no transaction, so a block that may pay one must be read whole.
	const isAlone = (error: unknown) => numbers.length === 1 && error instanceof RpcError && mayAskAlone(error, mayLack)
	const answers = await askAll(rpc, [...forHeaders, ...forTraces], signal).catch(async (error: unknown) => {
		if (!isAlone(error)) throw error
		return [...(await askAll(rpc, forHeaders, signal)), error]
	})
	const headers = readHeaders(answers.slice(0, forHeaders.length), numbers, last, rpc.endpoint)
	const hits: Hit[] = []
	const entered = createEnteredNotes(addresses)
	const asked = { addresses, entered }
	let rows = 0
	const uncovered: Uncovered[] = []
	for (const [index, block] of headers.entries()) {
		const answer = answers[forHeaders.length + index]
		const traced = await rpc.progress
			.during(async () => {
				if (answer instanceof RpcError) throw answer
				return scanBlock(answer, block, asked, reading)
			})
			.catch((error: unknown) => {
				if (!isAlone(error) || mayPayRewards(block) || block.txHashes.length === 0) throw error
				return { hits: [], rows: 0, hasForeign: false, ...refused(block, error as RpcError) }
			})
		hits.push(...traced.hits)
		rows += traced.rows
		if (traced.missing.size > 0 || traced.hasForeign) uncovered.push({ ...traced, block })
	}
	const askOne = askTransaction(asked, reading)
	return { headers, hits, rows, uncovered, askOne, touched: entered.all }
}

/** By `trace_transaction`. */
export function askTransaction(asked: Asked, reading: Reading): AskOne {
	const own = { ...reading, method: 'trace_transaction' }
	return {
		callFor: (txHash) => ({ method: 'trace_transaction', params: [txHash], calls: reading.calls }),
		async read(raw, txHash, block) {
			const only = { ...block, txHashes: [txHash] }
			const { hits, missing, hasForeign } = await scanBlock(raw, only, asked, own)
			const why = missing.get(txHash)
			if (why !== undefined || hasForeign) throw why ?? unsettled(own, `${txHash} has no frames`)
			const [hit = null] = hits
			return hit && { ...hit, block }
		},
	}
}

function mayPayRewards({ difficulty }: Header): boolean {
	return difficulty === null || difficulty > 2n
}
