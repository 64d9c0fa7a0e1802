import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { isBlankEnd, NO_ADDRESS } from '../../core/events/effective.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { askAll, blockCall, needBlock } from '../blocks/batchedCalls.js'
import { checkChain, type Ends, mayPayBetween, nothingBetween, readBetween } from '../blocks/between.js'
import { unknownCosts } from '../blocks/costs.js'
import { payingBlocks } from '../blocks/withdrawals.js'
import type { Rpc, RpcCall } from '../rpc/rpc.js'
import { groupRows, isAskedFor, type RowGroup, touches } from '../traces/assemble.js'
import { createEnteredNotes } from '../traces/entered.js'
import { type Row, readRow } from '../traces/parityRows.js'
import { createRowReader } from '../traces/rowReader.js'
import { listOf, rowsIn } from '../traces/traceRows.js'
import { type Header, hexOf, malformed, type Reading, unsettled } from '../wire/wire.js'
import { completeHits } from './completeHits.js'
import type { Source, SourceOptions, SourcePart } from './source.js'

export interface TraceFilterOptions extends SourceOptions {
	/** Also read self-destructs whose rows name neither heir nor amount, since any address may be the heir. */
	readonly blankEnds?: boolean
}

/**
 * `trace_filter`: two calls per span, one for each list, because nodes differ on what two lists in one call mean, and
 * one URL may lead to several nodes. Only the four fields that every node knows are sent, and block numbers as plain
 * hex, never a tag (docs/nodes.md, "What is asked so that it means the same everywhere").
 */
