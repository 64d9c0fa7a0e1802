import { DeadlinePassed, withDeadline } from '../../base/deadline.js'
import { RpcError } from '../../errors.js'
import type { HeadAnswer } from '../heads/heads.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Tracer } from '../sources/debugTrace.js'
import type { SourceName } from '../sources/source.js'
import { type Header, quantity, readBlock, smallNumber } from '../wire.js'
import { type Capabilities, type Finding, isBlindByName, notAsked } from './capabilities.js'
import { within } from './eachBlock.js'
import { findProbeBlocks } from './probeBlocks.js'
import { probeDebug } from './probeDebug.js'
import { probeFailures } from './probeFailures.js'
import { filterNotAsked, probeFilter } from './probeFilter.js'
import { probeTransaction } from './probeTransaction.js'
import { probeWholeBlocks } from './probeWholeBlocks.js'

/** What an operator has forced is used as it is. */
export type SourceSetting = 'auto' | SourceName

/** `whole blocks`: nothing is asked of addresses or single transactions, not even of strangers. */
export type ProbeSetting = SourceSetting | 'whole blocks'

export interface ProbeQuestion {
	readonly setting: ProbeSetting
	/** What the endpoint has said of its head a moment ago, on the right chain; default: it is asked. */
	readonly headAnswer?: HeadAnswer | null
	/**
	 * Whether somebody waits for what it finds: then no block is waited for long, and what cannot be shown in a few
	 * seconds is trusted for now. Default: false.
	 */
	readonly brief?: boolean
}

/** Of a trial that somebody waits for: for one answer, and for all that is tried on blocks. */
const briefAnswerMs = 2_500
const briefMs = 8_000
/** Of one that nobody waits for. */
const patientAnswerMs = 40_000

type Basics = Pick<Capabilities, 'clientVersion' | 'chainId' | 'otsLevel' | 'head' | 'safeTag' | 'finalizedTag'>

interface TraceQuestion {
	readonly setting: ProbeSetting
	readonly head: bigint
	/** To prove answers by; none: nothing is proved. */
	readonly blocks: readonly Header[]
	readonly basics: Basics
}

/**
 * Asks an endpoint what it can do, and checks its answers against each other: some ten cheap questions in four requests
 * (docs/nodes.md, "What the probe looks at"). Throws RpcError when the endpoint cannot be judged now.
 */
export async function probe(
	rpc: Rpc,
	{ setting, headAnswer = null, brief = false }: ProbeQuestion,
	signal: AbortSignal,
): Promise<Capabilities> {
	// Each wait is the way to the node and back: what does not depend on an answer goes with it.
	const basicsAsked = probeBasics(rpc, headAnswer, signal)
	const head = headAnswer?.latest.number ?? (await basicsAsked).head.number
	const [basics, blocks] = await Promise.all([basicsAsked, findProbeBlocks(rpc, head, signal)])
	const tried = within(rpc, brief ? briefAnswerMs : patientAnswerMs)
	const onBlocks = (until: AbortSignal) => probeTraces(tried, { setting, head, blocks, basics }, until)
	const found = await (brief ? ended(withDeadline(rpc.limits.patience(briefMs), onBlocks, signal)) : onBlocks(signal))
	if (found !== null && (found.proved || blocks.length === 0 || !found.passing)) return { ...basics, ...found }
	// Blocks to prove it by may be such as nobody can trace, by a stranger's doing: others are read, and trusted for now.
	const rest = await probeTraces(tried, { setting, head, blocks: [], basics }, signal)
	const sources = unshown(rest.sources)
	const reasons = [...(found?.reasons.slice(0, -1) ?? []), UNSHOWN]
	if (sources.length === 0 && found !== null) return { ...basics, ...found }
	return { ...basics, ...rest, sources, trusted: sources.length > 0, reasons, passing: true }
}

const UNSHOWN = 'the blocks that it was to be tried on could not be read: its answers are trusted for now'

/** Null when its time was up. */
async function ended<T>(job: Promise<T>): Promise<T | null> {
	try {
		return await job
	} catch (error) {
		if (error instanceof DeadlinePassed) return null
		throw error
	}
}

/** Without a filter that was not checked against whole blocks, where there is another: it may leave out anything. */
function unshown(sources: readonly SourceName[]): readonly SourceName[] {
	const others = sources.filter((source) => source !== 'trace_filter')
	return others.length > 0 ? others : sources
}

