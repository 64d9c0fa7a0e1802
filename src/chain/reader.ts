import { areBlocksCheaper } from '../core/cost/cost.js'
import { firstOf, lengthOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { AddressSet, Part, Span } from '../model/chain.js'
import type { Clock } from '../model/glossary.js'
import type { Log } from '../model/ports.js'
import { blockCall, needBlock } from './blocks/batchedCalls.js'
import type { Costs } from './blocks/costs.js'
import { createReceiptNeed } from './blocks/receiptNeed.js'
import type { WithdrawalLists } from './blocks/withdrawals.js'
import type { Capabilities } from './capabilities/capabilities.js'
import { permitted } from './capabilities/permitted.js'
import type { SourceSetting } from './capabilities/probe.js'
import type { CapabilitiesRegistry } from './capabilities/registry.js'
import { firstList } from './limits/limits.js'
import { afterAnswer, afterRefusal, type Bounds, type SpanSize } from './limits/spanSize.js'
import { misread } from './rpc/border.js'
import type { Rpc } from './rpc/rpc.js'
import { debugTraceSource } from './sources/debugTrace.js'
import { createDensities } from './sources/densities.js'
import { movedIn, type Sampling } from './sources/sampling.js'
import type { Source, SourceName } from './sources/source.js'
import { traceBlockSource } from './sources/traceBlock.js'
import { traceFilterSource } from './sources/traceFilter.js'
import { createUnknownKinds } from './traces/unknownKinds.js'
import type { Header } from './wire/wire.js'

export interface Question {
	readonly span: Span
	/** Not empty. */
	readonly addresses: AddressSet
	/** The newest header that this endpoint has given. */
	readonly newest: Header | null
	/** Number of the newest block that any endpoint has given. */
	readonly head: bigint
	/** Number of the last settled block, as this endpoint says; null: not known. */
	readonly settled: bigint | null
}

type Unread = Pick<Question, 'span' | 'addresses' | 'head'>

/** Reads from one endpoint what it gives in one request: from its best source, then from the others. */
export interface Reader {
	/** The first blocks of the span. Throws RpcError; after `timeout` the next request asks for fewer blocks. */
	readFirst(rpc: Rpc, question: Question, signal: AbortSignal): Promise<ReadPart>
	/** How many blocks of a long span to ask this endpoint for at once, with the source that would be chosen. */
	blocksAtOnce(rpc: Rpc, addresses: AddressSet): number
}

export interface ReadPart extends Part {
	readonly source: SourceName
	/** All headers that the source asked for, at least that of the last block. */
	readonly headers: readonly Header[]
}

export interface ReaderOptions {
	readonly setting: SourceSetting
	/** Ask for whole blocks only, so that the provider never learns which addresses are watched. */
	readonly isPrivate: boolean
	readonly withdrawals: WithdrawalLists
	/** Whether the caller needs the header of each block, for these addresses. */
	readonly readsHeaders: (addresses: AddressSet) => boolean
	readonly registry: CapabilitiesRegistry
	/** Read the fees of transactions that an address has sent. */
	readonly fees: boolean
	/** See `SourceOptions`. */
	readonly mayLack: boolean
	/** Which blocks of a span that a filter gave are read whole and compared. Absent: none. */
	readonly sampling?: Sampling | undefined
	readonly clock: Clock
	readonly log: Log
}

/** trace_filter starts with what the strictest known node accepts (Reth: 100 blocks); whole blocks weigh much more. */
const BOUNDS: Readonly<Record<SourceName, Bounds>> = {
	trace_filter: { first: 100, most: 10_000 },
	trace_block: { first: 4, most: 50 },
	debug_traceBlockByNumber: { first: 2, most: 20 },
}
/** Near the head a block may not be indexed yet, so an answer that proves itself is better (docs/nodes.md). */
const TIP_BLOCKS = 16n
const TIP_SPAN = 3n

/** `whole`: the source of the samples. */
type Sampled = Pick<Question, 'addresses'> & { readonly whole: SourceName }

export function createReader(options: ReaderOptions): Reader {
	const { setting, isPrivate, withdrawals, registry, fees, mayLack } = options
	const { clock, log } = options
	const onUnknown = createUnknownKinds(log)
	const onForeign = createForeignCount(log)
	const densities = createDensities()
	const costs: Costs = {
		receipts: createReceiptNeed({ fees, isProved: (rpc) => registry.known(rpc)?.marksFailures ?? false, clock }),
		rowsPerBlock: densities.rowsPerBlock,
		hasWholeBlocks: (rpc) => mayReadWhole(rpc),
	}
	const sources: Readonly<Record<SourceName, Source>> = {
		trace_filter: traceFilterSource({
			onUnknown,
			costs,
			withdrawals,
			mayLack,
			// Where books are kept, they show what came to an heir.
			blankEnds: !fees,
		}),
		trace_block: traceBlockSource({ onUnknown, onForeign, isPrivate, costs, withdrawals, mayLack }),
		debug_traceBlockByNumber: debugTraceSource({
			onUnknown,
			onForeign,
			isPrivate,
			costs,
			withdrawals,
			mayLack,
			tracer: (rpc) => registry.known(rpc)?.tracer ?? 'callTracer',
		}),
	}

	function mayReadWhole(rpc: Rpc): boolean {
		const capabilities = registry.known(rpc)
		if (capabilities === null || setting !== 'auto') return false
		return capabilities.methods.trace_block === 'yes' && registry.sourcesOf(rpc, capabilities).includes('trace_block')
	}

	function sizeOf({ limits }: Rpc, source: SourceName): SpanSize {
		return limits.spanSize(source, BOUNDS[source])
	}

	/** While an endpoint is probed, the header that its first request needs is asked at the same time. */
	async function readEnd(rpc: Rpc, { span, newest }: Question, signal: AbortSignal): Promise<Header | null> {
		if (registry.known(rpc) !== null || newest?.number === span.to) return null
		const { method, params } = blockCall(span.to)
		return needBlock(await rpc.call(method, params, signal), span.to, rpc.endpoint)
	}

	function choose(rpc: Rpc, capabilities: Capabilities, question: Unread): readonly SourceName[] {
		const { span, addresses, head } = question
		const able = permitted(registry.sourcesOf(rpc, capabilities), { setting, isPrivate })
		if (able[0] !== 'trace_filter' || !able.includes('trace_block')) return able
		const length = lengthOf(span)
		const isTip = length <= TIP_SPAN && span.to + TIP_BLOCKS > head
		const blocks = Math.min(Number(length), sizeOf(rpc, 'trace_filter').blocks)
		const lists = Math.ceil(addresses.size / firstList)
		const readsHeaders = withdrawals.mayBePaid || options.readsHeaders(addresses)
		const asked = { blocks, lists, readsHeaders }
		const isCheaper = areBlocksCheaper(asked, densities.of(addresses))
		return isTip || isCheaper ? ['trace_block', ...able.filter((source) => source !== 'trace_block')] : able
	}

	/** Reads as much as the span size allows, and less when the endpoint refuses that much. */
	async function readBy(name: SourceName, rpc: Rpc, question: Question, signal: AbortSignal): Promise<ReadPart> {
		const bounds = BOUNDS[name]
		for (;;) {
			const size = sizeOf(rpc, name)
			const span = firstOf(question.span, size.blocks)
			const asked = Number(lengthOf(span))
			const last = question.newest?.number === span.to ? question.newest : null
			try {
				const { addresses, settled } = question
				const isSettled = settled !== null && span.to <= settled
				const { rows: rowCount, ...part } = await sources[name].read({ rpc, span, addresses, last, isSettled }, signal)
				densities.note(addresses, part, name === 'trace_filter' ? null : rowCount)
				rpc.limits.setSpanSize(name, afterAnswer(sizeOf(rpc, name), asked, rowCount, bounds))
				return { ...part, source: name }
			} catch (thrown) {
				signal.throwIfAborted()
				const error = misread(thrown, { endpoint: rpc.endpoint, method: name })
				if (!isTooMuch(error) || asked === 1) throw error
				const less = afterRefusal(size, asked, error.facts.limit)
				rpc.limits.setSpanSize(name, less)
				log.debug(
					{ endpoint: rpc.endpoint, source: name, asked, next: less.blocks },
					'fewer blocks are asked for at once',
				)
				// A refusal is quick: ask the same endpoint again at once. A timeout or server error may be the endpoint's
				// trouble.
				if (error.kind !== 'too-large') throw error
			}
		}
	}

	/** Throws RpcError `malformed` where the filter left out what a whole block shows. */
	async function checkSamples(
		rpc: Rpc,
		part: ReadPart,
		{ addresses, whole }: Sampled,
		signal: AbortSignal,
	): Promise<void> {
		for (const number of options.sampling?.(part.span) ?? []) {
			const span = { from: number, to: number }
			const last = part.headers.find((header) => header.number === number) ?? null
			const read = sources[whole].read({ rpc, span, addresses, last }, signal)
			const sample = await read.catch((error: unknown) => {
				signal.throwIfAborted()
				if (!(error instanceof RpcError)) throw error
				log.debug({ endpoint: rpc.endpoint, block: number, err: error }, 'a sample could not be read')
				return null
			})
			if (sample === null) continue
			const [given, shown] = [movedIn(part, number, addresses), movedIn(sample, number, addresses)]
			const wrong = (source: SourceName, other: SourceName) =>
				new RpcError(`${rpc.endpoint}: ${source} lacks movements in block ${number} that ${other} shows`, {
					kind: 'malformed',
					endpoint: rpc.endpoint,
					content: true,
				})
			if ([...shown].some((one) => !given.has(one))) throw wrong('trace_filter', whole)
			if ([...given].some((one) => !shown.has(one))) registry.distrust(rpc, whole, wrong(whole, 'trace_filter'))
		}
	}

	return {
		blocksAtOnce(rpc, addresses) {
			const capabilities = registry.known(rpc)
			if (capabilities === null) return BOUNDS.trace_filter.first
			const span = { from: 0n, to: BigInt(BOUNDS.trace_filter.most) }
			const [source = 'trace_filter'] = choose(rpc, capabilities, { span, addresses, head: span.to })
			return sizeOf(rpc, source).blocks
		},
		async readFirst(rpc, question, signal) {
			const [capabilities, end] = await Promise.all([registry.of(rpc, signal), readEnd(rpc, question, signal)])
			let failure =
				isPrivate && capabilities.sources.includes('trace_filter') ? needsBlocks(rpc) : incapable(rpc, capabilities)
			const able = choose(rpc, capabilities, question)
			for (const source of able) {
				try {
					const part = await readBy(source, rpc, { ...question, newest: end ?? question.newest }, signal)
					const whole = able.find((one) => one !== 'trace_filter')
					if (source === 'trace_filter' && whole) await checkSamples(rpc, part, { ...question, whole }, signal)
					return part
				} catch (error) {
					if (!(error instanceof RpcError) || setting !== 'auto' || !mayFallBack(error)) throw error
					if (isLasting(error)) registry.distrust(rpc, source, error)
					failure = error
				}
			}
			throw failure
		},
	}
}

/** Logs transactions that the headers do not name, with their number so far. */
function createForeignCount(log: Log): (block: bigint, count: number) => void {
	let total = 0
	return (block, count) => {
		total += count
		log.debug({ block, count, total }, 'an answer has transactions that the header does not name: they are ignored')
	}
}

function incapable({ endpoint }: Rpc, { reasons }: Capabilities): RpcError {
	const why = reasons.join('; ') || 'each of its sources of traces failed when it was used'
	return new RpcError(`${endpoint} cannot tell what happens inside of transactions: ${why}`, {
		kind: 'unsupported',
		endpoint,
	})
}

function needsBlocks({ endpoint }: Rpc): RpcError {
	const words = `${endpoint} gives no whole blocks of traces, and \`private: true\` allows nothing else`
	return new RpcError(words, { kind: 'unsupported', endpoint })
}

/** A smaller request may succeed. */
function isTooMuch({ kind }: RpcError): boolean {
	return kind === 'too-large' || kind === 'timeout' || kind === 'server'
}

/** Whether another source may succeed. It cannot if the cause is the endpoint or its current load. */
function mayFallBack(error: RpcError): boolean {
	return isLasting(error) || isTooMuch(error)
}

function isLasting({ kind, facts }: RpcError): boolean {
	return (
		kind === 'unsupported' ||
		kind === 'bad-params' ||
		(kind === 'malformed' && facts.content === true && !facts.ofHeader)
	)
}
