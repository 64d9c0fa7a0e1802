import type { TouchedBlock } from '../../model/chain.js'
import { unknownCosts } from '../blocks/costs.js'
import { type Hit, withoutReceipts, withReceipts } from '../blocks/receipts.js'
import { payingBlocks } from '../blocks/withdrawals.js'
import { byPlace } from '../traces/assemble.js'
import type { Header, Reading } from '../wire/wire.js'
import { type AskOne, readAlone, type Uncovered } from './askAlone.js'
import type { ReadRequest, SourceOptions, SourcePart } from './source.js'

export interface ScannedSpan {
	readonly headers: readonly Header[]
	readonly hits: readonly Hit[]
	readonly rows: number
	/** See `Part`; to be asked for when all is read. */
	readonly touched: () => readonly TouchedBlock[]
	readonly uncovered: readonly Uncovered[]
	readonly askOne: AskOne
}

interface Completion {
	readonly tracing: 'trace' | 'debug'
	readonly options: SourceOptions
	readonly reading: Reading
}

/** Reads what traces do not say: whether transactions without a trace did nothing, and the receipts of the others. */
export async function completeSpan(
	{ headers, hits: together, rows, touched: allTouched, uncovered, askOne }: ScannedSpan,
	{ rpc, span, addresses }: ReadRequest,
	{ tracing, options, reading }: Completion,
	signal: AbortSignal,
): Promise<SourcePart> {
	const asking = { ...askOne, addresses, mayLack: options.mayLack ?? false, reading }
	const alone = await readAlone(rpc, uncovered, asking, signal)
	const hits = [...together, ...alone.hits]
	const touched = allTouched()
	const question = { addresses, tracing, costs: options.costs ?? unknownCosts } as const
	const found = options.isPrivate ? withoutReceipts(hits) : await withReceipts(rpc, hits, question, signal)
	const transactions = alone.failed.length === 0 ? found : [...found, ...alone.failed].sort(byPlace)
	const paying = payingBlocks(options.withdrawals, headers, addresses, rpc.endpoint)
	const blocks = new Map(
		[...transactions.map(({ block }) => headerOf(headers, block.number)), ...paying].map(
			(block) => [block.number, block] as const,
		),
	)
	const { parentHash } = headerOf(headers, span.from)
	const { unread } = alone
	const known = { ...(touched.length > 0 && { touched }), ...(unread.length > 0 && { unread }) }
	return { span, last: headerOf(headers, span.to), parentHash, blocks, transactions, headers, rows, ...known }
}

function headerOf(headers: readonly Header[], number: bigint): Header {
	const header = headers.find((block) => block.number === number)
	if (header === undefined) throw new RangeError(`the header of block ${number} was not asked for`)
	return header
}