export function traceFilterSource(options: TraceFilterOptions): Source {
	/** The answers of each request: to `more` first, then the traces. */
	async function askList(
		rpc: Rpc,
		span: Span,
		{ list, calls, more }: Listed & { readonly more: readonly RpcCall[] },
		signal: AbortSignal,
	): Promise<readonly (readonly unknown[])[]> {
		try {
			return [await askAll(rpc, [...more, ...filterCalls(span, { list, calls })], signal)]
		} catch (error) {
			const isTooMuch = error instanceof RpcError && error.kind === 'too-large'
			// With many blocks, the blocks may be too many; a body refused with status 413 is too long because of the list.
			const isTheList = isTooMuch && (span.from === span.to || error.facts.status === 413)
			if (!isTheList || list.length === 1) throw error
			const half = Math.ceil(list.length / 2)
			rpc.limits.list.learn(half)
			const first = await askList(rpc, span, { list: list.slice(0, half), calls, more }, signal)
			return [...first, ...(await askList(rpc, span, { list: list.slice(half), calls, more }, signal))]
		}
	}

	/** Reads what the rows do not say, and the withdrawals in the headers. */
	async function complete(
		rpc: Rpc,
		{ ends, hits, addresses }: Filtered,
		signal: AbortSignal,
	): Promise<Pick<SourcePart, 'blocks' | 'transactions' | 'headers' | 'unread'>> {
		const { withdrawals: lists, costs = unknownCosts, mayLack } = options
		const { from: first, to: last } = ends
		const atEnds = payingBlocks(lists, [first, last], addresses, rpc.endpoint)
		const spared = new Set(hits.map(({ blockNumber }) => blockNumber))
		const [{ blocks, ...completed }, between] = await Promise.all([
			completeHits({ rpc, hits, addresses, last, costs, mayLack }, signal),
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
			...completed,
		}
	}

	return {
		name: 'trace_filter',
		async read({ rpc, span, addresses, last: known, isSettled = false }, signal) {
			const reading: Reading = {
				endpoint: rpc.endpoint,
				method: 'trace_filter',
				calls: addresses.calls,
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			// The last header is read before the traces, and not in one batch with them, because a node may work on a batch
			// in any order: traces of a replaced chain would pass for those of the new one. A settled block has no other
			// chain, so the wait is saved.
			const early = known ?? (isSettled ? null : await readHeader(rpc, span.to, signal))
			const blankEnds = options.blankEnds === true && !addresses.has(NO_ADDRESS)
			const lists = [...listsOf(addresses, blankEnds, rpc.limits.list.now())]
			// Behind one URL another node may answer than before, and one without the last block gives no rows at all. The
			// first header is only checked against the part before.
			const ends = [...new Set([span.to, span.from])]
			const more = ends.map(blockCall)
			const asked = lists.map((list) => askList(rpc, span, { list, calls: addresses.calls, more }, signal))
			const requests = (await Promise.all(asked)).flat()
			const answers = requests.flatMap((answer) => answer.slice(ends.length))
			const headers = requests.flatMap((answer) =>
				ends.map((number, at) => needBlock(answer[at], number, rpc.endpoint)),
			)
			const last = early ?? (headers[0] as Header)
			for (const { number, hash } of headers) {
				if (number !== last.number || hash === last.hash) continue
				throw unsettled(reading, `block ${number} was replaced while it was read`)
			}
			const first = headers.find(({ number }) => number === span.from) ?? last
			const { parentHash } = first
			let count = 0
			const entered = createEnteredNotes(addresses)
			const groups = await rpc.progress.during(async () => {
				const rows: Row[] = []
				for (const answer of answers) {
					count += rowsIn(answer)?.length ?? 0
					for (const row of await readAnswer(answer, { span, addresses, blankEnds }, reading)) {
						entered.note(row.frame, { number: row.blockNumber, hash: row.blockHash }, row.txHash)
						rows.push(row)
					}
				}
				return groupRows(rows)
			})
			const hits = groups.filter(({ rows }) => rows.some(({ frame }) => isAskedFor(frame, addresses)))
			const found = await complete(rpc, { ends: { from: first, to: last }, hits, addresses }, signal)
			const touched = entered.all()
			return { span, last, parentHash, rows: count, ...found, ...(touched.length > 0 && { touched }) }
		},
	}
}

interface Listed extends Pick<AddressSet, 'calls'> {
	readonly list: readonly Address[]
}

interface Filtered {
	readonly ends: Ends
	readonly hits: readonly RowGroup[]
	readonly addresses: AddressSet
}

async function readHeader(rpc: Rpc, number: bigint, signal: AbortSignal): Promise<Header> {
	const { method, params } = blockCall(number)
	return needBlock(await rpc.call(method, params, signal), number, rpc.endpoint)
}

function* listsOf(addresses: AddressSet, blankEnds: boolean, size: number): Generator<readonly Address[]> {
	let list: Address[] = blankEnds ? [NO_ADDRESS] : []
	const keys = addresses.keys()
	for (let next = keys.next(); !next.done; next = keys.next()) {
		list.push(next.value)
		if (list.length < size) continue
		yield list
		list = []
	}
	if (list.length > 0) yield list
}

function filterCalls(span: Span, { list, calls }: Listed): readonly RpcCall[] {
	const range = { fromBlock: hexOf(span.from), toBlock: hexOf(span.to) }
	const filters = [
		{ ...range, fromAddress: list },
		{ ...range, toAddress: list },
	]
	return filters.map((filter) => ({ method: 'trace_filter', params: [filter], calls }))
}

/** Each row of the answer is released once it is read; the answer cannot be read again. */
async function readAnswer(
	answer: unknown,
	{ span, addresses, blankEnds }: { readonly span: Span; readonly addresses: AddressSet; readonly blankEnds: boolean },
	reading: Reading,
): Promise<readonly Row[]> {
	const rows: Row[] = []
	const list = listOf(answer, reading)
	const { at } = createRowReader(list, readRow, reading)
	for (let index = 0; index < list.length; index++) {
		if (isSliceOver()) await nextSlice()
		const row = at(index)
		list.letGo(index)
		if (row.blockNumber < span.from || row.blockNumber > span.to) {
			throw malformed(reading, `row ${index} is of block ${row.blockNumber}, which was not asked for`)
		}
		const { frame } = row
		if (touches(frame, addresses) || (blankEnds && isBlankEnd(frame))) rows.push(row)
		else if (blankEnds && (frame.from === NO_ADDRESS || frame.to === NO_ADDRESS)) continue
		// Filters also give rewards, and failed creations that match by the address they would have had.
		else if (frame.type !== 'reward' && frame.error === null) {
			throw malformed(reading, `row ${index} touches none of the addresses asked for: the filter was ignored`)
		}
	}
	return rows
}
