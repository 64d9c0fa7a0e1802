import { createTimeSlices } from '../../base/timeSlices.js'
import { RpcError } from '../../errors.js'
import type { ToldHead } from '../heads/heads.js'
import { misread } from '../rpc/border.js'
import type { Rpc } from '../rpc/rpc.js'
import { askAll } from '../sources/ask.js'
import type { Tracer } from '../sources/debugTrace.js'
import { checkCoverage } from '../sources/headers.js'
import type { SourceName } from '../sources/source.js'
import { checkBlock, groupRows, treeOf } from '../traces/assemble.js'
import type { Row } from '../traces/parityRows.js'
import { type Header, hexOf, quantity, readBlock, smallNumber } from '../wire.js'
import { type Capabilities, type Finding, findingOf, fine, isBlindByName, notAsked } from './capabilities.js'
import { askOfEach } from './eachBlock.js'
import { findProbeBlocks } from './probeBlocks.js'
import { probeDebug } from './probeDebug.js'
import { probeFailures } from './probeFailures.js'
import { filterNotAsked, probeFilter, readRows, type Specimen } from './probeFilter.js'
import { probeTransaction } from './probeTransaction.js'

/** What an operator has forced is used as it is. */
export type SourceSetting = 'auto' | SourceName

/** `whole blocks`: nothing is asked of addresses or single transactions, not even of strangers. */
export type ProbeSetting = SourceSetting | 'whole blocks'

export interface ProbeQuestion {
	readonly setting: ProbeSetting
	/** What the endpoint has said of its head a moment ago, on the right chain; default: it is asked. */
	readonly told?: ToldHead | null
}

type Basics = Pick<Capabilities, 'clientVersion' | 'chainId' | 'otsLevel' | 'head' | 'safeTag' | 'finalizedTag'>

interface TraceQuestion {
	readonly setting: ProbeSetting
	readonly head: bigint
	/** To prove answers by; none: nothing is proved. */
	readonly blocks: readonly Header[]
	readonly basics: Basics
}

/**
 * Asks an endpoint what it can do, and holds its answers against each other: some ten cheap questions in four requests
 * (docs/nodes.md, "What the probe looks at"). Throws RpcError when the endpoint cannot be judged now.
 */
export async function probe(
	rpc: Rpc,
	{ setting, told = null }: ProbeQuestion,
	signal: AbortSignal,
): Promise<Capabilities> {
	// Each wait is the way to the node and back: what does not depend on an answer goes with it.
	const basicsAsked = probeBasics(rpc, told, signal)
	const head = told?.latest.number ?? (await basicsAsked).head.number
	const [basics, blocks] = await Promise.all([basicsAsked, findProbeBlocks(rpc, head, signal)])
	const found = { ...basics, ...(await probeTraces(rpc, { setting, head, blocks, basics }, signal)) }
	if (found.sources.length > 0 || blocks.length === 0 || !found.passing) return found
	// The only block to prove it by may be one that nobody can trace: others are read, and trusted for now.
	const rest = await probeTraces(rpc, { setting, head, blocks: [], basics }, signal)
	return rest.sources.length === 0 ? found : { ...found, ...rest, reasons: found.reasons.slice(0, -1), passing: true }
}

async function probeTraces(
	rpc: Rpc,
	{ setting, head, blocks, basics }: TraceQuestion,
	signal: AbortSignal,
): Promise<Omit<Capabilities, keyof Basics>> {
	const isPrivate = setting === 'whole blocks'
	const [block, tree] = await Promise.all([
		probeBlock(rpc, head, blocks, signal),
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

async function probeBasics(rpc: Rpc, told: ToldHead | null, signal: AbortSignal): Promise<Basics> {
	const names = ['ots_getApiLevel', 'web3_clientVersion', 'eth_chainId'].map((method) => ({ method, params: [] }))
	if (told !== null) {
		const [level, version, chainId] = await rpc.batch(names, signal)
		const { number, timestampS } = told.latest
		return {
			...namesIn(rpc, level, version, chainId),
			head: { number, timestampS },
			safeTag: told.safe !== null,
			finalizedTag: told.finalized !== null,
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

interface BlockFindings {
	readonly finding: Finding
	readonly specimens: readonly Specimen[]
	readonly rewards: Capabilities['rewards']
}

/** Every transaction of a header has its root row, and each tree is whole. */
async function probeBlock(
	rpc: Rpc,
	head: bigint,
	blocks: readonly Header[],
	signal: AbortSignal,
): Promise<BlockFindings> {
	const callOf = ({ number }: { readonly number: bigint }) => ({ method: 'trace_block', params: [hexOf(number)] })
	try {
		if (blocks.length === 0) {
			await askAll(rpc, [callOf({ number: head })], signal)
			return { finding: notAsked, specimens: [], rewards: 'none' }
		}
		const answered = await askOfEach(rpc, blocks, callOf, signal)
		const specimens = answered.map(({ block, answer }) => ({ block, rows: readRows(rpc, answer, 'trace_block') }))
		for (const specimen of specimens) await checkSpecimen(rpc, specimen, signal)
		return {
			finding: fine,
			specimens: specimens.map(withoutRewards),
			rewards: rewardsIn(specimens.flatMap(({ rows }) => rows)),
		}
	} catch (thrown) {
		signal.throwIfAborted()
		const error = misread(thrown, { endpoint: rpc.endpoint, method: 'trace_block' })
		// A trace that lacks something says it of a settled block: that will not pass.
		const lasting = error.kind === 'unsettled' ? wrong(error.message) : findingOf('trace_block', error)
		return { finding: lasting, specimens: [], rewards: 'none' }
	}
}

async function checkSpecimen(rpc: Rpc, { block, rows }: Specimen, signal: AbortSignal): Promise<void> {
	const reading = { endpoint: rpc.endpoint, method: 'trace_block' }
	const traced = new Set<string>()
	const slices = createTimeSlices()
	for (const { txHash, ...group } of await groupRows(rows, slices)) {
		checkBlock(group, block, reading)
		if (txHash === null) continue
		await treeOf(group.rows, { txHash, blockHash: block.hash }, slices, reading)
		traced.add(txHash)
	}
	const missing = block.txHashes.filter((txHash) => !traced.has(txHash))
	if (missing.length > 0) await checkCoverage(rpc, [{ block, missing }], reading, signal)
}

function withoutRewards({ block, rows }: Specimen): Specimen {
	return { block, rows: rows.filter(({ frame }) => frame.type !== 'reward') }
}

function rewardsIn(rows: readonly Row[]): Capabilities['rewards'] {
	const rewards = rows.filter(({ frame }) => frame.type === 'reward')
	if (rewards.length === 0) return 'none'
	return rewards.some(({ frame }) => frame.valueWei > 0n) ? 'paid' : 'zero'
}
