import { backoffMs } from '../../base/waits/backoff.js'
import { unlessAborted } from '../../base/waits/wait.js'
import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { HeadAnswer } from '../heads/heads.js'
import type { Limits } from '../limits/limits.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SourceName } from '../sources/source.js'
import type { Capabilities } from './capabilities.js'
import { permitted, type SourceChoice } from './permitted.js'
import { type ProbeQuestion, type ProbeSetting, probe } from './probe.js'
import { createProbeCache, type ProbeCache } from './probeCache.js'

/** Probed at first use, when the client changes, and every 4 hours. Keyed by limits, since an Rpc may be wrapped. */
export interface CapabilitiesRegistry {
	/**
	 * Waits for a brief probe at first, after a change of the client, and where no source is left; else at most 2 s for a
	 * thorough one. Throws RpcError if the endpoint cannot be judged.
	 */
	of(rpc: Rpc, signal: AbortSignal): Promise<Capabilities>
	/** Starts the first probe ahead of its use. `headAnswer`: the head that was just given. Never throws. */
	expect(rpc: Rpc, headAnswer: HeadAnswer, signal: AbortSignal): void
	/** Null before the first probe. */
	known(rpc: Rpc): Capabilities | null
	/** Sources of an endpoint that may be used now, best first, without those that gave a wrong answer lately. */
	sourcesOf(rpc: Rpc, capabilities: Capabilities): readonly SourceName[]
	/** A source gave a wrong answer: it is not used until the endpoint has been probed again. */
	distrust(rpc: Rpc, source: SourceName, why: RpcError): void
}

interface Entry {
	capabilities: Capabilities
	probedAtMs: number
	versionAtMs: number
	readonly distrusted: Set<SourceName>
	/** Number of consecutive probes without a clear result. */
	readonly inconclusiveProbes: number
}

type How = Pick<ProbeQuestion, 'headAnswer' | 'brief'>

const PROBE_EVERY_MS = 4 * 3_600_000
const VERSION_EVERY_MS = 10 * 60_000
/** After a wrong answer, a failure, or a probe without a usable source: after 1 minute, doubling up to 1 hour. */
const REPROBE_MS = 60_000
const LONGEST_REPROBE_MS = 3_600_000
/** How long the answers of a failed probe are kept. */
const KEPT_MS = 60_000
/** How long to wait for a new probe where an older one has found a usable source. */
const PROBE_WAIT_MS = 2_000
/** On a chain with nothing to check answers by. */
const YOUNG_EVERY_MS = 15_000

export interface RegistryOptions {
	readonly setting: ProbeSetting
	readonly clock: Clock
	readonly log: Log
}

function choiceOf(setting: ProbeSetting): SourceChoice {
	if (setting === 'whole blocks') return { setting: 'auto', isPrivate: true }
	if (setting === 'whole blocks by debug') return { setting: 'debug_traceBlockByNumber', isPrivate: true }
	return { setting, isPrivate: false }
}

