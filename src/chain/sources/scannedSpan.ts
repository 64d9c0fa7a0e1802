import type { TouchedBlock } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { unknownCosts } from '../blocks/costs.js'
import { checkCoverage } from '../blocks/headers.js'
import { type Hit, withoutReceipts, withReceipts } from '../blocks/receipts.js'
import { payingBlocks } from '../blocks/withdrawals.js'
import type { Header, Reading } from '../wire/wire.js'
import type { ReadRequest, SourceOptions, SourcePart } from './source.js'

/** What a source has read of a span's blocks. */
export interface ScannedSpan {
	readonly headers: readonly Header[]
	readonly hits: readonly Hit[]
	/** Number of rows in the answers. */
	readonly rows: number
	/** See `Part`. */
	readonly touched: readonly TouchedBlock[]
	readonly uncovered: readonly { readonly block: Header; readonly missing: readonly Hash[] }[]
}

interface Completion {
	readonly tracing: 'trace' | 'debug'
	readonly options: SourceOptions
	readonly reading: Reading
}

/** Reads what traces do not say: whether transactions without a trace did nothing, and the receipts of the others. */
export async function completeSpan(
	{ headers, hits, rows, touched, uncovered }: ScannedSpan,
	{ rpc, span, addresses }: ReadRequest,
	{ tracing, options, reading }: Completion,
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
	const known = touched.length > 0 ? { touched } : {}
	return { span, last: headerOf(headers, span.to), parentHash, blocks, transactions, headers, rows, ...known }
}

function headerOf(headers: readonly Header[], number: bigint): Header {
	const header = headers.find((block) => block.number === number)
	if (header === undefined) throw new RangeError(`the header of block ${number} was not asked for`)
	return header
}
