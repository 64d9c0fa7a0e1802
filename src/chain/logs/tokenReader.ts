import { createTurns } from '../../base/timeSlices.js'
import { isNativeCoin } from '../../core/nativeTokens.js'
import { lengthOf, numbersOf } from '../../core/spans.js'
import { type TxLogs, tokenEventsOf, topics } from '../../core/tokenLogs.js'
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
import { type Header, hexBytes, malformed, type Reading, unsettled } from '../wire.js'
import { bloomOf, bytesOf, mayHold, placesOf, topicPlacesOf } from './bloom.js'
import { partiesOf, readLogSpan } from './logSpans.js'
import { createWholeBlocks, mayFallBack } from './wholeBlocks.js'
import { isSame, type Log, readLogReceipt } from './wireLogs.js'

export interface TokenQuestion {
	readonly span: Span
	/** At least one. */
	readonly addresses: AddressSet
	/** Of the span, as the same endpoint has told them already; the last is among them. */
	readonly headers: readonly Header[]
}

export interface TokenPart {
	/** By block, index and log. */
	readonly tokens: readonly TokenEvent[]
	/** Headers of the blocks that they stand in. */
	readonly blocks: ReadonlyMap<bigint, Block>
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
	readonly random?: () => number
}

/** As few blocks are read whole: near the head an answer should prove itself. */
const WHOLE_SPAN = 3n
/** With more addresses the questions are many, and nearly every bloom may hold one of them. */
const MOST_ASKED = 3_000
/** Of the blocks of one part whose bloom may hold an address of which nothing was found, so many are read whole. */
const MOST_PROVED = 16

