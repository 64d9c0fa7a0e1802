/**
 * The room computes the daemon's health. This file: the one place that decides it, for the page, /healthz,
 * systemd, the heartbeat and `tracewatch status`.
 */

import { counted } from '../../base/text/counted.js'
import { steadyClock } from '../../base/waits/steadyClock.js'
import type { Config } from '../../config/load.js'
import { isAccepted, notReadAgain } from '../../core/gaps.js'
import { refusalsInWords, unconfiguredInWords } from '../../core/outbox/refusals.js'
import type { Clock } from '../../model/glossary.js'
import type { StateSummary } from '../../model/state.js'
import type { Health, HealthStatus, NetworkHealth, StuckLook } from '../../model/trouble.js'
import type { TroubleBook } from '../../notify/delivery/troubles.js'
import type { NetworkPoller } from '../polling/networkPoller.js'
import { withRemedy } from '../polling/remedy.js'
import type { NetworkNow } from './networkNow.js'
import type { Vitals } from './vitals.js'

export interface HealthOptions {
	readonly config: Pick<Config, 'receivers'>
	readonly pollers: readonly NetworkPoller[]
	readonly vitals: Pick<Vitals, 'networks'>
	readonly summary: () => Promise<StateSummary>
	/** Whether the edited watchlists are invalid, and whether tracewatch.yaml on disk is not the one in effect. */
	readonly inEffect: { readonly isRefused: boolean; readonly isConfigChanged: boolean }
	/** Troubles that receivers were notified of. */
	readonly troubles: Pick<TroubleBook, 'open'>
	/** The monotonic clock of the pollers. */
	readonly steady?: Clock
}

/** Never rejects: an unreadable state is part of the result. */
export function createHealth({
	config,
	pollers,
	vitals,
	summary,
	inEffect,
	troubles,
	steady = steadyClock,
}: HealthOptions): () => Promise<Health> {
	return async () => {
		const now = vitals.networks()
		const networks = now.map(({ status: _, ...line }) => line)
		const reasonsOf = (wanted: NetworkNow['status']) =>
			now.flatMap(({ status, reason }) => (status === wanted && reason !== null ? [reason] : []))
		let away: readonly string[] = []
		const found = await summary().catch((error: unknown) => {
			away = [`the state cannot be read: ${error instanceof Error ? error.message : error}`]
			return NO_SUMMARY
		})
		const names = config.receivers.map(({ name }) => name)
		const unconfigured = unconfiguredInWords(found, names)
		const stuck = pollers.flatMap((poller) => stuckLooks(found, poller, steady()))
		/** Most severe first. */
		const wrong: readonly (readonly [HealthStatus, readonly string[]])[] = [
			['stalled', [...reasonsOf('stalled'), ...away]],
			['degraded', reasonsOf('degraded')],
			['gap', [...gapsIn(found, networks), ...stuck.map(({ reason }) => reason), ...pollers.flatMap(unreadContracts)]],
			['undelivered', [...refusalsInWords(found, config.receivers), ...failingReceivers(found, { troubles, config })]],
			// After the restart that an edited tracewatch.yaml needs, the watchlists may be right.
			['refused', inEffect.isRefused ? [inEffect.isConfigChanged ? WRONG_UNTIL_RESTART : WRONG_EDIT] : []],
			['ok', [...unconfigured, ...(inEffect.isConfigChanged ? [CONFIG_CHANGED] : [])]],
		]
		const reasons = [...new Set(wrong.flatMap(([, each]) => each))]
		const status = wrong.find(([, each]) => each.length > 0)?.[0] ?? 'ok'
		const failed = pollers.flatMap((poller) => {
			const { failure } = poller.status()
			return failure == null ? [] : [{ name: poller.name, words: `${poller.name}: ${failure}` }]
		})
		const [failing, failures] = [failed.map(({ name }) => name), failed.map(({ words }) => words)]
		const reason = reasons.length === 0 ? null : reasons.join('; ')
		const polls = { networks, failing, failures }
		return { ok: status === 'ok', status, reason, reasons, ...polls, ...(stuck.length > 0 && { stuck }) }
	}
}

