import { createTimeSlices, type TimeSlices } from '../../base/timeSlices.js'
import { inCalls, mostProvedOf, type PriceOf } from '../../core/cost.js'
import { isNativeCoin } from '../../core/nativeTokens.js'
import { lengthOf, numbersOf } from '../../core/spans.js'
import { type TxLogs, tokenEventSteps, topics } from '../../core/tokenLogs.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Block, Span } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Log as Logger } from '../../model/ports.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { headerCalls, readHeaders } from '../sources/headers.js'
import { receiptCall } from '../sources/readReceipts.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import type { Header, Reading } from '../wire.js'
import { blocksThatDiffer, byPlace, eventsOnlyIn, merged } from './comparedLogs.js'
import { doubtsOf, sample } from './doubts.js'
import { readHitReceipts } from './hitReceipts.js'
import { createLogProofs, type LogProofs } from './logProofs.js'
import { partiesOf, readLogSpan } from './logSpans.js'
import { createWholeBlocks, mayFallBack } from './wholeBlocks.js'
import { readLogReceipt } from './wireLogs.js'

export interface TokenQuestion {
	readonly span: Span
	/** At least one. */
	readonly addresses: AddressSet
	/** Of the span, as the same endpoint has told them already; the last is among them. */
	readonly headers: readonly Header[]
	/** Asks another endpoint; null where there is none that answers in time. Absent: there is none. */
	readonly askAnother?: AskAnother
	/** The blocks were read before, and proved as well as could be: nothing is proved or counted again. */
	readonly isAgain?: boolean
}

export type AskAnother = <T>(job: (rpc: Rpc, limited: AbortSignal) => Promise<T>) => Promise<T | null>

export interface TokenPart {
	/** By block, index and log. */
	readonly tokens: readonly TokenEvent[]
	/** Headers of the blocks that they stand in. */
	readonly blocks: ReadonlyMap<bigint, Block>
	/** Numbers of the blocks in which nothing proves that no log is missing, in order. */
	readonly unproved: readonly bigint[]
}

/** What was read of blocks, and what proves that it is all. */
interface ReadLogs {
	readonly tokens: readonly TokenEvent[]
	readonly proofs: LogProofs
	readonly unproved: readonly bigint[]
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
	/** Whole blocks only: no question names an address or a transaction. */
	readonly isPrivate: boolean
	readonly clock: () => number
	readonly log: Logger
	/**
	 * Of the blocks of one part whose header does not rule out one more log, so many are read whole. Default: by what
	 * that costs.
	 */
	readonly mostProved?: number | null
	/** What calls to an endpoint cost. Default: all the same. */
	readonly priceAt?: (endpoint: string) => PriceOf | null
	readonly onProofs?: (proofs: LogProofs) => void
	readonly random?: () => number
}

/** As few blocks are read whole: near the head an answer should prove itself. */
const WHOLE_SPAN = 3n
/** With more addresses the questions are many, and nearly every bloom may hold one of them. */
const MOST_ASKED = 3_000

