import { numbersOf } from '../../core/spans.js'
import type { AddressSet, Hash } from '../../model.js'
import { openRows, partiesOf, type RawRow, type Row, readRow } from '../traces.js'
import { type Header, hash, hexOf, malformed, quantity, type Reading, unsettled } from '../wire.js'
import { askAll } from './ask.js'
import { checkTree, groupRows, touches } from './assemble.js'
import { checkCoverage, headerCalls, readHeaders } from './headers.js'
import { type Hit, withReceipts } from './receipts.js'
import type { Source, SourceOptions } from './source.js'

/**
 * `trace_block`: every frame of every block, matched here. The answer proves itself: each transaction of the header's
 * list has its root, and all rows carry the header's hash (dialects: rule 19). Asked by number, because by hash some
 * providers answer with the reward alone (section 4b).
 */
export function traceBlockSource(options: SourceOptions): Source {
	return {
		name: 'trace_block',
		async read({ rpc, span, addresses, last }, signal) {
			const reading: Reading = {
				endpoint: rpc.endpoint,
				method: 'trace_block',
				...(options.onUnknown && { onUnknown: options.onUnknown }),
			}
			const numbers = [...numbersOf(span)]
			const forHeaders = headerCalls(numbers, last)
			const forTraces = numbers.map((number) => ({ method: 'trace_block', params: [hexOf(number)] }))
			const answers = await askAll(rpc, [...forHeaders, ...forTraces], signal)
			const headers = readHeaders(answers.slice(0, forHeaders.length), numbers, last, rpc.endpoint)
			const hits: Hit[] = []
			let rows = 0
			const uncovered: { block: Header; missing: readonly Hash[] }[] = []
			for (const [index, block] of headers.entries()) {
				const traced = readTracedBlock(answers[forHeaders.length + index], block, addresses, reading)
				hits.push(...traced.hits)
				rows += traced.rows
				if (traced.missing.length > 0) uncovered.push({ block, missing: traced.missing })
			}
			await checkCoverage(rpc, uncovered, reading, signal)
			const transactions = await withReceipts(rpc, hits, addresses, signal, !options.isPrivate)
			const blocks = new Map(transactions.map(({ block }) => [block.number, headerOf(headers, block.number)] as const))
			const { parentHash } = headerOf(headers, span.from)
			return { span, last: headerOf(headers, span.to), parentHash, blocks, transactions, rows }
		},
	}
}

export function headerOf(headers: readonly Header[], number: bigint): Header {
	const header = headers.find((block) => block.number === number)
	if (header === undefined) throw new RangeError(`the header of block ${number} was not asked for`)
	return header
}

interface TracedBlock {
	/** Transactions in which a frame touches the addresses, whole; and the rewards, if one does. */
	readonly hits: readonly Hit[]
	/** Transactions of the header that have no root row. */
	readonly missing: readonly Hash[]
	/** How many rows were looked at. */
	readonly rows: number
}

/** Looks at every row, and decodes only those of the transactions that touch the addresses. */
export function readTracedBlock(raw: unknown, block: Header, addresses: AddressSet, reading: Reading): TracedBlock {
	const open = openRows(raw, reading)
	const roots = new Set<Hash>()
	const touched = new Set<Hash | null>()
	const txHashes = open.map((row, index) => {
		checkPlace(row, index, block, reading)
		if (row.type === 'reward') {
			if (touches(partiesOf(row), addresses)) touched.add(null)
			return null
		}
		const txHash = hash(row.raw.transactionHash)
		if (txHash === null) throw malformed(reading, `row ${index} lacks its transaction`)
		const path = row.raw.traceAddress
		if (Array.isArray(path) && path.length === 0) roots.add(txHash)
		const parties = partiesOf(row)
		// What cannot be read must not pass for something that touches nobody.
		const isUnreadable = row.type === 'call' && (parties.from === null || parties.to === null)
		if (isUnreadable || touches(parties, addresses)) touched.add(txHash)
		return txHash
	})
	const rows: Row[] = []
	for (const [index, txHash] of txHashes.entries()) {
		const row = open[index]
		if (row !== undefined && touched.has(txHash)) rows.push(readRow(row, index, reading))
	}
	const groups = groupRows(rows)
	for (const group of groups) if (group.txHash !== null) checkTree(group.rows, group.txHash, block.hash, reading)
	return {
		hits: groups.map((group) => ({ group, block })),
		missing: block.txHashes.filter((txHash) => !roots.has(txHash)),
		rows: open.length,
	}
}

function checkPlace({ raw }: RawRow, index: number, block: Header, reading: Reading): void {
	if (quantity(raw.blockNumber) !== block.number) {
		throw malformed(reading, `row ${index} is of another block than ${block.number}, which was asked for`)
	}
	if (raw.blockHash === block.hash || hash(raw.blockHash) === block.hash) return
	throw unsettled(reading, `row ${index} of block ${block.number} carries another hash than its header`)
}
