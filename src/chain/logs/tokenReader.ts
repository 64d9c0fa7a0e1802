import { createTimeSlices } from '../../base/timeSlices.js'
import { inCalls, mostProvedOf, type PriceOf } from '../../core/cost.js'
import { isNativeCoin } from '../../core/nativeTokens.js'
import { lengthOf, numbersOf } from '../../core/spans.js'
import { type TxLogs, tokenEventSteps, tokenEventsOf, topics } from '../../core/tokenLogs.js'
import { RpcError } from '../../errors.js'
import type { AddressSet, Block, Span } from '../../model/chain.js'
import type { Log as Logger } from '../../model/ports.js'
import type { KnownTokens, TokenEvent } from '../../model/token.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import { headerCalls, readHeaders } from '../sources/headers.js'
import { receiptCall } from '../sources/readReceipts.js'
import { addressTestOf } from '../traces/addressBitmap.js'
import type { Header, Reading } from '../wire.js'
import { doubtsOf, sample } from './doubts.js'
import { readHitReceipts } from './hitReceipts.js'
import { createLogProofs, type LogProofs } from './logProofs.js'
import { partiesOf, readLogSpan } from './logSpans.js'
import { createWholeBlocks, mayFallBack } from './wholeBlocks.js'
import { type Log, readLogReceipt } from './wireLogs.js'

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
	eventsOf(tx: TxLogs): readonly TokenEvent[]
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
/** Others may have a turn after so many logs. */
const STEP_LOGS = 500
/** With more addresses the questions are many, and nearly every bloom may hold one of them. */
const MOST_ASKED = 3_000

export function createTokenReader(options: TokenReaderOptions): TokenReader {
	const { chainId, known, isPrivate, clock, log, mostProved = null, priceAt, random = Math.random } = options
	const noteProofs = createLogProofs(options)
	const whole = createWholeBlocks({ chainId, isBelieved: mostProved === 0, clock, log })

	function eventsOf(tx: TxLogs): readonly TokenEvent[] {
		return tokenEventsOf(tx, known).filter(({ contract }) => !isNativeCoin(chainId, contract))
	}

	/** Of the addresses only. */
	async function eventsIn(txs: readonly TxLogs[], addresses: AddressSet): Promise<readonly TokenEvent[]> {
		const slices = createTimeSlices()
		const isAsked = await addressTestOf(addresses, slices)
		const events: TokenEvent[] = []
		let read = 0
		for (const tx of txs) {
			if (!mayConcern(tx)) continue
			const steps = tokenEventSteps(tx, known)
			let step = steps.next()
			for (; step.done !== true; step = steps.next()) await slices.next()
			for (const event of step.value) {
				const { contract, from, to } = event
				if (!isNativeCoin(chainId, contract) && (addresses.has(from) || addresses.has(to))) events.push(event)
			}
			read += tx.logs.length
			if (read < STEP_LOGS) continue
			read = 0
			await slices.next()
		}
		return events

		/** Most transactions concern nobody: those are not decoded. */
		function mayConcern({ logs }: TxLogs): boolean {
			return logs.some(
				(one) =>
					TOPICS.has(one.topics[0]) &&
					(one.topics.length === 1 ? known.has(one.address) : partiesOf(one).some((party) => isAsked(party))),
			)
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
		const lacking = [...new Set(tokens.flatMap(({ initiator, txHash }) => (initiator === null ? [txHash] : [])))]
		if (lacking.length === 0) return tokens
		const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
		const answers = await askAll(rpc, lacking.map(receiptCall), signal)
		const senders = new Map(lacking.map((txHash, at) => [txHash, readLogReceipt(answers[at], reading)?.sender ?? null]))
		return tokens.map((event) => ({ ...event, initiator: event.initiator ?? senders.get(event.txHash) ?? null }))
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
		const txs = await readHitReceipts(rpc, found, headers, signal)
		const told = await eventsIn(txs, addresses)
		const doubtful = isAgain ? [] : doubtsOf(found, headers, { addresses, known })
		const witness = async (other: Rpc, limited: AbortSignal) => readLogSpan(other, { span, addresses, known }, limited)
		const seen = doubtful.length === 0 ? null : ((await askAnother?.(witness)) ?? null)
		const suspects = new Set(seen === null ? [] : [...onlyIn(seen, found), ...onlyIn(found, seen)])
		const rest = doubtful.filter(({ number }) => !suspects.has(number))
		const most = mostProvedOf(mostProved, seen !== null, priceAt?.(rpc.endpoint) ?? inCalls)
		const drawn = new Set(sample(rest, most, random))
		const proved = headers.filter((header) => suspects.has(header.number) || drawn.has(header))
		const again = new Set(proved.map(({ number }) => number))
		const more = await readWhole(rpc, proved, addresses, signal)
		const before = new Set(told.map(({ txHash, trace }) => `${txHash}:${trace}`))
		const missed = more.filter(({ txHash, trace }) => !before.has(`${txHash}:${trace}`))
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
		const tokens = [...told.filter(({ block }) => !again.has(block.number)), ...more].sort(byPlace)
		return { tokens, proofs, unproved: seen === null ? left : [] }
	}

	return {
		eventsOf,
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
			for (const { block } of tokens) {
				const header = headerAt.get(block.number)
				if (header !== undefined) blocks.set(block.number, header)
			}
			return { tokens, blocks, unproved }
		},
	}
}

const TOPICS: ReadonlySet<string | undefined> = new Set(Object.values(topics))

/** Numbers of the blocks in which one endpoint has logs that the other has not, or has otherwise. */
function onlyIn(seen: readonly Log[], found: readonly Log[]): ReadonlySet<bigint> {
	const keyOf = ({ block, txHash, index, address, topics: words, data }: Log) =>
		[block.hash, txHash, index, address, ...words, data].join(':')
	const told = new Set(found.map(keyOf))
	return new Set(seen.flatMap((one) => (told.has(keyOf(one)) ? [] : [one.block.number])))
}

function byPlace(one: TokenEvent, other: TokenEvent): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return (one.txIndex ?? 0) - (other.txIndex ?? 0)
}
