import { createTimeSlices } from '../../base/timeSlices.js'
import { mostProvedOf } from '../../core/cost.js'
import { isNativeCoin } from '../../core/nativeTokens.js'
import { lengthOf, numbersOf } from '../../core/spans.js'
import type { TxLogs } from '../../core/tokenLogs.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Block, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Log as Logger } from '../../model/ports.js'
import type { KnownTokens, TokenEvent, UnprovedBlock } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll, blockCall, needBlock } from '../sources/ask.js'
import { checkChain } from '../sources/between.js'
import type { Header } from '../wire.js'
import { blocksThatDiffer, byPlace, leftOut, merged } from './comparedLogs.js'
import { createDoubts, sample } from './doubts.js'
import { eventsIn, eventsOf } from './eventsIn.js'
import { readHitReceipts } from './hitReceipts.js'
import { withInitiators } from './initiators.js'
import { createLogProofs, type LogProofs } from './logProofs.js'
import { readLogSpan } from './logSpans.js'
import { isRootKnown } from './rootChains.js'
import { type AskAnother, createSecondWitness } from './secondWitness.js'
import { createWholeBlocks, mayFallBack, type WholeBlock } from './wholeBlocks.js'
import type { Log } from './wireLogs.js'

export interface TokenQuestion {
	readonly span: Span
	/** At least one. */
	readonly addresses: AddressSet
	/** Of the span, as the same endpoint has given them already; the last is among them. */
	readonly headers: readonly Header[]
	/** Asks another endpoint; null where there is none that answers in time. Absent: there is none. */
	readonly askAnother?: AskAnother
	/** The blocks were read before, and proved as well as could be: nothing is proved or counted again. */
	readonly isAgain?: boolean
}

export interface TokenPart {
	/** By block, index and log. */
	readonly tokens: readonly TokenEvent[]
	/** Headers of the blocks that they stand in. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** Blocks in which nothing proves that no log is missing, in order. */
	readonly unproved: readonly UnprovedBlock[]
}

/** What was read of blocks, and what proves that it is all. */
interface ReadLogs {
	readonly tokens: readonly TokenEvent[]
	readonly proofs: LogProofs
	readonly unproved: readonly UnprovedBlock[]
}

export interface TokenReader {
	/** All token transfers of the addresses in a span, from one endpoint. Throws RpcError where anything is in doubt. */
	read(rpc: Rpc, question: TokenQuestion, signal: AbortSignal): Promise<TokenPart>
	/** Of one transaction; every token, whoever it concerns. */
	eventsOf(tx: TxLogs): Promise<readonly TokenEvent[]>
}

export interface TokenReaderOptions {
	readonly chainId: number
	readonly known: KnownTokens
	readonly wanted?: () => ReadonlySet<Address> | null
	/** Whole blocks only: no question names an address or a transaction. */
	readonly isPrivate: boolean
	readonly clock: () => number
	readonly log: Logger
	/**
	 * Of the blocks of one part whose header does not rule out one more log, so many are read whole. Default: all, or a
	 * share where a second endpoint tells the same.
	 */
	readonly mostProved?: number | null
	readonly onProofs?: (proofs: LogProofs) => void
	readonly random?: () => number
}

/** As few blocks are read whole: near the head an answer should prove itself. */
const WHOLE_SPAN = 3n
/** With more addresses the questions are many, and nearly every bloom may hold one of them. */
const MOST_ASKED = 3_000

