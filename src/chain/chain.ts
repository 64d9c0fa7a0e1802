/**
 * The room reads what happened on one network, whatever its endpoints are and whatever they can do. This file is the
 * port that a poll reads through; `reader.ts` chooses how a span is read.
 */

import { newestOf } from '../core/newest.js'
import { firstOf, higher } from '../core/spans.js'
import { settleTargetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Block, Part, Span } from '../model/chain.js'
import type { Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Network } from '../model/watch.js'
import { inCoins, partInCoins, unreadWithdrawals, type WithdrawalLists } from './blocks/withdrawals.js'
import { probeSettingOf } from './capabilities/permitted.js'
import type { SourceSetting } from './capabilities/probe.js'
import { UNUSED_ADDRESS } from './capabilities/probeFilter.js'
import { type CapabilitiesRegistry, createCapabilitiesRegistry } from './capabilities/registry.js'
import { type Need, soon } from './endpoints/endpoint.js'
import type { Endpoints } from './endpoints/endpoints.js'
import { createDemotions, createSlowEndpoints } from './endpoints/slowEndpoints.js'
import { createWitnesses } from './endpoints/witnesses.js'
import { readHead, shownHead } from './heads/heads.js'
import { createAskSecond } from './logs/askSecond.js'
import { createContracts } from './logs/contracts.js'
import { createTokens, type TokenSetting } from './logs/tokens.js'
import { createReader } from './reader.js'
import { gathered } from './rpc/gathered.js'
import type { Rpc } from './rpc/rpc.js'
import type { Sampling } from './sources/sampling.js'
import { mild } from './state/mildly.js'
import { createCreator } from './transactions/creator.js'
import { beforeLeftOut, findBlock, headerOnly, headWithin, locateAt, showBlock } from './transactions/locate.js'
import { fullLevel, readFailureData } from './transactions/ots.js'
import { readTransaction } from './transactions/transaction.js'
import { createPrefetch } from './walk/prefetch.js'
import { moreOf, type WalkWait, waitOf } from './walk/walkWait.js'
import type { Header } from './wire/wire.js'

export interface ChainOptions {
	readonly endpoints: Pick<Endpoints, 'use' | 'close'> & Partial<Pick<Endpoints, 'states' | 'recheckChainId'>>
	/** Default: the best source of each endpoint, by its capabilities. */
	readonly source?: SourceSetting
	/** Ask for whole blocks only, never about one address or transaction. Default: false. */
	readonly isPrivate?: boolean
	/** How tokens are read. Absent: tokens are not read. */
	readonly tokens?: TokenSetting
	/** Read the fees that watched addresses pay. Default: true. */
	readonly fees?: boolean
	/** When a block counts as settled. Absent: no block does. */
	readonly settle?: Network['settle']
	/** Default: withdrawals are paid in the chain's coin, and how their roots are made is not known. */
	readonly withdrawals?: WithdrawalLists
	/** Capabilities of the endpoints, where it is shared with others. Default: its own. */
	readonly registry?: CapabilitiesRegistry
	/** How long a walk waits; then its requests go on, and the next walk takes their answers. Default: no limit. */
	readonly walkWait?: WalkWait
	/** A part may lack transactions that no answer gives; it names them. Default: the block of such a one fails. */
	readonly mayLack?: boolean
	/** Blocks that are read whole to check a filter. Default: none. */
	readonly sampling?: Sampling
	/** Default: the wall clock. */
	readonly clock?: Clock
	readonly log: Log
}

const FIRST_BLOCKS = 100
/** An attacker may have made some of them unreadable, and alerts of the others must not wait. */
const FIRST_BLOCKS_SOON = 8
const MOST_BLOCKS = 10_000
/** Coins are reported without the logs of their block once all logs have failed for this long. */
const LOGS_WAIT_MS = 10_000
/** With tokens, the header of each block is asked for. */
const MOST_BLOCKS_WITH_TOKENS = 500
/** Most answers that wait in memory or are on their way. */
const MOST_AHEAD = 6
/**
 * A block without a timestamp takes the time of a block at most this far before it. Each of them is a gap, and with
 * more than 1,000 of those the scan waits.
 */
const MOST_TIMELESS = 1_024n
/** After a timeout, the same request is tried at most twice with fewer blocks. */
const SMALLER_TRIES = 2

