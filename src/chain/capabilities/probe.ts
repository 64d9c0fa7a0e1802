import { withDeadline } from '../../base/waits/deadline.js'
import { RpcError } from '../../errors.js'
import type { HeadAnswer } from '../heads/heads.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Tracer } from '../sources/debugTrace.js'
import type { SourceName } from '../sources/source.js'
import { type Header, quantity, readBlock, smallNumber } from '../wire/wire.js'
import { type Capabilities, type Finding, isBlindByName, notAsked } from './capabilities.js'
import { within } from './eachBlock.js'
import { findProbeBlocks } from './probeBlocks.js'
import { probeDebug } from './probeDebug.js'
import { probeFailures } from './probeFailures.js'
import { filterNotAsked, probeFilter } from './probeFilter.js'
import { probeTransaction } from './probeTransaction.js'
import { blocksNotAsked, probeWholeBlocks } from './probeWholeBlocks.js'

/** A source that the operator chose is used as it is. */
export type SourceSetting = 'auto' | SourceName

/** `whole blocks`: no request about addresses or transactions; `by debug`: by debug_traceBlockByNumber alone. */
export type ProbeSetting = SourceSetting | 'whole blocks' | 'whole blocks by debug'

export interface ProbeQuestion {
	readonly setting: ProbeSetting
	/** The head that the endpoint has just given, on the right chain. Default: it is asked for. */
	readonly headAnswer?: HeadAnswer | null
	/** A caller waits: deadlines are short, and what is not checked in seconds is trusted for now. Default: false. */
	readonly brief?: boolean
}

/** Deadlines of a probe with a waiting caller: for one answer, and for all checks on blocks. */
const briefAnswerMs = 2_500
const briefMs = 8_000
/** Deadline for one answer of a probe without a waiting caller. */
const patientAnswerMs = 40_000

type Basics = Pick<Capabilities, 'clientVersion' | 'chainId' | 'otsLevel' | 'head' | 'safeTag' | 'finalizedTag'>

interface TraceQuestion {
	readonly setting: ProbeSetting
	readonly head: bigint
	/** Blocks to check answers by; empty: nothing is checked. */
	readonly blocks: readonly Header[]
	readonly basics: Basics
}

/**
 * Probes what an endpoint can do and checks its answers against each other: some ten cheap calls in four requests
 * (docs/nodes.md, "What the probe looks at"). Throws RpcError when the endpoint cannot be judged now.
 */
export async function probe(
	rpc: Rpc,
	{ setting, headAnswer = null, brief = false }: ProbeQuestion,
	signal: AbortSignal,
): Promise<Capabilities> {
	// Each wait is a round trip, so requests that do not depend on an answer go out together.
	const basicsAsked = probeBasics(rpc, headAnswer, signal)
	const claimed = headAnswer?.latest.number ?? (await basicsAsked).head.number
	const [basics, { head, blocks }] = await Promise.all([basicsAsked, findProbeBlocks(rpc, claimed, signal)])
	const tried = within(rpc, brief ? briefAnswerMs : patientAnswerMs)
	const onBlocks = (until: AbortSignal) => probeTraces(tried, { setting, head, blocks, basics }, until)
	const found = await (brief
		? withDeadline(rpc.limits.allowance(briefMs), onBlocks, () => null, signal)
		: onBlocks(signal))
	if (found !== null && (found.proved || blocks.length === 0 || !found.passing)) return { ...basics, ...found }
	// An attacker may have made the probed blocks untraceable: probe without them, and trust the endpoint for now.
	const rest = await probeTraces(tried, { setting, head, blocks: [], basics }, signal)
	const sources = unshown(rest.sources)
	const reasons = [...(found?.reasons.slice(0, -1) ?? []), UNSHOWN]
	if (sources.length === 0 && found !== null) return { ...basics, ...found }
	return { ...basics, ...rest, sources, trusted: sources.length > 0, reasons, passing: true }
}

const UNSHOWN = 'the blocks that it was to be tried on could not be read: its answers are trusted for now'

/** Leaves out a filter that was not checked against whole blocks, if there is another source: it may be incomplete. */
function unshown(sources: readonly SourceName[]): readonly SourceName[] {
	const others = sources.filter((source) => source !== 'trace_filter')
	return others.length > 0 ? others : sources
}

async function probeTraces(
	rpc: Rpc,
	{ setting, head, blocks, basics }: TraceQuestion,
	signal: AbortSignal,
): Promise<Omit<Capabilities, keyof Basics>> {
	const isByDebug = setting === 'whole blocks by debug'
	const isPrivate = setting === 'whole blocks' || isByDebug
	const [block, tree] = await Promise.all([
		isByDebug ? blocksNotAsked : probeWholeBlocks(rpc, head, blocks, signal),
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

/** Best first. trace_filter counts only if checked, with trace_transaction; else trace_block, which proves itself. */
function sourcesOf({ trace_filter, trace_block, trace_transaction }: Findings, tracer: Tracer | null): SourceName[] {
	const may = ({ ability }: Finding) => ability === 'yes' || ability === 'unknown'
	const filter = may(trace_filter) && may(trace_transaction) ? (['trace_filter'] as const) : []
	const block = may(trace_block) ? (['trace_block'] as const) : []
	const debug = tracer === null ? [] : (['debug_traceBlockByNumber'] as const)
	return trace_filter.ability === 'yes' ? [...filter, ...block, ...debug] : [...block, ...filter, ...debug]
}

function reasonsOf(findings: Findings, sources: readonly SourceName[], proved: boolean): readonly string[] {
	const asked = Object.values(findings).flatMap(({ why }) => (why === null ? [] : [why]))
	if (sources.length === 0) return [...asked, 'no method of this endpoint returns call traces']
	return proved ? asked : [...asked, 'no transactions to prove its answers by: they are trusted for now']
}

function timeOf({ number, timestampS, hasNoTime }: Capabilities['head']): Capabilities['head'] {
	return { number, timestampS, ...(hasNoTime && { hasNoTime }) }
}

async function probeBasics(rpc: Rpc, headAnswer: HeadAnswer | null, signal: AbortSignal): Promise<Basics> {
	const names = ['ots_getApiLevel', 'web3_clientVersion', 'eth_chainId'].map((method) => ({ method, params: [] }))
	if (headAnswer !== null) {
		const [level, version, chainId] = await rpc.batch(names, signal)
		return {
			...namesIn(rpc, level, version, chainId),
			head: timeOf(headAnswer.latest),
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
		head: timeOf(head),
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
