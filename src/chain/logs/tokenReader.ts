import { mostProvedOf } from '../../core/cost/cost.js'
import { isControlLog } from '../../core/events/controlLogs.js'
import { byTransactionPlace } from '../../core/events/eventsByTransaction.js'
import { isNativeCoin } from '../../core/events/nativeTokens.js'
import type { TxLogs } from '../../core/events/tokenLogs.js'
import { lengthOf, numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { Block, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { ControlChanged } from '../../model/kind.js'
import type { Log as Logger } from '../../model/ports.js'
import type { KnownTokens, TokenEvent, UnprovedBlock } from '../../model/token.js'
import { askAll, blockCall, needBlock } from '../blocks/batchedCalls.js'
import { checkChain } from '../blocks/between.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Header } from '../wire/wire.js'
import { eventsIn, eventsOf, type LogEvent, type Wanted } from './eventsIn.js'
import { withInitiators } from './initiators.js'
import { createLogProofs, type LogProofs } from './logProofs.js'
import { readLogSpan } from './logSpans.js'
import { createBloomSuspects, type SuspectQuestion, sample } from './proofs/bloomSuspects.js'
import { blocksThatDiffer, leftOut, merged } from './proofs/comparedLogs.js'
import { readHitReceipts } from './proofs/hitReceipts.js'
import { isRootKnown } from './proofs/rootChains.js'
import { createWholeBlocks, mayFallBack, type WholeBlock } from './proofs/wholeBlocks.js'
import type { Log } from './proofs/wireLogs.js'
import { type AskAnother, createSecondWitness } from './secondWitness.js'

/** At least one address or contract. */
export interface TokenQuestion extends Wanted {
	readonly span: Span
	/** Headers of the span that the same endpoint has given already; the last block's is among them. */
	readonly headers: readonly Header[]
	/** Asks another endpoint; null where none answers in time. Absent: there is no other. */
	readonly askAnother?: AskAnother
	/** The blocks were read and proved before: nothing is proved or counted again. */
	readonly isReread?: boolean
}

export interface TokenPart {
	/** By block, transaction and log. */
	readonly tokens: readonly TokenEvent[]
	/** What the contracts' own logs tell of who rules them, in the same order. */
	readonly control: readonly ControlChanged[]
	/** Headers of the blocks with such events. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** Blocks without proof that no log is missing, in order. */
	readonly unproved: readonly UnprovedBlock[]
}

interface ReadLogs {
	readonly events: readonly LogEvent[]
	readonly proofs: LogProofs
	readonly unproved: readonly UnprovedBlock[]
}

export interface TokenReader {
	/** All wanted events of a span, from one endpoint. Throws RpcError where anything is in doubt. */
	read(rpc: Rpc, question: TokenQuestion, signal: AbortSignal): Promise<TokenPart>
	/** All token transfers of one transaction, for any address. */
	eventsOf(tx: TxLogs): Promise<readonly TokenEvent[]>
}

export interface TokenReaderOptions {
	readonly chainId: number
	readonly known: KnownTokens
	readonly wanted?: () => ReadonlySet<Address> | null
	/** Ask for whole blocks only: no request names an address or a transaction. */
	readonly isPrivate: boolean
	readonly clock: () => number
	readonly log: Logger
	/**
	 * How many blocks of one part to read whole if their headers do not rule out further logs. Default: all, or a share
	 * where a second endpoint gives the same logs.
	 */
	readonly mostProved?: number | null
	readonly onProofs?: (proofs: LogProofs) => void
	readonly random?: () => number
}

/** Spans of up to 3 blocks are read whole: near the head an answer should prove itself. */
const WHOLE_SPAN = 3n
/** With more addresses there are many requests, and nearly every bloom may match one of them. */
const MOST_ASKED = 3_000

export function createTokenReader(options: TokenReaderOptions): TokenReader {
	const { chainId, known, isPrivate, clock, log, mostProved, random = Math.random } = options
	const { wanted = () => null } = options
	const suspectsOf = createBloomSuspects<Rpc>(isRootKnown(chainId))
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

	async function readWhole(rpc: Rpc, headers: readonly Header[], wanted: Wanted, signal: AbortSignal) {
		const blocks = await whole.read(rpc, headers, signal)
		const txs = blocks.flatMap((block) => block.txs)
		const found = await eventsIn(txs, wanted, decoding)
		return { blocks, events: isPrivate ? found : await withInitiators(rpc, found, signal) }
	}

	async function readBlockwise(
		rpc: Rpc,
		headers: readonly Header[],
		question: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const { blocks, events } = await readWhole(rpc, headers, question, signal)
		const open = blocks.filter(isOpen)
		// A second endpoint is asked about a new encoding only; on chains without any proof nothing has changed.
		const fresh = new Set(open.flatMap(({ number, proof }) => (proof === 'new' ? [number] : [])))
		const asked = headers.filter(({ number }) => fresh.has(number))
		const isSeen =
			asked.length > 0 && !question.isReread && !isPrivate && (await isWitnessed(rpc, asked, events, question))
		const left = isSeen ? open.filter(({ number }) => !fresh.has(number)) : open
		return {
			events,
			proofs: { ...proofsOf(blocks), witness: open.length - left.length, none: left.length },
			unproved: left.map(({ number }) => ({ number, why: 'receipts' })),
		}
	}

	/** Most headers rule out every wanted log: skipped, but not on a private network, where the choice would tell. */
	async function readPossible(
		rpc: Rpc,
		headers: readonly Header[],
		question: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		if (isPrivate || question.addresses.size > 0) return readBlockwise(rpc, headers, question, signal)
		const possible = suspectsOf(rpc, [], headers, ofSuspects(question))
		const { proofs, ...read } = await readBlockwise(rpc, possible, question, signal)
		return { ...read, proofs: { ...proofs, bloom: proofs.bloom + headers.length - possible.length } }
	}

	function ofSuspects({ addresses, contracts }: TokenQuestion): SuspectQuestion {
		return { addresses, contracts, known, wanted: wanted() }
	}

	/** By topics. A block whose header does not rule out more logs is read whole, each other hit by its receipt. */
	async function readByTopics(
		rpc: Rpc,
		headers: readonly Header[],
		question: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const { span, addresses, contracts, askAnother, isReread } = question
		const found = await readLogSpan(rpc, { span, addresses, contracts, known }, signal)
		const doubtful = isReread ? [] : suspectsOf(rpc, found, headers, ofSuspects(question))
		const witness = async (other: Rpc, limited: AbortSignal) =>
			readLogSpan(other, { span, addresses, contracts, known }, limited)
		const seen = doubtful.length === 0 ? null : ((await askAnother?.(witness)) ?? null)
		const suspects = seen === null ? new Set<bigint>() : await blocksThatDiffer(seen, found)
		const rest = doubtful.filter(({ number }) => !suspects.has(number))
		const most = mostProved ?? mostProvedOf(seen !== null)
		const drawn = new Set(sample(rest, most, random))
		const proved = headers.filter((header) => suspects.has(header.number) || drawn.has(header))
		const { blocks, events: inBlocks } = await readWhole(rpc, proved, question, signal)
		// Receipts that prove nothing are no reason to doubt logs that two endpoints agree on.
		const isUnsure = (one: WholeBlock) => isOpen(one) && seen !== null && !suspects.has(one.number)
		const again = new Set(blocks.flatMap((one) => (isUnsure(one) ? [] : [one.number])))
		const more = inBlocks.filter(({ block }) => again.has(block.number))
		const whole = { blocks: blocks.filter(({ number }) => again.has(number)), events: more }
		const missed = await leftOut(whole, found, { known, endpoint: rpc.endpoint })
		if (missed.length > 0) {
			const facts = { endpoint: rpc.endpoint, missed: missed.length, block: missed[0]?.block.number }
			log.warn(facts, 'eth_getLogs left out logs that the receipts have: the receipts are believed')
			// An endpoint that left out one log may have left out others: read the whole span by blocks.
			if (proved.length < headers.length) return readBlockwise(rpc, headers, question, signal)
		}
		const isUsed = (log: Log) => !isNativeCoin(chainId, log.address) || isControlLog(log, contracts)
		const isSingle = (log: Log) => !again.has(log.block.number) && isUsed(log)
		const txs = await readHitReceipts(rpc, found.filter(isSingle), headers, signal)
		const hits = await eventsIn(txs.toSorted(byTransactionPlace), question, decoding)
		const left = rest.filter((header) => !drawn.has(header))
		const open = [
			...blocks.flatMap((one) => (isOpen(one) ? [{ number: one.number, why: 'receipts' as const }] : [])),
			...left.map(({ number }) => ({ number })),
		]
		// A second endpoint that gives other logs for a block is no witness of it.
		const unproved = open.filter(({ number }) => seen === null || suspects.has(number)).sort(byNumber)
		const { receipts, bloom } = proofsOf(blocks)
		const proofs = {
			receipts,
			bloom: bloom + headers.length - proved.length - left.length,
			witness: open.length - unproved.length,
			none: unproved.length,
		}
		return { events: await merged(hits, more), proofs, unproved }
	}

	return {
		eventsOf: (tx) => eventsOf(tx, decoding),
		async read(rpc, question, signal) {
			const { span, addresses, contracts, isReread } = question
			const headers = await headersOf(rpc, question, signal)
			const isWhole = isPrivate || lengthOf(span) <= WHOLE_SPAN || addresses.size + contracts.size > MOST_ASKED
			const blockwise = () => readPossible(rpc, headers, question, signal)
			const { events, proofs, unproved } = await (isWhole
				? blockwise()
				: readByTopics(rpc, headers, question, signal).catch((error: unknown) => {
						// A log that contradicts a header may be a replaced block's, left in the node's index: receipts show which
						// is right.
						if (!(error instanceof RpcError) || !(mayFallBack(error) || error.kind === 'unsettled')) throw error
						log.debug({ endpoint: rpc.endpoint, error: error.message }, 'logs are read by whole blocks instead')
						return blockwise()
					}))
			if (!isReread) noteProofs(proofs)
			const headerAt = new Map(headers.map((header) => [header.number, header]))
			const blocks = new Map<bigint, Block>()
			let before: bigint | null = null
			const [tokens, control]: [TokenEvent[], ControlChanged[]] = [[], []]
			for (const event of events) {
				if (event.kind === 'token') tokens.push(event)
				else control.push(event)
				const { block } = event
				if (block.number === before) continue
				before = block.number
				const header = headerAt.get(before)
				if (header !== undefined) blocks.set(before, header)
			}
			return { tokens, control, blocks, unproved }
		},
	}
}

/** Nothing in its header proves that the logs are complete. */
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