export function createChain(options: ChainOptions): Chain {
	const { endpoints, source = 'auto', isPrivate = false, fees = true, mayLack = false } = options
	const { clock = Date.now, log } = options
	const registry =
		options.registry ??
		createCapabilitiesRegistry({ setting: probeSettingOf({ setting: source, isPrivate }), clock, log })
	const { withdrawals = { areCoins: true, rootsFit: false, mayBePaid: false } } = options
	const contracts = createContracts({ endpoints, isPrivate })
	const tokens = createTokens(options.tokens, { isPrivate, clock, log })
	const reader = createReader({
		setting: source,
		isPrivate,
		registry,
		fees,
		withdrawals,
		readsHeaders: tokens.areAsked,
		mayLack,
		sampling: options.sampling,
		clock,
		log,
	})
	/** The newest header, and the endpoint that gave it in the last poll; earlier ones of others may be outdated. */
	let newest: { readonly rpc: Rpc; readonly header: Header } | null = null
	/** Number of the last settled block, as each endpoint says. */
	const settled = new WeakMap<Rpc, bigint>()
	let head = 0n
	/** The endpoint that read last; its limits bound how far to read ahead. Null before the first read. */
	let reading: Rpc | null = null
	const witnesses = createWitnesses((rpc) => registry.known(rpc)?.clientVersion ?? null)
	const askSecond = createAskSecond({ endpoints, rank: witnesses.rank, clock })
	const slow = createSlowEndpoints(clock)
	/** Endpoints that claimed a head which no endpoint could show, or a head below a block that another endpoint has. */
	const falseHeadClaims = createDemotions(clock)
	const rankOf = (rpc: Rpc) => 2 * falseHeadClaims.rank(rpc) + slow.rank(rpc)
	const first = options.walkWait === undefined ? FIRST_BLOCKS : FIRST_BLOCKS_SOON
	const allowance = (usualMs: number) => (reading ?? newest?.rpc)?.limits.allowance(usualMs) ?? usualMs
	const prefetching = {
		width: () => (reading === null ? 1 : Math.min(MOST_AHEAD, reading.limits.speed.width())),
		blocks(addresses: AddressSet) {
			if (addresses.size === 0) return MOST_BLOCKS
			return reading === null ? first : reader.blocksAtOnce(reading, addresses)
		},
		clock,
		...(options.walkWait && {
			waitMs: waitOf(options.walkWait, () => reading === null, allowance),
			moreMs: moreOf(options.walkWait),
			onLate: ({ from }: Span) => slow.note(from),
		}),
	}
	const prefetch = createPrefetch({
		...prefetching,
		async readFirst(span, addresses, signal) {
			const { rpc, part } = await readFirst(span, addresses, signal, { isReread: false })
			if (rpc !== null) witnesses.note(part.span, rpc)
			return part
		},
	})
	const secondLook = createPrefetch({
		...prefetching,
		async readFirst(span, addresses, signal) {
			const first = witnesses.readerOf(span.from)
			const other = first === null ? {} : { rank: witnesses.rank(first) }
			const { rpc, part } = await readFirst(span, addresses, signal, { isReread: true, ...other })
			return first === null || rpc === null || first === rpc ? part : { ...part, confirms: first.endpoint }
		},
	})

	async function readPart(
		rpc: Rpc,
		{ span, addresses, isReread }: { readonly span: Span; readonly addresses: AddressSet; readonly isReread: boolean },
		signal: AbortSignal,
	): Promise<Part> {
		if (addresses.size === 0) return headerOnly(rpc, span, signal)
		const isLogless = logsFailSinceMs !== null && clock() - logsFailSinceMs > LOGS_WAIT_MS
		try {
			const most = tokens.areAsked(addresses) ? firstOf(span, isLogless ? 1 : MOST_BLOCKS_WITH_TOKENS) : span
			const known = { newest: newest?.rpc === rpc ? newest.header : null, settled: settled.get(rpc) ?? null }
			const question = { span: most, addresses, head, ...known }
			const askAnother = askSecond(rpc, span.to, signal)
			const early = tokens.begin(rpc, { ...question, askAnother, isReread }, signal)
			const { headers, ...part } = await reader.readFirst(rpc, question, signal)
			needTimes(part, rpc.endpoint)
			reading = rpc
			const unread = isReread ? [] : unreadWithdrawals(withdrawals, part)
			const doubt = unread.length === 0 ? {} : { unprovedLogs: unread }
			const whole = { ...partInCoins(withdrawals, part), endpoint: rpc.endpoint, ...doubt }
			try {
				const read = await tokens.addTo(whole, { rpc, addresses, headers, early, askAnother, isReread }, signal)
				if (read.tokens !== undefined && whole.last.txHashes.length > 0) logsFailSinceMs = null
				return read
			} catch (error) {
				if (signal.aborted || !(error instanceof RpcError) || isOfEndpoint(error)) throw error
				logsFailSinceMs ??= clock()
				if (!isLogless || isReread) throw error
				return { ...whole, unreadLogs: error.message }
			}
		} catch (error) {
			// The newest header may come from a chain that was replaced.
			if (error instanceof RpcError && error.kind === 'unsettled' && newest?.rpc === rpc) newest = null
			throw error
		}
	}

	/** Since when logs fail on every endpoint; null: they do not. */
	let logsFailSinceMs: number | null = null
	/** Numbers that the chain has left out, as far as it was logged. */
	const leftOut = new Set<bigint>()

	async function blockAt(number: bigint, heardTo: bigint, signal: AbortSignal): Promise<Block | null> {
		const find = (at: bigint) => findBlock(endpoints, { number: at, head: heardTo, lists: withdrawals }, signal)
		const block = await find(number)
		if (block !== null || number >= head) return block
		const before = await beforeLeftOut(number, head, find)
		if (before !== null && !leftOut.has(number)) {
			leftOut.add(number)
			log.info({ block: number }, 'the chain has no block of this number: the next block follows the one before it')
		}
		return before
	}

	/** A block without a timestamp gets that of the block before the run of such blocks that it is in. */
	async function timed(block: Block | null, heardTo: bigint, signal: AbortSignal): Promise<Block | null> {
		if (!block?.hasNoTime) return block
		const { number } = block
		let { timestampS } = block
		const hasTime = async (at: bigint) => {
			const before = await blockAt(at, heardTo, signal)
			if (before === null || before.hasNoTime) return false
			timestampS = before.timestampS
			return true
		}
		let to = number
		for (let back = 1n; back <= MOST_TIMELESS && to > 0n; back *= 2n) {
			const from = higher(number - back, 0n)
			if (await hasTime(from)) {
				await newestOf({ from, to }, hasTime)
				break
			}
			to = from
		}
		return { ...block, timestampS }
	}

	/** The part of a number that the chain has left out; null: it is not known to be left out. */
	async function partLeftOut(span: Span, signal: AbortSignal): Promise<Part | null> {
		try {
			const block = await blockAt(span.from, head, signal)
			if (block === null || block.parentHash !== block.hash) return null
			return { span, last: block, parentHash: block.parentHash, blocks: new Map(), transactions: [] }
		} catch (error) {
			if (error instanceof RpcError && !signal.aborted) return null
			throw error
		}
	}

	/** Reads as much of the span as one endpoint gives in one request. */
	async function readFirst(
		whole: Span,
		addresses: AddressSet,
		signal: AbortSignal,
		{ isReread, ...rank }: Pick<Need, 'rank'> & { readonly isReread: boolean },
	): Promise<{ readonly rpc: Rpc | null; readonly part: Part }> {
		let span = whole
		for (let tries = 0; ; ) {
			try {
				const need = { block: span.to, rank: rankOf, ...rank }
				const asked = { span, addresses, isReread }
				const read = async (rpc: Rpc) => {
					slow.asks(span.from, rpc)
					const part = await readPart(rpc, asked, signal)
					slow.cameWell(span.from, rpc)
					return { rpc, part }
				}
				return await endpoints.use(read, signal, need)
			} catch (error) {
				if (!(error instanceof RpcError)) throw error
				if (lacksHeader(error) && span.from < head) {
					const part = span.from === span.to ? await partLeftOut(span, signal) : null
					if (part !== null) return { rpc: null, part }
					if (span.from < span.to) {
						span = { from: span.from, to: span.from + (span.to - span.from) / 2n }
						continue
					}
				}
				if (tries++ === SMALLER_TRIES) throw error
				const reached = headWithin(span, endpoints.states?.() ?? [])
				if (reached !== null) span = { from: span.from, to: reached }
				else if (error.kind !== 'timeout' || span.to === span.from) throw error
			}
		}
	}

	return {
		async head(signal) {
			const ask = async (rpc: Rpc, until: AbortSignal) => {
				return { rpc, answer: await readHead(rpc, withdrawals, until) }
			}
			// The chain id is asked at the same time; the head counts once that is known.
			const { rpc, answer } = await endpoints.use(ask, signal, { ...soon, beside: true, rank: falseHeadClaims.rank })
			newest = { rpc, header: answer.latest }
			const { settle } = options
			const settledTo = settle === undefined ? null : settleTargetOf(answer, { settle })
			if (settledTo !== null) settled.set(rpc, settledTo)
			// Blocks near the head that an earlier poll has read may have left the chain since.
			for (const { forget } of [prefetch, secondLook]) forget(settledTo)
			head = answer.latest.number
			registry.expect(rpc, answer, signal)
			return answer
		},
		async block(number, signal, how) {
			const heardTo = how === undefined || number < head ? head : number
			const block = await timed(await blockAt(number, heardTo, signal), heardTo, signal)
			// The endpoint that gave the head is behind: there is a higher block.
			if (block !== null && how !== undefined && newest !== null && number > head) falseHeadClaims.note(newest.rpc)
			return block && inCoins(withdrawals, block)
		},
		recheckChainId: () => endpoints.recheckChainId?.(),
		async shownHead(claimed, known, signal) {
			const show = async (number: bigint) => {
				const block = await showBlock(endpoints, { number, lists: withdrawals }, signal)
				return block && inCoins(withdrawals, block)
			}
			const shown = await shownHead(claimed, known, show)
			const { number } = shown.latest
			if (number >= claimed.latest.number) return claimed
			if (newest !== null) {
				const { rpc } = newest
				const facts = { endpoint: rpc.endpoint, claimed: claimed.latest.number, shown: number }
				log.info(
					facts,
					'an endpoint reported a head that it cannot show: the other endpoints are asked first for a while',
				)
				falseHeadClaims.note(rpc)
				if (options.settle !== undefined) settled.set(rpc, settleTargetOf(shown, { settle: options.settle }))
			}
			newest = null
			head = number
			return shown
		},
		async canRead(number, signal) {
			const span = { from: number, to: number }
			// No header that came with the head: it may be of another block.
			const question = { span, addresses: new Set([UNUSED_ADDRESS]), head, newest: null, settled: null }
			const need = { block: number, rank: rankOf }
			try {
				await endpoints.use((rpc, until) => reader.readFirst(rpc, question, until), signal, need)
				return true
			} catch (error) {
				if (error instanceof RpcError && isOfBlock(error)) return false
				throw error
			}
		},
		async locate(txHash, signal) {
			// Not asked, the transaction counts as in no block: its alert is retracted now and announced again with its
			// block.
			if (isPrivate) return null
			return endpoints.use((rpc) => locateAt(rpc, txHash, signal), signal)
		},
		async transaction(txHash, signal) {
			// One that cannot be traced says nothing about the endpoint.
			const job = mild(async (rpc) => {
				const capabilities = await registry.of(rpc, signal)
				const found = await readTransaction(gathered(rpc), txHash, capabilities, signal)
				if (found === null) return null
				const mayKnowReason = found.trace.succeeded === false && (capabilities.otsLevel ?? 0) >= fullLevel
				const { trace, block, receipt } = found
				const withTokens = await tokens.inReceipt(rpc, receipt, block, signal)
				const failureData = mayKnowReason ? await readFailureData(rpc, txHash, signal) : null
				return { trace, block, ...withTokens, failureData }
			})
			return endpoints.use(job, signal)
		},
		creator: createCreator({ endpoints, registry, isPrivate, clock }),
		isContract: contracts.hasCode,
		tokenWords: contracts.tokenWords,
		tokenBalance: contracts.tokenBalance,
		walk: prefetch.walk,
		walkAgain: secondLook.walk,
		expect: prefetch.expect,
		async close() {
			await endpoints.close()
		},
	}
}

/** The endpoint has no block of a number: the chain may have left it out. */
function lacksHeader({ kind, facts }: RpcError): boolean {
	return kind === 'no-data' && facts.method === 'eth_getBlockByNumber'
}

/** The endpoint cannot be asked now. */
function isOfEndpoint({ kind }: Pick<RpcError, 'kind'>): boolean {
	return kind === 'rate' || kind === 'quota' || kind === 'network'
}

/** An alert states the time of its block. Throws RpcError at the first block without one. */
function needTimes({ blocks, last }: Pick<Part, 'blocks' | 'last'>, endpoint: string): void {
	const timeless = [...blocks.values(), last].find(({ hasNoTime }) => hasNoTime)
	if (timeless === undefined) return
	const words = `${endpoint}: block ${timeless.number} has no timestamp that can be read`
	throw new RpcError(words, { kind: 'malformed', endpoint, content: true, ofHeader: true })
}

/** The error is about a block that is not there or cannot be read now. */
function isOfBlock({ kind }: RpcError): boolean {
	return !isOfEndpoint({ kind }) && kind !== 'auth' && kind !== 'unsupported' && kind !== 'bad-params'
}
