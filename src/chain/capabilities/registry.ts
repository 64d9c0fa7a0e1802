import { backoffMs } from '../../base/backoff.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { Limits } from '../endpoints/limits.js'
import type { HeadAnswer } from '../heads/heads.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SourceName } from '../sources/source.js'
import type { Capabilities } from './capabilities.js'
import { type KeptAnswers, keepAnswers } from './keptAnswers.js'
import { type ProbeSetting, probe } from './probe.js'

/**
 * What is known of each endpoint: asked at its first use, when its client changes, and every few hours. An endpoint is
 * what shares its limits, whoever wraps it.
 */
export interface CapabilitiesRegistry {
	/**
	 * Waits for what is not known at all, some seconds at most where blocks are dear to trace, and a moment for what is
	 * only old. Throws RpcError when the endpoint cannot be judged now.
	 */
	of(rpc: Rpc, signal: AbortSignal): Promise<Capabilities>
	/** It will be asked of soon; `headAnswer`: what the endpoint has just said of its head. Never throws. */
	expect(rpc: Rpc, headAnswer: HeadAnswer, signal: AbortSignal): void
	/** As far as it is known. */
	known(rpc: Rpc): Capabilities | null
	/** What may be used of an endpoint now, best first: without what has given a false answer lately. */
	sourcesOf(rpc: Rpc, capabilities: Capabilities): readonly SourceName[]
	/** A source gave an answer that was seen to be wrong: it is passed over until the endpoint has been asked again. */
	distrust(rpc: Rpc, source: SourceName, why: RpcError): void
}

interface Entry {
	capabilities: Capabilities
	probedAtMs: number
	versionAtMs: number
	readonly distrusted: Set<SourceName>
	/** Probes in a row that left something in doubt. */
	readonly doubts: number
}

const PROBE_EVERY_MS = 4 * 3_600_000
const VERSION_EVERY_MS = 10 * 60_000
/** After a false answer, a failure, or when nothing can be used: soon, then more and more seldom. */
const DOUBT_MS = 60_000
const LONGEST_DOUBT_MS = 3_600_000
/** What a failed probe has learnt. */
const KEPT_MS = 60_000
/** How long a new probe is waited for, where an older one has found something to read by. */
const MOMENT_MS = 2_000
/** On a chain with nothing to prove answers by. */
const YOUNG_EVERY_MS = 15_000

export interface RegistryOptions {
	readonly setting: ProbeSetting
	readonly clock: Clock
	readonly log: Log
}

