import { numbersOf } from '../../core/spans.js'
import type { Hash } from '../../model/glossary.js'
import { askAll } from '../blocks/batchedCalls.js'
import { headerCalls, readHeaders } from '../blocks/headers.js'
import type { Hit } from '../blocks/receipts.js'
import { createEnteredNotes } from '../traces/entered.js'
import { rowsIn } from '../traces/traceRows.js'
import { type Header, hexOf, type Reading } from '../wire/wire.js'
import { askByTransaction, isTooMuchAtOnce } from './byTransaction.js'
import { scanBlock } from './scanBlock.js'
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
			}
			const scanned = await scanSpan(request, options.withSent, reading, signal)
			return completeSpan(scanned, request, { tracing: 'trace', options, reading }, signal)
		},
	}
}

/**
 * Reads all blocks of a span. It is a function of its own so that the rows are freed on return; the caller would hold
 * them while it waits for receipts.
 */
async function scanSpan(
	request: ReadRequest,
	withSent: boolean | undefined,
	reading: Reading,
	signal: AbortSignal,
): Promise<ScannedSpan> {
	const { rpc, span, addresses, last } = request
	const numbers = [...numbersOf(span)]
	const forHeaders = headerCalls(numbers, last)
	const forTraces = numbers.map((number) => ({
		method: 'trace_block',
		params: [hexOf(number)],
		calls: addresses.calls,
	}))
	const answers = await askAll(rpc, [...forHeaders, ...forTraces], signal).catch(async (error: unknown) => {
		if (numbers.length !== 1 || !isTooMuchAtOnce(error)) throw error
		return inPieces(request, error, signal)
	})
	const headers = readHeaders(answers.slice(0, forHeaders.length), numbers, last, rpc.endpoint)
	const hits: Hit[] = []
	const entered = createEnteredNotes(addresses)
	let rows = 0
	const uncovered: { block: Header; missing: readonly Hash[] }[] = []
	for (const [index, block] of headers.entries()) {
		const answer = answers[forHeaders.length + index]
		const traced = await rpc.progress.during(() => scanBlock(answer, block, { addresses, withSent, entered }, reading))
		hits.push(...traced.hits)
		rows += traced.rows
		if (traced.missing.length > 0) uncovered.push({ block, missing: traced.missing })
	}
	return { headers, hits, rows, uncovered, touched: entered.all() }
}

/**
 * The header, and the rows of one block asked for by transaction. Rewards belong to no transaction, so a block that may
 * pay one must be read whole.
 */
async function inPieces(
	{ rpc, span, last, addresses: { calls } }: ReadRequest,
	error: unknown,
	signal: AbortSignal,
): Promise<readonly unknown[]> {
	const numbers = [span.from]
	const headerAnswers = await askAll(rpc, headerCalls(numbers, last), signal)
	const [block] = readHeaders(headerAnswers, numbers, last, rpc.endpoint)
	if (block === undefined || block.difficulty === null || block.difficulty > 2n) throw error
	const callFor = (txHash: string) => ({ method: 'trace_transaction', params: [txHash], calls })
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
