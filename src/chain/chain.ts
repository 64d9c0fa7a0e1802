/**
 * The room says what happened on one network, whatever endpoints it has and whatever they can do. This file is the port
 * that a poll reads through; `reader.ts` chooses how a span is read.
 */

import type { PriceOf } from '../core/cost.js'
import { providerOf } from '../core/prices.js'
import { firstOf } from '../core/spans.js'
import { settleTargetOf } from '../core/target.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Part, Span } from '../model/chain.js'
import type { Clock } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { Network } from '../model/watch.js'
import { inCoins, partInCoins, type WithdrawalLists, type WithdrawalRules } from './balances/withdrawals.js'
import { probeSettingOf } from './capabilities/permitted.js'
import type { SourceSetting } from './capabilities/probe.js'
import { type CapabilitiesRegistry, createCapabilitiesRegistry } from './capabilities/registry.js'
import { createCreator } from './creator.js'
import { type Need, soon } from './endpoints/endpoint.js'
import type { Endpoints } from './endpoints/endpoints.js'
import { createLateness } from './lateness.js'
import { findBlock, headerOnly, headWithin, locateAt } from './locate.js'
import { createAskSecond } from './logs/askSecond.js'
import { createContracts } from './logs/contracts.js'
import { createTokens, type TokenSetting } from './logs/tokens.js'
import { fullLevel, readFailureData } from './ots.js'
import { createPrefetch } from './prefetch.js'
import { createReader } from './reader.js'
import { readHead } from './readHead.js'
import type { Rpc } from './rpc/rpc.js'
import { readTransaction } from './transaction.js'
import { unbroken } from './unbroken.js'
import { moreOf, type WalkWait, waitOf } from './walkWait.js'
import type { Header } from './wire.js'
import { createWitnesses } from './witnesses.js'

export interface ChainOptions {
	readonly endpoints: Pick<Endpoints, 'use' | 'close'> & Partial<Pick<Endpoints, 'states'>>
	/** Default: what each endpoint is seen to do best. */
	readonly source?: SourceSetting
	/** Whole blocks only, and no question about one address or transaction. Default: false. */
	readonly isPrivate?: boolean
	/** How tokens are read; absent: not at all. */
	readonly tokens?: TokenSetting
	/** Whether the fees are wanted that the addresses pay. Default: true. */
	readonly fees?: boolean
	/** What calls to an endpoint cost; null: not known. Default: by its host. */
	readonly priceAt?: (endpoint: string) => PriceOf | null
	/** A walk also gives transactions that an address merely sent, for their fees. Default: false. */
	readonly withSent?: boolean
	/** Rows that one part may bring, of which up to six wait in memory. Default: 4,000. */
	readonly rowsAtOnce?: number
	/** When a block has settled; absent: none is taken to have. */
	readonly settle?: Network['settle']
	/** Default: withdrawals are paid in the chain's coin, and how their roots are made is not known. */
	readonly withdrawals?: WithdrawalRules
	/** What is known of the endpoints, where others ask them too. Default: its own. */
	readonly registry?: CapabilitiesRegistry
	/**
	 * How long a walk waits for one block, and for several: then it fails, what it has asked for stays under way, and the
	 * next walk from there takes it up. Default: as long as it takes.
	 */
	readonly walkWait?: WalkWait
	/** Default: the wall clock. */
	readonly clock?: Clock
	readonly log: Log
}

const FIRST_BLOCKS = 100
/** Some may be a stranger's that nobody can read, and what the others hold is to be told soon. */
const FIRST_BLOCKS_SOON = 8
const MOST_BLOCKS = 10_000
/** With tokens the header of each block is asked for. */
const MOST_BLOCKS_WITH_TOKENS = 500
/** Answers that may wait in memory, or be on their way. */
const MOST_AHEAD = 6
/** After a timeout the same is asked again, for fewer blocks. */
const SMALLER_TRIES = 2