export function createCapabilitiesRegistry({ setting, clock, log }: RegistryOptions): CapabilitiesRegistry {
	const entries = new Map<Limits, Entry>()
	const running = new Map<Limits, Promise<Entry>>()

	/** Answers of a probe that failed on its way: the next one goes on from there. */
	const begun = new Map<Limits, KeptAnswers>()

	async function probeNow(rpc: Rpc, headAnswer: HeadAnswer | null, signal: AbortSignal): Promise<Entry> {
		const { limits } = rpc
		const before = entries.get(limits)
		const old = begun.get(limits)
		const kept = old !== undefined && clock() - old.atMs < KEPT_MS ? old : keepAnswers(headAnswer, clock())
		begun.set(limits, kept)
		const question = { setting, headAnswer: kept.headAnswer, brief: before === undefined }
		const capabilities = await probe(kept.over(rpc), question, signal)
		begun.delete(limits)
		const wasDoubtful = before !== undefined && isDoubtful(before)
		const doubts = wasDoubtful ? before.doubts + 1 : 0
		const entry = { capabilities, probedAtMs: clock(), versionAtMs: clock(), distrusted: new Set<SourceName>(), doubts }
		entries.set(limits, entry)
		tell(rpc, capabilities, before?.capabilities ?? null)
		return entry
	}

	/** One probe at a time for an endpoint, whoever asks. */
	function probeOnce(rpc: Rpc, signal: AbortSignal, headAnswer: HeadAnswer | null = null): Promise<Entry> {
		const { limits } = rpc
		const now = running.get(limits) ?? probeNow(rpc, headAnswer, signal).finally(() => running.delete(limits))
		running.set(limits, now)
		return now
	}

	/** Waited for a moment; after that the endpoint is taken for what it was. One that fails is tried later again. */
	async function probeBeside(rpc: Rpc, entry: Entry, signal: AbortSignal): Promise<Entry> {
		if (running.has(rpc.limits)) return entry
		const asked = probeOnce(rpc, signal).catch((error: unknown) => {
			entry.probedAtMs = clock()
			log.debug({ endpoint: rpc.endpoint, err: error }, 'the endpoint could not be asked anew what it can do')
			return entry
		})
		const now = await soonOr(asked, MOMENT_MS, entry)
		signal.throwIfAborted()
		return now
	}

	function tell({ endpoint }: Rpc, capabilities: Capabilities, before: Capabilities | null): void {
		const { clientVersion, otsLevel, sources, reasons, proved } = capabilities
		const facts = { endpoint, client: clientVersion, ots_level: otsLevel, sources, reasons, proved }
		if (before !== null && summary(before) === summary(capabilities)) log.debug(facts, 'the endpoint is as it was')
		else if (sources.length === 0) log.error(facts, 'the endpoint cannot tell what happens inside of transactions')
		else if (reasons.length > 0) log.warn(facts, 'the endpoint was asked what it can do, and has weaknesses')
		else log.info(facts, 'the endpoint was asked what it can do')
	}

	async function isSameClient(rpc: Rpc, entry: Entry, signal: AbortSignal): Promise<boolean> {
		entry.versionAtMs = clock()
		const [version] = await rpc.batch([{ method: 'web3_clientVersion', params: [] }], signal)
		return version instanceof RpcError || version === entry.capabilities.clientVersion
	}

	function isDue(entry: Entry): boolean {
		const ageMs = clock() - entry.probedAtMs
		if (isDoubtful(entry)) return ageMs > backoffMs(entry.doubts + 1, DOUBT_MS, LONGEST_DOUBT_MS)
		return ageMs > (entry.capabilities.proved ? PROBE_EVERY_MS : YOUNG_EVERY_MS)
	}

	return {
		async of(rpc, signal) {
			const entry = entries.get(rpc.limits)
			if (entry === undefined) return (await probeOnce(rpc, signal)).capabilities
			if (isDue(entry)) {
				// Nothing can be read by it as it was.
				if (usable(entry).length === 0) return (await probeOnce(rpc, signal)).capabilities
				return (await probeBeside(rpc, entry, signal)).capabilities
			}
			const isOld = clock() - entry.versionAtMs > VERSION_EVERY_MS
			if (isOld && !(await isSameClient(rpc, entry, signal))) return (await probeOnce(rpc, signal)).capabilities
			return entry.capabilities
		},
		expect(rpc, headAnswer, signal) {
			// Whoever needs it hears of a failure.
			if (!entries.has(rpc.limits)) probeOnce(rpc, signal, headAnswer).catch(() => {})
		},
		known(rpc) {
			return entries.get(rpc.limits)?.capabilities ?? null
		},
		sourcesOf(rpc, capabilities) {
			const distrusted = entries.get(rpc.limits)?.distrusted
			return capabilities.sources.filter((source) => !distrusted?.has(source))
		},
		distrust(rpc, source, why) {
			const entry = entries.get(rpc.limits)
			if (entry === undefined || entry.distrusted.has(source)) return
			entry.distrusted.add(source)
			entry.probedAtMs = clock()
			log.warn(
				{ endpoint: rpc.endpoint, source, error: why.message },
				'a source gave a wrong answer and is passed over until the endpoint has been asked again',
			)
		},
	}
}

function usable({ capabilities, distrusted }: Entry): readonly SourceName[] {
	return capabilities.sources.filter((source) => !distrusted.has(source))
}

function isDoubtful({ capabilities, distrusted }: Entry): boolean {
	return distrusted.size > 0 || capabilities.passing || capabilities.sources.length === 0
}

function summary({ clientVersion, otsLevel, sources, reasons }: Capabilities): string {
	return JSON.stringify([clientVersion, otsLevel, sources, reasons])
}

async function soonOr<T>(job: Promise<T>, ms: number, otherwise: T): Promise<T> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<T>((resolve) => {
		timer = setTimeout(() => resolve(otherwise), ms)
	})
	const first = await Promise.race([job, late])
	clearTimeout(timer)
	return first
}
