import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import { mayCount } from '../../core/effective.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { payingBlocks } from '../balances/withdrawals.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { groupRows, isSentBy, type RowGroup, touches } from '../traces/assemble.js'
import { type Row, readRow } from '../traces/parityRows.js'
import { createRowReader } from '../traces/rowReader.js'
import { listOf, rowsIn } from '../traces/rows.js'
import { type Header, hexOf, malformed, type Reading } from '../wire.js'
import { askAll, blockCall, needBlock } from './ask.js'
import { checkChain, type Ends, mayPayBetween, nothingBetween, readBetween } from './between.js'
import { completeHits } from './completeHits.js'
import { unknownCosts } from './costs.js'
import type { Source, SourceOptions, SourcePart } from './source.js'

export interface TraceFilterOptions extends SourceOptions {
	/** Both lists in one question: only for a node that was seen to take them as "either". */
	readonly together?: (rpc: Rpc) => boolean
}

/**
 * `trace_filter`: two questions a span, one for each list, because nodes differ on what two lists in one question mean;
 * only the four fields that every node knows, block numbers as plain hex, never a tag (docs/nodes.md, "What is asked so
 * that it means the same everywhere").
 */
export function traceFilterSource(options: TraceFilterOptions): Source {
	/** `more`: calls whose answers may come with the traces; theirs stand first. */
	async function askList(
		rpc: Rpc,
		span: Span,
		list: readonly Address[],
		more: readonly RpcCall[],
		signal: AbortSignal,
	): Promise<readonly unknown[]> {
		try {
			const together = options.together?.(rpc) ?? false
			return await askAll(rpc, [...more, ...filterCalls(span, list, together)], signal)
		} catch (error) {
			const isTooMuch = error instanceof RpcError && error.kind === 'too-large'
			// With many blocks it may be the blocks; a body refused as such (413) is the list's fault.
			const isTheList = isTooMuch && (span.from === span.to || error.facts.status === 413)
			if (!isTheList || list.length === 1) throw error
			const half = Math.ceil(list.length / 2)
			rpc.limits.list.learn(half)
			const first = await askList(rpc, span, list.slice(0, half), more, signal)
			return [...first, ...(await askList(rpc, span, list.slice(half), [], signal))]
		}
	}

	/** What the rows alone do not say, and what the headers pay. */
	async function complete(
		rpc: Rpc,
		{ ends, hits, addresses }: Filtered,
		signal: AbortSignal,
	): Promise<Pick<SourcePart, 'blocks' | 'transactions' | 'headers'>> {
		const { withdrawals: lists, costs = unknownCosts, withSent } = options
		const { from: first, to: last } = ends
		const atEnds = payingBlocks(lists, [first, last], addresses, rpc.endpoint)
		const spared = new Set(hits.map(({ blockNumber }) => blockNumber))
		const [{ blocks, transactions }, between] = await Promise.all([
			completeHits({ rpc, hits, addresses, last, costs, withSent }, signal),
			lists !== undefined && mayPayBetween(lists, ends)
				? readBetween(rpc, ends, { spared, addresses, lists }, signal)
				: nothingBetween,
		])
		const hitBlocks = [...blocks.values()]
		payingBlocks(lists, hitBlocks, addresses, rpc.endpoint)
		checkChain([first, last, ...hitBlocks, ...between.links], rpc.endpoint)
		const paying = [...atEnds, ...between.paying].map((block) => [block.number, block] as const)
		return {
			headers: [first, last, ...hitBlocks, ...between.headers],
			blocks: new Map([...paying, ...blocks]),
			transactions,
		}
	}

	return {
		name: 'trace_filter',
		async read({ rpc, span, addresses, last: known, isSettled = false }, signal) {
			const reading: Reading = {
				endpoint: rpc.endpoint,
				method: 'trace_filter',
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			// Before the traces, and not in one batch with them, for a node may work on a batch in any order: traces of the
			// old chain would pass for those of the new one. What has settled has no other chain, and saves the wait.
			const early = known ?? (isSettled ? null : await readHeader(rpc, span.to, signal))
			const lists = [...listsOf(addresses, rpc.limits.list.now())]
			// The first is only checked against the part before, so it may come with the traces.
			const ends = [...new Set([...(early === null ? [span.to] : []), ...(span.from === span.to ? [] : [span.from])])]
			const asked = lists.map((list, at) => askList(rpc, span, list, at === 0 ? ends.map(blockCall) : [], signal))
			const results = (await Promise.all(asked)).flat()
			const answers = results.slice(ends.length)
			const headers = ends.map((number, at) => needBlock(results[at], number, rpc.endpoint))
			const last = early ?? (headers[0] as Header)
			const first = headers.find(({ number }) => number === span.from) ?? last
			const { parentHash } = first
			const slices = createTimeSlices(rpc.progress.note)
			const rows: Row[] = []
			let count = 0
			for (const answer of answers) {
				count += rowsIn(answer)?.length ?? 0
				for (const row of await readAnswer(answer, { span, addresses }, slices, reading)) rows.push(row)
			}
			const groups = await groupRows(rows, slices)
			const isHit = ({ frame, traceAddress }: Row) =>
				mayCount(frame) || (options.withSent === true && traceAddress.length === 0 && isSentBy(frame, addresses))
			const hits = groups.filter((group) => group.rows.some(isHit))
			const found = await complete(rpc, { ends: { from: first, to: last }, hits, addresses }, signal)
			return { span, last, parentHash, rows: count, ...found }
		},
	}
}

/** What the filter gave of a span. */
interface Filtered {
	readonly ends: Ends
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
}

async function readHeader(rpc: Rpc, number: bigint, signal: AbortSignal): Promise<Header> {
	const { method, params } = blockCall(number)
	return needBlock(await rpc.call(method, params, signal), number, rpc.endpoint)
}

function* listsOf(addresses: AddressSet, size: number): Generator<readonly Address[]> {
	let list: Address[] = []
	const keys = addresses.keys()
	for (let next = keys.next(); !next.done; next = keys.next()) {
		list.push(next.value)
		if (list.length < size) continue
		yield list
		list = []
	}
	if (list.length > 0) yield list
}

function filterCalls(span: Span, list: readonly Address[], together: boolean): readonly RpcCall[] {
	const range = { fromBlock: hexOf(span.from), toBlock: hexOf(span.to) }
	const filters = together
		? [{ ...range, fromAddress: list, toAddress: list }]
		: [
				{ ...range, fromAddress: list },
				{ ...range, toAddress: list },
			]
	return filters.map((filter) => ({ method: 'trace_filter', params: [filter] }))
}

/** The answer is let go of row by row: it cannot be read again. */
async function readAnswer(
	answer: unknown,
	{ span, addresses }: { readonly span: Span; readonly addresses: AddressSet },
	slices: TimeSlices,
	reading: Reading,
): Promise<readonly Row[]> {
	const rows: Row[] = []
	const list = listOf(answer, reading)
	const { at } = createRowReader(list, readRow, reading)
	for (let index = 0; index < list.length; index++) {
		if (slices.isOver()) await slices.next()
		const row = at(index)
		list.letGo(index)
		if (row.blockNumber < span.from || row.blockNumber > span.to) {
			throw malformed(reading, `row ${index} is of block ${row.blockNumber}, which was not asked for`)
		}
		if (touches(row.frame, addresses)) rows.push(row)
		// Rewards leak into filters, and a failed creation may have been matched by the address it would have had.
		else if (row.frame.type !== 'reward' && row.frame.error === null) {
			throw malformed(reading, `row ${index} touches none of the addresses asked for: the filter was ignored`)
		}
	}
	return rows
}
