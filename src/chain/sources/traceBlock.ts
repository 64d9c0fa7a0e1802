import { numbersOf } from '../../core/spans.js'
import type { Hash } from '../../model/glossary.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { rowsIn } from '../traces/rows.js'
import { type Header, hexOf, type Reading } from '../wire.js'
import { askAll } from './ask.js'
import { askByTransaction, isTooMuchAtOnce } from './byTransaction.js'
import { headerCalls, readHeaders } from './headers.js'
import type { Hit } from './receipts.js'
import { scanBlock } from './scanBlock.js'
import { completeSpan, type ScannedSpan } from './scannedSpan.js'
import type { ReadRequest, Source, SourceOptions } from './source.js'

/**
 * `trace_block`: every frame of every block, matched here. The answer proves itself: each transaction of the header's
 * list has its root, all rows carry the header's hash, and every tree is whole. Asked by number, because by hash some
 * providers answer with the reward alone (docs/nodes.md, "Providers").
 */
export function traceBlockSource(options: SourceOptions): Source {
	return {
		name: 'trace_block',
		async read(request, signal) {
			const { rpc } = request
			const reading: Reading = {
				endpoint: rpc.endpoint,
				method: 'trace_block',
				onWork: rpc.progress.note,
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			const scanned = await scanSpan(request, options.withSent, reading, signal)
			return completeSpan(scanned, request, 'trace', options, reading, signal)
		},
	}
}

/**
 * Looks at all blocks of a span. A function of its own, so that the rows are gone with it: who waits for receipts would
 * keep them all that time.
 */
async function scanSpan(
	{ rpc, span, addresses, last }: ReadRequest,
	withSent: boolean | undefined,
	reading: Reading,
	signal: AbortSignal,
): Promise<ScannedSpan> {
	const numbers = [...numbersOf(span)]
	const forHeaders = headerCalls(numbers, last)
	const forTraces = numbers.map((number) => ({ method: 'trace_block', params: [hexOf(number)] }))
	const answers = await askAll(rpc, [...forHeaders, ...forTraces], signal).catch(async (error: unknown) => {
		if (numbers.length !== 1 || !isTooMuchAtOnce(error)) throw error
		return inPieces(rpc, forHeaders, numbers, last, signal, error)
	})
	const headers = readHeaders(answers.slice(0, forHeaders.length), numbers, last, rpc.endpoint)
	const hits: Hit[] = []
	let rows = 0
	const uncovered: { block: Header; missing: readonly Hash[] }[] = []
	for (const [index, block] of headers.entries()) {
		const traced = await scanBlock(answers[forHeaders.length + index], block, addresses, reading, withSent)
		hits.push(...traced.hits)
		rows += traced.rows
		if (traced.missing.length > 0) uncovered.push({ block, missing: traced.missing })
	}
	return { headers, hits, rows, uncovered }
}

/**
 * The header, and the rows of one block asked for by transaction. Rewards stand in no transaction: where somebody may
 * be paid for the block there is no other way than the whole of it.
 */
async function inPieces(
	rpc: Rpc,
	forHeaders: readonly RpcCall[],
	numbers: readonly bigint[],
	last: Header | null,
	signal: AbortSignal,
	error: unknown,
): Promise<readonly unknown[]> {
	const headerAnswers = await askAll(rpc, forHeaders, signal)
	const [block] = readHeaders(headerAnswers, numbers, last, rpc.endpoint)
	if (block === undefined || block.difficulty === null || block.difficulty > 2n) throw error
	const callFor = (txHash: string) => ({ method: 'trace_transaction', params: [txHash] })
	const lists = await askByTransaction(rpc, block, callFor, signal)
	if (lists.length === 1 && rowsIn(lists[0]) !== null) return [...headerAnswers, lists[0]]
	const all: unknown[] = []
	for (const list of lists) {
		const rows = rowsIn(list)
		if (rows === null) throw error
		for (let index = 0; index < rows.length; index++) all.push(rows.at(index))
	}
	return [...headerAnswers, all]
}