export function createTokenReader(options: TokenReaderOptions): TokenReader {
	const { chainId, known, isPrivate, clock, log, mostProved = null, random = Math.random } = options
	const { wanted = () => null } = options
	const doubtsOf = createDoubts<Rpc>(isRootKnown(chainId))
	const noteProofs = createLogProofs(options)
	const decoding = { chainId, known }
	const isWitnessed = createSecondWitness(decoding)
	const whole = createWholeBlocks({ chainId, isBelieved: mostProved === 0, clock, log })

	async function headersOf(
		rpc: Rpc,
		{ span, headers }: TokenQuestion,
		signal: AbortSignal,
	): Promise<readonly Header[]> {
		const numbers = [...numbersOf(span)]
		const found = new Map(headers.map((header) => [header.number, header]))
		const lacking = numbers.filter((number) => !found.has(number))
		const answers = await askAll(rpc, lacking.map(blockCall), signal)
		for (const [at, number] of lacking.entries()) found.set(number, needBlock(answers[at], number, rpc.endpoint))
		const all = numbers.flatMap((number) => found.get(number) ?? [])
		checkChain(all, rpc.endpoint)
		return all
	}

	async function readWhole(rpc: Rpc, headers: readonly Header[], addresses: AddressSet, signal: AbortSignal) {
		const blocks = await whole.read(rpc, headers, signal)
		const txs = blocks.flatMap((block) => block.txs)
		const found = await eventsIn(txs, addresses, decoding)
		return { blocks, tokens: isPrivate ? found : await withInitiators(rpc, found, signal) }
	}

	async function readBlockwise(
		rpc: Rpc,
		headers: readonly Header[],
		question: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const { blocks, tokens } = await readWhole(rpc, headers, question.addresses, signal)
		const open = blocks.filter(isOpen)
		// A new encoding is what a second endpoint is asked about; a chain that proves nothing is as it always was.
		const fresh = new Set(open.flatMap(({ number, proof }) => (proof === 'new' ? [number] : [])))
		const asked = headers.filter(({ number }) => fresh.has(number))
		const isSeen =
			asked.length > 0 && !question.isAgain && !isPrivate && (await isWitnessed(rpc, asked, tokens, question))
		const left = isSeen ? open.filter(({ number }) => !fresh.has(number)) : open
		return {
			tokens,
			proofs: { ...proofsOf(blocks), witness: open.length - left.length, none: left.length },
			unproved: left.map(({ number }) => ({ number, why: 'receipts' })),
		}
	}

	/**
	 * By topics: each block of which the header does not rule out one more log is read whole, and each hit of another is
	 * checked against its receipt.
	 */
	async function readByTopics(
		rpc: Rpc,
		headers: readonly Header[],
		question: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const { span, addresses, askAnother, isAgain } = question
		const found = await readLogSpan(rpc, { span, addresses, known }, signal)
		const slices = createTimeSlices()
		const doubtful = isAgain ? [] : doubtsOf(rpc, found, headers, { addresses, known, wanted: wanted() })
		const witness = async (other: Rpc, limited: AbortSignal) => readLogSpan(other, { span, addresses, known }, limited)
		const seen = doubtful.length === 0 ? null : ((await askAnother?.(witness)) ?? null)
		const suspects = seen === null ? new Set<bigint>() : await blocksThatDiffer(seen, found, slices)
		const rest = doubtful.filter(({ number }) => !suspects.has(number))
		const most = mostProvedOf(mostProved, seen !== null)
		const drawn = new Set(sample(rest, most, random))
		const proved = headers.filter((header) => suspects.has(header.number) || drawn.has(header))
		const { blocks, tokens: inBlocks } = await readWhole(rpc, proved, addresses, signal)
		// Receipts that prove nothing say nothing against what two endpoints have found alike.
		const isUnsure = (one: WholeBlock) => isOpen(one) && seen !== null && !suspects.has(one.number)
		const again = new Set(blocks.flatMap((one) => (isUnsure(one) ? [] : [one.number])))
		const more = inBlocks.filter(({ block }) => again.has(block.number))
		const whole = { blocks: blocks.filter(({ number }) => again.has(number)), events: more }
		const missed = await leftOut(whole, found, { known, endpoint: rpc.endpoint, slices })
		if (missed.length > 0) {
			const facts = { endpoint: rpc.endpoint, missed: missed.length, block: missed[0]?.block.number }
			log.warn(facts, 'eth_getLogs left out logs that the receipts have: the receipts are believed')
			// Where it has left out one it may have others: nothing of this span is believed unproved.
			if (proved.length < headers.length) return readBlockwise(rpc, headers, question, signal)
		}
		const isSingle = ({ address, block }: Log) => !again.has(block.number) && !isNativeCoin(chainId, address)
		const txs = await readHitReceipts(rpc, found.filter(isSingle), headers, signal)
		const hits = await eventsIn(txs.toSorted(byPlace), addresses, decoding)
		const left = rest.filter((header) => !drawn.has(header))
		const open = [
			...blocks.flatMap((one) => (isOpen(one) ? [{ number: one.number, why: 'receipts' as const }] : [])),
			...left.map(({ number }) => ({ number })),
		]
		// What a second endpoint tells otherwise it does not witness.
		const unproved = open.filter(({ number }) => seen === null || suspects.has(number)).sort(byNumber)
		const { receipts, bloom } = proofsOf(blocks)
		const proofs = {
			receipts,
			bloom: bloom + headers.length - proved.length - left.length,
			witness: open.length - unproved.length,
			none: unproved.length,
		}
		const tokens = await merged(hits, more, slices)
		return { tokens, proofs, unproved }
	}

	return {
		eventsOf: (tx) => eventsOf(tx, decoding, createTimeSlices()),
		async read(rpc, question, signal) {
			const { span, addresses, isAgain } = question
			const headers = await headersOf(rpc, question, signal)
			const isWhole = isPrivate || lengthOf(span) <= WHOLE_SPAN || addresses.size > MOST_ASKED
			const blockwise = () => readBlockwise(rpc, headers, question, signal)
			const { tokens, proofs, unproved } = await (isWhole
				? blockwise()
				: readByTopics(rpc, headers, question, signal).catch((error: unknown) => {
						// What contradicts a header may be an old block's, left in the node's index: receipts can tell.
						if (!(error instanceof RpcError) || !(mayFallBack(error) || error.kind === 'unsettled')) throw error
						log.debug({ endpoint: rpc.endpoint, error: error.message }, 'logs are read by whole blocks instead')
						return blockwise()
					}))
			if (!isAgain) noteProofs(proofs)
			const headerAt = new Map(headers.map((header) => [header.number, header]))
			const blocks = new Map<bigint, Block>()
			let before: bigint | null = null
			for (const { block } of tokens) {
				if (block.number === before) continue
				before = block.number
				const header = headerAt.get(before)
				if (header !== undefined) blocks.set(before, header)
			}
			return { tokens, blocks, unproved }
		},
	}
}

/** Nothing in its header proves what was read of it. */
function isOpen({ proof }: WholeBlock): boolean {
	return proof === 'new' || proof === 'none'
}

function proofsOf(blocks: readonly WholeBlock[]) {
	const count = (wanted: WholeBlock['proof']) => blocks.filter(({ proof }) => proof === wanted).length
	return { receipts: count('receipts'), bloom: count('bloom') }
}

function byNumber(one: UnprovedBlock, other: UnprovedBlock): number {
	return one.number < other.number ? -1 : 1
}
