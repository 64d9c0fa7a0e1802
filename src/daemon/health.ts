/**
 * One sentence of health, from one source: for the page, /healthz, systemd, the heartbeat and `tracewatch status`
 * alike.
 */

import { steadyClock } from '../base/steadyClock.js'
import type { Config } from '../config/load.js'
import { isAccepted } from '../core/gaps.js'
import type { Clock } from '../model/glossary.js'
import type { NetworkHealth } from '../model/health.js'
import type { StateSummary } from '../model/state.js'
import type { FailingReceivers } from './failingReceivers.js'
import type { NetworkPoller } from './networkPoller.js'
import type { TickResult } from './pollerStatus.js'
import { anewOrBehind } from './remedy.js'
import type { Vitals } from './vitals.js'

export interface Health {
	/** False while something that should be told may not be, or not to everybody. */
	readonly ok: boolean
	/** Why not, in a sentence; null while all is well. */
	readonly reason: string | null
	/** The same, one by one. */
	readonly reasons?: readonly string[]
	readonly networks: readonly NetworkHealth[]
}

export interface HealthOptions {
	readonly config: Pick<Config, 'receivers'>
	readonly pollers: readonly NetworkPoller[]
	readonly vitals: Pick<Vitals, 'networks'>
	readonly summary: () => Promise<StateSummary>
	/** Whether the watchlists on disk are wrong and older ones are in effect. */
	readonly isRefused: () => boolean
	/** Default: none is known to fail. */
	readonly failing?: Pick<FailingReceivers, 'reasons'>
	/** The clock of the pollers; nobody sets it. */
	readonly steady?: Clock
}

/** Never throws: a state that cannot be read is part of the answer. */
export function createHealth({
	config,
	pollers,
	vitals,
	summary,
	isRefused,
	failing,
	steady = steadyClock,
}: HealthOptions): () => Promise<Health> {
	return async () => {
		const networks = vitals.networks().map((each) => withFailure(each, pollers, steady()))
		const reasons = networks.flatMap(({ reason }) => (reason === null ? [] : [reason]))
		const kept = await summary().then(
			(found) => [...gapsIn(found, networks), ...deafReceivers(config, found), ...(failing?.reasons(found) ?? [])],
			(error: unknown) => unread(error, reasons),
		)
		const refused = isRefused() ? [wrongEdit] : []
		const all = [...new Set([...reasons, ...kept, ...refused])]
		return { ok: all.length === 0, reason: all.length === 0 ? null : all.join('; '), reasons: all, networks }
	}
}

const wrongEdit =
	'the watchlists as edited are wrong, and the last good ones stay in effect. ' +
	'To do: `tracewatch check` says what is wrong; correct it, and it takes effect by itself'

/** Nothing, where a network says the same: two sentences about one trouble look like two. */
function unread(error: unknown, reasons: readonly string[]): readonly string[] {
	const words = error instanceof Error ? error.message : String(error)
	return reasons.some((reason) => reason.includes(words)) ? [] : [`the state cannot be read: ${words}`]
}

/**
 * What will not pass by itself is no wait for a stall: an endpoint of another chain, a state that cannot be written, or
 * has no room; nor is an endpoint that has not worked once, of which a slip of the pen is the likely cause.
 */
function withFailure(each: NetworkHealth, pollers: readonly NetworkPoller[], nowMs: number): NetworkHealth {
	const status = pollers.find(({ name }) => name === each.network)?.status()
	if (each.ok && status?.backSinceMs != null && nowMs - status.backSinceMs > longBackMs) {
		const { network, head, checkpoint } = each
		const stands = `the head stands at block ${head}, before block ${checkpoint}, which was scanned already`
		return { ...each, ok: false, reason: `${network} is not scanned: ${stands}: ${anewOrBehind}` }
	}
	if (!each.ok || status?.failure == null) return each
	const failingMs = nowMs - (status.failingSinceMs ?? nowMs)
	const hasNeverWorked = status.lastDoneAtMs === null && failingMs > neverWorkedMs
	if (!hasNeverWorked && !lasting.has(status.lastResult)) return each
	return { ...each, ok: false, reason: `${each.network} is not scanned: ${status.failure}` }
}

/** An endpoint among several may lag for some blocks; with `stall_after: never` nothing else would say it. */
const longBackMs = 60_000
/** A node that starts with the machine has that long. */
const neverWorkedMs = 60_000

const lasting: ReadonlySet<TickResult | null> = new Set(['misconfigured', 'unwritten', 'crowded'])

/** What happened in these blocks is told when they could be read; those that a person has accepted are no illness. */
function gapsIn({ networks }: StateSummary, shown: readonly NetworkHealth[]): readonly string[] {
	return shown.flatMap(({ network }) => {
		const gaps = (networks.get(network)?.gaps ?? []).filter((gap) => !isAccepted(gap))
		const [first] = gaps
		if (first === undefined) return []
		const more = gaps.length === 1 ? '' : ` and ${gaps.length - 1} more`
		const since = new Date(first.sinceMs).toISOString()
		return [`${network}: block ${first.block.number}${more} cannot be read since ${since}: see \`tracewatch gaps\``]
	})
}

/** Receivers that take nothing, whose alerts nobody gets instead. */
function deafReceivers({ receivers }: Pick<Config, 'receivers'>, summary: StateSummary): readonly string[] {
	return receivers.flatMap(({ name, fallback }) => {
		const parked = summary.receivers.get(name)?.parked ?? 0
		if (parked === 0 || fallback !== null) return []
		return [
			`${name} takes nothing (${parked} parked) and has no \`fallback\`. To do: \`tracewatch deliveries\` says why; ` +
				'put that right; what waits is tried again by itself within a quarter of an hour, or at once after a restart',
		]
	})
}