export function createCapabilitiesRegistry({ setting, clock, log }: RegistryOptions): CapabilitiesRegistry {
	const choice = choiceOf(setting)
	const entries = new Map<Limits, Entry>()
	const running = new Map<Limits, { readonly entry: Promise<Entry>; readonly signal: AbortSignal }>()

	/** Answers of a probe that failed on its way; the next probe continues from there. */
	const begun = new Map<Limits, ProbeCache>()

	async function probeNow(rpc: Rpc, { headAnswer = null, brief = true }: How, signal: AbortSignal): Promise<Entry> {
		const { limits } = rpc
		const before = entries.get(limits)
		const old = begun.get(limits)
		const kept = old !== undefined && clock() - old.atMs < KEPT_MS ? old : createProbeCache(headAnswer, clock())
		begun.set(limits, kept)
		const question = { setting, headAnswer: kept.headAnswer, brief }
		const capabilities = await probe(kept.over(rpc), question, signal)
		begun.delete(limits)
		const wasInconclusive = before !== undefined && isInconclusive(before)
		const inconclusiveProbes = wasInconclusive ? before.inconclusiveProbes + 1 : 0
		const entry = {
			capabilities,
			probedAtMs: clock(),
			versionAtMs: clock(),
			distrusted: new Set<SourceName>(),
			inconclusiveProbes,
		}
		entries.set(limits, entry)
		tell(rpc, capabilities, before?.capabilities ?? null)
		return entry
	}

	/** One probe at a time for an endpoint. If its first caller gives up, the next one continues from the answers. */
	async function probeOnce(rpc: Rpc, signal: AbortSignal, how: How = {}): Promise<Entry> {
		const { limits } = rpc
		for (let other = running.get(limits); other !== undefined; other = running.get(limits)) {
			try {
				return await unlessAborted(other.entry, signal)
			} catch (error) {
				if (signal.aborted || !other.signal.aborted) throw error
			}
		}
		const entry = probeNow(rpc, how, signal).finally(() => running.delete(limits))
		running.set(limits, { entry, signal })
		return entry
	}

	/** Waits 2 s for a new probe, then uses the old result. If the probe fails, it is repeated later. */
	async function probeBeside(rpc: Rpc, entry: Entry, signal: AbortSignal): Promise<Entry> {
		if (running.has(rpc.limits)) return entry
		const asked = probeOnce(rpc, signal, { brief: false }).catch((error: unknown) => {
			entry.probedAtMs = clock()
			log.debug({ endpoint: rpc.endpoint, err: error }, 'the endpoint could not be asked anew what it can do')
			return entry
		})
		const now = await soonOr(asked, PROBE_WAIT_MS, entry)
		signal.throwIfAborted()
		return now
	}

	function tell({ endpoint }: Rpc, capabilities: Capabilities, before: Capabilities | null): void {
		const { clientVersion, otsLevel, sources, reasons, proved } = capabilities
		const usable = permitted(sources, choice)
		const used = sources.filter((source) => usable.includes(source))
		const facts = { endpoint, client: clientVersion, ots_level: otsLevel, sources: used, reasons, proved }
		if (before !== null && summary(before) === summary(capabilities)) log.debug(facts, 'the endpoint is as it was')
		else if (sources.length === 0) log.error(facts, 'the endpoint gives no call traces')
		else if (reasons.length > 0) log.warn(facts, 'the endpoint was asked what it can do, and has weaknesses')
		else log.info(facts, 'the endpoint was asked what it can do')
	}

	async function isSameClient(rpc: Rpc, entry: Entry, signal: AbortSignal): Promise<boolean> {
		entry.versionAtMs = clock()
		const question = { method: 'web3_clientVersion', params: [] }
		// Some endpoints refuse this method alone by an HTTP status; whether one is down, the next read shows.
		const [version] = await rpc.batch([question], signal).catch((error: unknown) => {
			if (!(error instanceof RpcError)) throw error
			return [error]
		})
		return version instanceof RpcError || rpc.words(version) === (entry.capabilities.clientVersion ?? '')
	}

	function isDue(entry: Entry): boolean {
		const ageMs = clock() - entry.probedAtMs
		if (isInconclusive(entry)) return ageMs > backoffMs(entry.inconclusiveProbes + 1, REPROBE_MS, LONGEST_REPROBE_MS)
		return ageMs > (entry.capabilities.proved ? PROBE_EVERY_MS : YOUNG_EVERY_MS)
	}

	return {
		async of(rpc, signal) {
			const entry = entries.get(rpc.limits)
			if (entry === undefined) return (await probeOnce(rpc, signal)).capabilities
			if (isDue(entry)) {
				// The old result has no usable source.
				if (usable(entry).length === 0) return (await probeOnce(rpc, signal)).capabilities
				return (await probeBeside(rpc, entry, signal)).capabilities
			}
			const isOld = clock() - entry.versionAtMs > VERSION_EVERY_MS
			if (isOld && !(await isSameClient(rpc, entry, signal))) return (await probeOnce(rpc, signal)).capabilities
			return entry.capabilities
		},
		expect(rpc, headAnswer, signal) {
			// A failure is thrown by `of`.
			if (!entries.has(rpc.limits)) probeOnce(rpc, signal, { headAnswer }).catch(() => {})
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

function isInconclusive({ capabilities, distrusted }: Entry): boolean {
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