export function createTokenReader(options: TokenReaderOptions): TokenReader {
	const { chainId, known, isPrivate, clock, log, mostProved = null, priceAt, random = Math.random } = options
	const noteProofs = createLogProofs(options)
	const whole = createWholeBlocks({ chainId, isBelieved: mostProved === 0, clock, log })

	/** Those of them that count. */
	async function eventsOf(
		tx: TxLogs,
		slices: TimeSlices,
		concerns: (event: TokenEvent) => boolean = () => true,
	): Promise<readonly TokenEvent[]> {
		const steps = tokenEventSteps(tx, known)
		let step = steps.next()
		for (; step.done !== true; step = steps.next()) await slices.next()
		const events: TokenEvent[] = []
		for (const event of step.value) {
			if (slices.isOver()) await slices.next()
			if (!isNativeCoin(chainId, event.contract) && concerns(event)) events.push(event)
		}
		return events
	}

	/** Of the addresses only. */
	async function eventsIn(txs: readonly TxLogs[], addresses: AddressSet): Promise<readonly TokenEvent[]> {
		const slices = createTimeSlices()
		const isAsked = await addressTestOf(addresses, slices)
		const events: TokenEvent[] = []
		for (const tx of txs) {
			if (!(await mayConcern(tx))) continue
			const own = await eventsOf(tx, slices, ({ from, to }) => addresses.has(from) || addresses.has(to))
			for (const event of own) events.push(event)
		}
		return events

		/** Most transactions concern nobody: those are not decoded. */
		async function mayConcern({ logs }: TxLogs): Promise<boolean> {
			for (const one of logs) {
				if (slices.isOver()) await slices.next()
				if (!TOPICS.has(one.topics[0])) continue
				if (one.topics.length === 1 ? known.has(one.address) : partiesOf(one).some((party) => isAsked(party)))
					return true
			}
			return false
		}
	}

	async function headersOf(
		rpc: Rpc,
		{ span, headers }: TokenQuestion,
		signal: AbortSignal,
	): Promise<readonly Header[]> {
		const numbers = [...numbersOf(span)]
		const given = new Map(headers.map((header) => [header.number, header]))
		if (numbers.every((number) => given.has(number))) return numbers.flatMap((number) => given.get(number) ?? [])
		const last = given.get(span.to) ?? null
		return readHeaders(await askAll(rpc, headerCalls(numbers, last), signal), numbers, last, rpc.endpoint)
	}

	async function readWhole(rpc: Rpc, headers: readonly Header[], addresses: AddressSet, signal: AbortSignal) {
		const blocks = await whole.read(rpc, headers, signal)
		const tokens = await eventsIn(blocks.flat(), addresses)
		return isPrivate ? tokens : withInitiators(rpc, tokens, signal)
	}

	/** Logs alone do not say who sent a transaction. */
	async function withInitiators(rpc: Rpc, tokens: readonly TokenEvent[], signal: AbortSignal) {
		const nameless = new Set<Hash>()
		for (const { initiator, txHash } of tokens) if (initiator === null) nameless.add(txHash)
		if (nameless.size === 0) return tokens
		const lacking = [...nameless]
		const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
		const answers = await askAll(rpc, lacking.map(receiptCall), signal)
		const slices = createTimeSlices()
		const senders = new Map<Hash, Address | null>()
		for (const [at, txHash] of lacking.entries())
			senders.set(txHash, (await readLogReceipt(answers[at], reading, slices))?.sender ?? null)
		const named: TokenEvent[] = []
		for (const event of tokens) {
			if (slices.isOver()) await slices.next()
			named.push({ ...event, initiator: event.initiator ?? senders.get(event.txHash) ?? null })
		}
		return named
	}

	async function readBlockwise(
		rpc: Rpc,
		headers: readonly Header[],
		addresses: AddressSet,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const tokens = await readWhole(rpc, headers, addresses, signal)
		return { tokens, proofs: { receipts: headers.length, bloom: 0, witness: 0, none: 0 }, unproved: [] }
	}

	/** By topics, each hit held against its receipt and each block without one against its header. */
	async function readByTopics(
		rpc: Rpc,
		headers: readonly Header[],
		{ span, addresses, askAnother, isAgain }: TokenQuestion,
		signal: AbortSignal,
	): Promise<ReadLogs> {
		const found = await readLogSpan(rpc, { span, addresses, known }, signal)
		const slices = createTimeSlices()
		const txs = await readHitReceipts(rpc, found, headers, signal)
		const told = await eventsIn(txs.toSorted(byPlace), addresses)
		const doubtful = isAgain ? [] : doubtsOf(found, headers, { addresses, known })
		const witness = async (other: Rpc, limited: AbortSignal) => readLogSpan(other, { span, addresses, known }, limited)
		const seen = doubtful.length === 0 ? null : ((await askAnother?.(witness)) ?? null)
		const suspects = seen === null ? new Set<bigint>() : await blocksThatDiffer(seen, found, slices)
		const rest = doubtful.filter(({ number }) => !suspects.has(number))
		const most = mostProvedOf(mostProved, seen !== null, priceAt?.(rpc.endpoint) ?? inCalls)
		const drawn = new Set(sample(rest, most, random))
		const proved = headers.filter((header) => suspects.has(header.number) || drawn.has(header))
		const again = new Set(proved.map(({ number }) => number))
		const more = await readWhole(rpc, proved, addresses, signal)
		const missed = await eventsOnlyIn(more, told, slices)
		if (missed.length > 0) {
			const facts = { endpoint: rpc.endpoint, missed: missed.length, block: missed[0]?.block.number }
			log.warn(facts, 'eth_getLogs left out logs that the receipts have: the receipts are believed')
			// Where it has left out one it may have others: nothing of this span is believed unproved.
			if (proved.length < headers.length) return readBlockwise(rpc, headers, addresses, signal)
		}
		const left = rest.filter((header) => !drawn.has(header)).map(({ number }) => number)
		const proofs = {
			receipts: proved.length,
			bloom: headers.length - proved.length - left.length,
			witness: seen === null ? 0 : left.length,
			none: seen === null ? left.length : 0,
		}
		const believed = told.filter(({ block }) => !again.has(block.number))
		const tokens = await merged(believed, more, slices)
		return { tokens, proofs, unproved: seen === null ? left : [] }
	}

	return {
		eventsOf: (tx) => eventsOf(tx, createTimeSlices()),
		async read(rpc, question, signal) {
			const { span, addresses, isAgain } = question
			const headers = await headersOf(rpc, question, signal)
			const isWhole = isPrivate || lengthOf(span) <= WHOLE_SPAN || addresses.size > MOST_ASKED
			const blockwise = () => readBlockwise(rpc, headers, addresses, signal)
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

const TOPICS: ReadonlySet<string | undefined> = new Set(Object.values(topics))