async function probeTraces(
	rpc: Rpc,
	{ setting, head, blocks, basics }: TraceQuestion,
	signal: AbortSignal,
): Promise<Omit<Capabilities, keyof Basics>> {
	const isPrivate = setting === 'whole blocks'
	const [block, tree] = await Promise.all([
		probeWholeBlocks(rpc, head, blocks, signal),
		isPrivate ? notAsked : probeTransaction(rpc, blocks, signal),
	])
	const specimens = block.specimens
	const [filter, marksFailures] = await Promise.all([
		isPrivate ? filterNotAsked : probeFilter(rpc, specimens, head, signal),
		isPrivate ? false : probeFailures(rpc, specimens, signal),
	])
	const needsDebug = block.finding.ability !== 'yes' || setting === 'debug_traceBlockByNumber'
	const debug = needsDebug ? await probeDebug(rpc, blocks, signal) : { finding: notAsked, tracer: null }

	const blind = isBlindByName(basics.clientVersion) ? BLIND : null
	const findings = {
		trace_filter: blind !== null && filter.finding.ability !== 'no' ? wrong(blind) : filter.finding,
		trace_block: block.finding,
		trace_transaction: tree,
		debug_traceBlockByNumber: debug.finding,
	}
	const sources = sourcesOf(findings, debug.tracer)
	const proved = specimens.length > 0 || debug.finding.ability === 'yes'
	return {
		methods: {
			trace_filter: findings.trace_filter.ability,
			trace_block: findings.trace_block.ability,
			trace_transaction: findings.trace_transaction.ability,
			debug_traceBlockByNumber: findings.debug_traceBlockByNumber.ability,
		},
		tracer: debug.tracer,
		filterMode: filter.filterMode,
		beyondHead: filter.beyondHead,
		marksFailures,
		rewards: block.rewards,
		probed: blocks.map(({ number }) => number),
		proved,
		sources,
		trusted: sources.length > 0,
		passing: Object.values(findings).some(({ passing }) => passing === true),
		reasons: reasonsOf(findings, sources, proved),
	}
}

const BLIND = 'by its name it is Besu, whose trace_filter gives no self-destructs, creations or rewards by address'

function wrong(why: string): Finding {
	return { ability: 'wrong', why }
}

type Findings = Readonly<Record<keyof Capabilities['methods'], Finding>>

/**
 * Best first. trace_filter counts only when it was proved, and with trace_transaction to judge what it finds: on a
 * chain with nothing to prove it by, trace_block is better, which proves itself.
 */
function sourcesOf({ trace_filter, trace_block, trace_transaction }: Findings, tracer: Tracer | null): SourceName[] {
	const may = ({ ability }: Finding) => ability === 'yes' || ability === 'unknown'
	const filter = may(trace_filter) && may(trace_transaction) ? (['trace_filter'] as const) : []
	const block = may(trace_block) ? (['trace_block'] as const) : []
	const debug = tracer === null ? [] : (['debug_traceBlockByNumber'] as const)
	return trace_filter.ability === 'yes' ? [...filter, ...block, ...debug] : [...block, ...filter, ...debug]
}

function reasonsOf(findings: Findings, sources: readonly SourceName[], proved: boolean): readonly string[] {
	const asked = Object.values(findings).flatMap(({ why }) => (why === null ? [] : [why]))
	if (sources.length === 0) return [...asked, 'nothing here tells of what happens inside of transactions']
	return proved ? asked : [...asked, 'no transactions to prove its answers by: they are trusted for now']
}

async function probeBasics(rpc: Rpc, headAnswer: HeadAnswer | null, signal: AbortSignal): Promise<Basics> {
	const names = ['ots_getApiLevel', 'web3_clientVersion', 'eth_chainId'].map((method) => ({ method, params: [] }))
	if (headAnswer !== null) {
		const [level, version, chainId] = await rpc.batch(names, signal)
		const { number, timestampS } = headAnswer.latest
		return {
			...namesIn(rpc, level, version, chainId),
			head: { number, timestampS },
			safeTag: headAnswer.safe !== null,
			finalizedTag: headAnswer.finalized !== null,
		}
	}
	const byTag = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })
	const [level, version, chainId, latest, safe, finalized] = await rpc.batch(
		[...names, byTag('latest'), byTag('safe'), byTag('finalized')],
		signal,
	)
	if (latest instanceof RpcError) throw latest
	const reading = { endpoint: rpc.endpoint, method: 'eth_getBlockByNumber' }
	const head = readBlock(latest, reading)
	if (head === null) throw new RpcError(`${rpc.endpoint} has no head`, { kind: 'no-data', ...reading })
	const isBlock = (raw: unknown) => !(raw instanceof RpcError) && raw !== null && readBlock(raw, reading) !== null
	return {
		...namesIn(rpc, level, version, chainId),
		head: { number: head.number, timestampS: head.timestampS },
		safeTag: isBlock(safe),
		finalizedTag: isBlock(finalized),
	}
}

function namesIn(rpc: Rpc, level: unknown, version: unknown, chainId: unknown) {
	return {
		otsLevel: smallNumber(level),
		clientVersion: typeof version === 'string' ? rpc.words(version) : null,
		chainId: quantity(chainId),
	}
}
