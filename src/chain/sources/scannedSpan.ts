import type { Hash } from '../../model/glossary.js'
import { payingBlocks } from '../balances/withdrawals.js'
import type { Header, Reading } from '../wire.js'
import { unknownCosts } from './costs.js'
import { checkCoverage } from './headers.js'
import { type Hit, withoutReceipts, withReceipts } from './receipts.js'
import type { ReadRequest, SourceOptions, SourcePart } from './source.js'

/** What was seen of a span's blocks, whoever gave it. */
export interface ScannedSpan {
	readonly headers: readonly Header[]
	readonly hits: readonly Hit[]
	/** How many rows were looked at. */
	readonly rows: number
	readonly uncovered: readonly { readonly block: Header; readonly missing: readonly Hash[] }[]
}

/** Asks what traces cannot say: whether transactions they lack did nothing, and the receipts of those they hold. */
export async function completeSpan(
	{ headers, hits, rows, uncovered }: ScannedSpan,
	{ rpc, span, addresses }: ReadRequest,
	tracing: 'trace' | 'debug',
	options: SourceOptions,
	reading: Reading,
	signal: AbortSignal,
): Promise<SourcePart> {
	await checkCoverage(rpc, uncovered, reading, signal)
	const question = { addresses, tracing, costs: options.costs ?? unknownCosts } as const
	const transactions = options.isPrivate ? withoutReceipts(hits) : await withReceipts(rpc, hits, question, signal)
	const paying = payingBlocks(options.withdrawals, headers, addresses, rpc.endpoint)
	const blocks = new Map(
		[...transactions.map(({ block }) => headerOf(headers, block.number)), ...paying].map(
			(block) => [block.number, block] as const,
		),
	)
	const { parentHash } = headerOf(headers, span.from)
	return { span, last: headerOf(headers, span.to), parentHash, blocks, transactions, headers, rows }
}

function headerOf(headers: readonly Header[], number: bigint): Header {
	const header = headers.find((block) => block.number === number)
	if (header === undefined) throw new RangeError(`the header of block ${number} was not asked for`)
	return header
}