export function createChain(options: ChainOptions): Chain {
	const { endpoints, source = 'auto', isPrivate = false, fees = true, withSent = false } = options
	const { rowsAtOnce, priceAt = (endpoint) => providerOf(endpoint)?.creditsOf ?? null } = options
	const { clock = Date.now, log } = options
	const registry =
		options.registry ??
		createCapabilitiesRegistry({ setting: probeSettingOf({ setting: source, isPrivate }), clock, log })
	const withdrawals: WithdrawalLists = { areCoins: true, rootsFit: false, ...options.withdrawals, mayBePaid: false }
	const contracts = createContracts({ endpoints, isPrivate })
	const tokens = createTokens(options.tokens, { isPrivate, clock, log })
	const reader = createReader({
		setting: source,
		isPrivate,
		registry,
		fees,
		withSent,
		withdrawals,
		readsHeaders: tokens.areAsked,
		rowsAtOnce,
		priceAt,
		clock,
		log,
	})
	/** The newest header, and the endpoint that has given it at the last look: what others gave before may be past. */
	let newest: { readonly rpc: Rpc; readonly header: Header } | null = null
	/** Number of the last block that has settled, by the word of each. */
	const settled = new WeakMap<Rpc, bigint>()
	let head = 0n
	/** Which endpoint read last: it shows how much may be asked ahead. Null before the first. */
	let reading: Rpc | null = null
	const witnesses = createWitnesses((rpc) => registry.known(rpc)?.clientVersion ?? null)
	const askSecond = createAskSecond({ endpoints, rank: witnesses.rank, clock })
	const lateness = createLateness(clock)
	const first = options.walkWait === undefined ? FIRST_BLOCKS : FIRST_BLOCKS_SOON
	const patience = (usualMs: number) => (reading ?? newest?.rpc)?.limits.patience(usualMs) ?? usualMs
	const prefetching = {
		width: () => (reading === null ? 1 : Math.min(MOST_AHEAD, reading.limits.speed.width())),
		blocks(addresses: AddressSet) {
			if (addresses.size === 0) return MOST_BLOCKS
			return reading === null ? first : reader.blocksAtOnce(reading, addresses)
		},
		clock,
		...(options.walkWait && {
			waitMs: waitOf(options.walkWait, () => reading === null, patience),
			moreMs: moreOf(options.walkWait),
			onLate: ({ from }: Span) => lateness.note(from),
		}),
	}
	const prefetch = createPrefetch({
		...prefetching,
		async readFirst(span, addresses, signal) {
			const { rpc, part } = await readFirst(span, addresses, signal, { isAgain: false })
			witnesses.note(part.span, rpc)
			return part
		},
	})
	const secondLook = createPrefetch({
		...prefetching,
		async readFirst(span, addresses, signal) {
			const first = witnesses.readerOf(span.from)
			const other = first === null ? {} : { rank: witnesses.rank(first) }
			const { rpc, part } = await readFirst(span, addresses, signal, { isAgain: true, ...other })
			return first === null || first === rpc ? part : { ...part, confirms: first.endpoint }
		},
	})

	async function readPart(
		rpc: Rpc,
		{ span, addresses, isAgain }: { readonly span: Span; readonly addresses: AddressSet; readonly isAgain: boolean },
		signal: AbortSignal,
	): Promise<Part> {
		if (addresses.size === 0) return headerOnly(rpc, span, signal)
		try {
			const most = tokens.areAsked() ? firstOf(span, MOST_BLOCKS_WITH_TOKENS) : span
			const known = { newest: newest?.rpc === rpc ? newest.header : null, settled: settled.get(rpc) ?? null }
			const question = { span: most, addresses, head, ...known }
			const askAnother = askSecond(rpc, span.to, signal)
			const early = tokens.begin(rpc, { ...question, askAnother, isAgain }, signal)
			const { headers, ...part } = await reader.readFirst(rpc, question, signal)
			reading = rpc
			const whole = { ...partInCoins(withdrawals, part), endpoint: rpc.endpoint }
			return await tokens.addTo(whole, { rpc, addresses, headers, early, askAnother, isAgain }, signal)
		} catch (error) {
			// What it has given may be what is not true any more.
			if (error instanceof RpcError && error.kind === 'unsettled' && newest?.rpc === rpc) newest = null
			throw error
		}
	}

	/** As much of the span as one endpoint bears at once. */
	async function readFirst(
		whole: Span,
		addresses: AddressSet,
		signal: AbortSignal,
		{ isAgain, ...rank }: Pick<Need, 'rank'> & { readonly isAgain: boolean },
	): Promise<{ readonly rpc: Rpc; readonly part: Part }> {
		let span = whole
		for (let tries = 0; ; tries++) {
			try {
				const need = { block: span.to, rank: lateness.rank, ...rank }
				const asked = { span, addresses, isAgain }
				const read = async (rpc: Rpc) => {
					lateness.asks(span.from, rpc)
					const part = await readPart(rpc, asked, signal)
					lateness.cameWell(span.from, rpc)
					return { rpc, part }
				}
				return await endpoints.use(read, signal, need)
			} catch (error) {
				if (!(error instanceof RpcError) || tries === SMALLER_TRIES) throw error
				const reached = headWithin(span, endpoints.states?.() ?? [])
				if (reached !== null) span = { from: span.from, to: reached }
				else if (error.kind !== 'timeout' || span.to === span.from) throw error
			}
		}
	}

	return {
		async head(signal) {
			const ask = async (rpc: Rpc, until: AbortSignal) => {
				return { rpc, answer: await readHead(rpc, registry.known(rpc), withdrawals, until) }
			}
			// Which chain it is on is asked beside: what it says counts when that is known.
			const { rpc, answer } = await endpoints.use(ask, signal, { ...soon, beside: true })
			newest = { rpc, header: answer.latest }
			const { settle } = options
			const settledTo = settle === undefined ? null : settleTargetOf(answer, { settle })
			if (settledTo !== null) settled.set(rpc, settledTo)
			// What an earlier poll has read near the head may have left the chain since.
			for (const { forget } of [prefetch, secondLook]) forget(settledTo)
			head = answer.latest.number
			registry.expect(rpc, answer, signal)
			return answer
		},
		async block(number, signal) {
			const block = await findBlock(endpoints, { number, head, lists: withdrawals }, signal)
			return block && inCoins(withdrawals, block)
		},
		async locate(txHash, signal) {
			// Unasked, it is in no block: withdrawn now, and told again when its block is looked at.
			if (isPrivate) return null
			return endpoints.use((rpc) => locateAt(rpc, txHash, signal), signal)
		},
		async transaction(txHash, signal) {
			return endpoints.use(async (rpc) => {
				const capabilities = await registry.of(rpc, signal)
				const found = await readTransaction(rpc, txHash, capabilities, signal)
				if (found === null) return null
				const mayTell = found.trace.succeeded === false && (capabilities.otsLevel ?? 0) >= fullLevel
				const { trace, block, receipt } = found
				const withTokens = await tokens.inReceipt(rpc, receipt, block, signal)
				const failureData = mayTell ? await readFailureData(rpc, txHash, signal) : null
				return { trace, block, ...withTokens, failureData }
			}, signal)
		},
		creator: createCreator({ endpoints, registry, isPrivate, clock }),
		isContract: contracts.hasCode,
		tokenWords: contracts.tokenWords,
		tokenBalance: contracts.tokenBalance,
		walk: (span, addresses, signal) => unbroken(prefetch.walk(span, addresses, signal)),
		walkAgain: (span, addresses, signal) => unbroken(secondLook.walk(span, addresses, signal)),
		expect: prefetch.expect,
		async close() {
			await endpoints.close()
		},
	}
}