/** Of a state that is not open, or cannot be read. */
export const NO_SUMMARY: StateSummary = { networks: new Map(), receivers: new Map() }

/** No fault: what is in effect goes on. */
export const CONFIG_CHANGED = 'configuration changed on disk: run `tracewatch check`, then restart'

const WRONG = 'the watchlists as edited are wrong, and the last good ones stay in effect. To do: '
const WRONG_EDIT = `${WRONG}\`tracewatch check\` says what is wrong; correct it and save; no restart is needed`
const WRONG_UNTIL_RESTART = `${WRONG}correct them and save; if they need the new tracewatch.yaml: check, then restart`

/** A second look or a backfill usually passes a block that no source gives sooner than this. */
const longUnreadMs = 60_000

/** Open gaps that the operator has not accepted; their events are announced once the blocks can be read. */
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

/** Blocks at which a second look or a backfill is stuck while new blocks are scanned. */
function stuckLooks({ networks }: StateSummary, { name, status }: NetworkPoller, nowMs: number): readonly StuckLook[] {
	const summary = networks.get(name)
	if (summary === undefined) return []
	return status().unread.flatMap(({ look, span: { from, to }, error, sinceMs }) => {
		if (nowMs - sinceMs < longUnreadMs) return []
		const stuck = { network: name, look, fromBlock: Number(from), toBlock: Number(to) }
		if (look === 'second') {
			// It may have continued since, as may a backfill.
			if (summary.settled.number + 1n !== from) return []
			const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
			const why = withRemedy(error, `${error.message}; what was sent stands`)
			return [{ ...stuck, reason: `${name}: ${blocks} ${notReadAgain}: ${why}` }]
		}
		if (!summary.backfills.some(({ span }) => span.from === from)) return []
		const [first, ...rest] = summary.backfills.map(({ span }) => `${span.from} to ${span.to}`)
		const more = rest.length === 0 ? '' : ` and ${counted(rest.length, 'more span')}`
		const why = withRemedy(error, error.message)
		const reason = `${name}: blocks ${first}${more} are still unread for watches with \`from_block\`: ${why}`
		return [{ ...stuck, reason }]
	})
}

/** Receivers that have failed, or a mailbox of which has failed, for minutes while messages wait. */
function failingReceivers(
	{ receivers }: StateSummary,
	{ troubles: { open }, config }: Pick<HealthOptions, 'troubles' | 'config'>,
): readonly string[] {
	return open('undelivered').flatMap(({ receiver, sinceMs, state, announced }) => {
		if (state !== 'failing' || !announced) return []
		const { pending = 0, aside = 0, failure = 'see the log', lastDeliveredAtMs } = receivers.get(receiver) ?? {}
		const isOneOfSeveral = config.receivers.some((one) => one.name === receiver && mailboxesOf(one) > 1)
		// It has accepted one since, by a retry by hand perhaps: the trouble is about to end.
		const hasAccepted = !isOneOfSeveral && (lastDeliveredAtMs ?? Number.NEGATIVE_INFINITY) >= sinceMs
		if (pending <= aside || hasAccepted) return []
		const since = new Date(sinceMs).toISOString()
		const who = isOneOfSeveral ? `${receiver}, or a mailbox of it,` : receiver
		const todo = 'To do: see whether it runs and can be reached; what waits is retried without your help'
		return [`${who} has accepted no message since ${since} (${pending - aside} wait): ${failure}. ${todo}`]
	})
}

function mailboxesOf(receiver: Config['receivers'][number]): number {
	return receiver.type === 'email' ? receiver.to.length : 1
}

/** Watched contracts whose storage is not read, or not whole. */
function unreadContracts({ name, status }: NetworkPoller): readonly string[] {
	const all = status().lastReport?.unreadContracts ?? []
	const [first] = all
	if (first === undefined) return []
	const more = all.length === 1 ? '' : ` (and ${all.length - 1} more)`
	const minutes = Math.floor(first.forMs / 60_000)
	return [`${name}: what rules the contract ${first.address}${more} is not read for ${minutes} min: ${first.why}`]
}
