import { RpcError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SourceName } from '../sources/source.js'
import type { Dialect } from './capabilities.js'
import { type ProbeSetting, probe } from './probe.js'

/** What is known of each endpoint: asked at its first use, when its client changes, and every few hours. */
export interface Dialects {
	/** Throws RpcError when the endpoint cannot be judged now. */
	of(rpc: Rpc, signal: AbortSignal): Promise<Dialect>
	/** As far as it is known. */
	known(rpc: Rpc): Dialect | null
	/** What may be used of an endpoint now, best first: without what has given a false answer lately. */
	sourcesOf(rpc: Rpc, dialect: Dialect): readonly SourceName[]
	/** A source gave an answer that was seen to be wrong: it is passed over until the endpoint has been asked again. */
	distrust(rpc: Rpc, source: SourceName, why: RpcError): void
}

interface Entry {
	dialect: Dialect
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
/** On a chain with nothing to prove answers by. */
const YOUNG_EVERY_MS = 15_000

export interface DialectsOptions {
	readonly setting: ProbeSetting
	readonly clock: Clock
	readonly log: Log
}

export function createDialects({ setting, clock, log }: DialectsOptions): Dialects {
	const entries = new Map<Rpc, Entry>()
	const running = new Map<Rpc, Promise<Entry>>()

	async function probeNow(rpc: Rpc, signal: AbortSignal): Promise<Entry> {
		const before = entries.get(rpc)
		const dialect = await probe(rpc, setting, signal)
		const wasDoubtful = before !== undefined && isDoubtful(before)
		const doubts = wasDoubtful ? before.doubts + 1 : 0
		const entry = { dialect, probedAtMs: clock(), versionAtMs: clock(), distrusted: new Set<SourceName>(), doubts }
		entries.set(rpc, entry)
		tell(rpc, dialect, before?.dialect ?? null)
		return entry
	}

	/** One probe at a time for an endpoint, whoever asks. */
	function probeOnce(rpc: Rpc, signal: AbortSignal): Promise<Entry> {
		const now = running.get(rpc) ?? probeNow(rpc, signal).finally(() => running.delete(rpc))
		running.set(rpc, now)
		return now
	}

	function tell({ endpoint }: Rpc, dialect: Dialect, before: Dialect | null): void {
		const { clientVersion, otsLevel, sources, reasons, proved } = dialect
		const facts = { endpoint, client: clientVersion, ots_level: otsLevel, sources, reasons, proved }
		if (before !== null && summary(before) === summary(dialect)) log.debug(facts, 'the endpoint is as it was')
		else if (sources.length === 0) log.error(facts, 'the endpoint cannot tell what happens inside of transactions')
		else if (reasons.length > 0) log.warn(facts, 'the endpoint was asked what it can do, and has weaknesses')
		else log.info(facts, 'the endpoint was asked what it can do')
	}

	async function isSameClient(rpc: Rpc, entry: Entry, signal: AbortSignal): Promise<boolean> {
		entry.versionAtMs = clock()
		const [version] = await rpc.batch([{ method: 'web3_clientVersion', params: [] }], signal)
		return version instanceof RpcError || version === entry.dialect.clientVersion
	}

	function isDue(entry: Entry): boolean {
		const ageMs = clock() - entry.probedAtMs
		if (isDoubtful(entry)) return ageMs > Math.min(DOUBT_MS * 2 ** entry.doubts, LONGEST_DOUBT_MS)
		return ageMs > (entry.dialect.proved ? PROBE_EVERY_MS : YOUNG_EVERY_MS)
	}

	return {
		async of(rpc, signal) {
			const entry = entries.get(rpc)
			if (entry === undefined) return (await probeOnce(rpc, signal)).dialect
			if (isDue(entry)) return (await probeOnce(rpc, signal)).dialect
			const isOld = clock() - entry.versionAtMs > VERSION_EVERY_MS
			if (isOld && !(await isSameClient(rpc, entry, signal))) return (await probeOnce(rpc, signal)).dialect
			return entry.dialect
		},
		known(rpc) {
			return entries.get(rpc)?.dialect ?? null
		},
		sourcesOf(rpc, dialect) {
			const distrusted = entries.get(rpc)?.distrusted
			return dialect.sources.filter((source) => !distrusted?.has(source))
		},
		distrust(rpc, source, why) {
			const entry = entries.get(rpc)
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

function isDoubtful({ dialect, distrusted }: Entry): boolean {
	return distrusted.size > 0 || dialect.passing || dialect.sources.length === 0
}

function summary({ clientVersion, otsLevel, sources, reasons }: Dialect): string {
	return JSON.stringify([clientVersion, otsLevel, sources, reasons])
}