export function createTokenReader(options: TokenReaderOptions): TokenReader {
	const { chainId, known, isPrivate, clock, log, random = Math.random } = options
	const whole = createWholeBlocks({ chainId, clock, log })

	function eventsOf(tx: TxLogs): readonly TokenEvent[] {
		return tokenEventsOf(tx, known).filter(({ contract }) => !isNativeCoin(chainId, contract))
	}

	/** Of the addresses only. */
	async function eventsIn(txs: readonly TxLogs[], addresses: AddressSet): Promise<readonly TokenEvent[]> {
		const isAsked = await addressTestOf(addresses, createTurns())
		return txs
			.filter(mayConcern)
			.flatMap((tx) => eventsOf(tx).filter(({ from, to }) => addresses.has(from) || addresses.has(to)))

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

	/** By topics, each hit held against its receipt and each block without one against its header. */
	async function readByTopics(
		rpc: Rpc,
		headers: readonly Header[],
		{ span, addresses }: TokenQuestion,
		signal: AbortSignal,
	): Promise<readonly TokenEvent[]> {
		const found = await readLogSpan(rpc, { span, addresses, known }, signal)
		const txs = await receiptsOf(rpc, found, headers, signal)
		const doubtful = doubtsOf(found, headers, addresses)
		const proved = sample(doubtful, MOST_PROVED, random)
		const again = new Set(proved.map(({ number }) => number))
		const told = await eventsIn(txs, addresses)
		const more = await readWhole(rpc, proved, addresses, signal)
		const before = new Set(told.map(({ txHash, trace }) => `${txHash}:${trace}`))
		const missed = more.filter(({ txHash, trace }) => !before.has(`${txHash}:${trace}`))
		if (missed.length > 0) {
			const facts = { endpoint: rpc.endpoint, missed: missed.length, block: missed[0]?.block.number }
			log.warn(facts, 'eth_getLogs left out logs that the receipts have: the receipts are believed')
			// Where it has left out one it may have others: nothing of this span is believed unproved.
			if (proved.length < headers.length) return readWhole(rpc, headers, addresses, signal)
		}
		return [...told.filter(({ block }) => !again.has(block.number)), ...more].sort(byPlace)
	}

	async function receiptsOf(
		rpc: Rpc,
		found: readonly Log[],
		headers: readonly Header[],
		signal: AbortSignal,
	): Promise<readonly TxLogs[]> {
		const reading: Reading = { endpoint: rpc.endpoint, method: 'eth_getTransactionReceipt' }
		const headerAt = new Map(headers.map((header) => [header.number, header]))
		const groups = new Map<Hash, Log[]>()
		for (const one of found) {
			const header = headerAt.get(one.block.number)
			if (header?.hash !== one.block.hash) {
				throw unsettled({ ...reading, method: 'eth_getLogs' }, `block ${one.block.number} was replaced`)
			}
			// Celo logs of blocks themselves, and stands the block's hash in the place of a transaction's.
			if (!header.txHashes.includes(one.txHash)) continue
			const group = groups.get(one.txHash)
			if (group === undefined) groups.set(one.txHash, [one])
			else group.push(one)
		}
		const asked = [...groups.keys()]
		const answers = await askAll(rpc, asked.map(receiptCall), signal)
		return asked.map((txHash, at): TxLogs => {
			const receipt = readLogReceipt(answers[at], reading)
			const own = groups.get(txHash) ?? []
			const block = own[0]?.block
			if (block === undefined || receipt === null || receipt.txHash !== txHash || receipt.block.hash !== block.hash) {
				throw unsettled(reading, `${txHash} is no longer in the block that its logs name`)
			}
			const bloom = hexBytes(receipt.raw.logsBloom, 256)
			if (bloom !== null && bloom !== bloomOf(receipt.logs)) {
				throw malformed(reading, `the receipt of ${txHash} lacks logs that its bloom names`)
			}
			const first = receipt.logs[0]?.index ?? 0n
			const lost = own.find((one) => {
				const there = receipt.logs[Number(one.index - first)]
				return there === undefined || !isSame(one, there)
			})
			if (lost !== undefined) throw unsettled(reading, `the receipt of ${txHash} lacks log ${lost.index}`)
			const txIndex = headerAt.get(block.number)?.txHashes.indexOf(txHash) ?? null
			return { txHash, txIndex, block, initiator: receipt.sender, logs: receipt.logs }
		})
	}

	/** Blocks whose bloom may hold an address of which no log was found there. */
	function doubtsOf(found: readonly Log[], headers: readonly Header[], addresses: AddressSet): readonly Header[] {
		const seen = new Map<bigint, Set<Address>>()
		for (const one of found) {
			const here = seen.get(one.block.number) ?? new Set()
			seen.set(one.block.number, here)
			for (const party of partiesOf(one)) here.add(party)
			if (one.topics.length === 1) here.add(one.address)
		}
		const places = topicPlacesOf(addresses)
		const unindexed = [...known.values()].filter(({ decimals }) => decimals === null)
		return headers.filter(({ number, logsBloom, txHashes }) => {
			if (txHashes.length === 0) return false
			if (logsBloom === null) return true
			const bloom = bytesOf(logsBloom)
			if (!TOPIC_PLACES.some((topic) => mayHold(bloom, topic))) return false
			const here = seen.get(number)
			for (const [address, place] of places) if (!here?.has(address) && mayHold(bloom, place)) return true
			return unindexed.some(({ address }) => !here?.has(address) && mayHold(bloom, placesOf(address)))
		})
	}

	return {
		eventsOf,
		async read(rpc, question, signal) {
			const { span, addresses } = question
			const headers = await headersOf(rpc, question, signal)
			const isWhole = isPrivate || lengthOf(span) <= WHOLE_SPAN || addresses.size > MOST_ASKED
			const blockwise = () => readWhole(rpc, headers, addresses, signal)
			const tokens = await (isWhole
				? blockwise()
				: readByTopics(rpc, headers, question, signal).catch((error: unknown) => {
						if (!(error instanceof RpcError) || !mayFallBack(error)) throw error
						log.debug({ endpoint: rpc.endpoint, error: error.message }, 'logs are read by whole blocks instead')
						return blockwise()
					}))
			const headerAt = new Map(headers.map((header) => [header.number, header]))
			const blocks = new Map<bigint, Block>()
			for (const { block } of tokens) {
				const header = headerAt.get(block.number)
				if (header !== undefined) blocks.set(block.number, header)
			}
			return { tokens, blocks }
		},
	}
}

const TOPICS: ReadonlySet<string | undefined> = new Set(Object.values(topics))
const TOPIC_PLACES = Object.values(topics).map(placesOf)

/** So many of them, without a pattern that somebody could learn. */
function sample<T>(all: readonly T[], most: number, random: () => number): readonly T[] {
	if (all.length <= most) return all
	const left = [...all]
	return Array.from({ length: most }, () => left.splice(Math.floor(random() * left.length), 1)[0]).flatMap((one) =>
		one === undefined ? [] : [one],
	)
}

function byPlace(one: TokenEvent, other: TokenEvent): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return (one.txIndex ?? 0) - (other.txIndex ?? 0)
}
