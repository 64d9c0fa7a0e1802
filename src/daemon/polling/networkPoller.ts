/** The room polls networks on schedule, and explains polls that fail. */

import { DeadlinePassed } from '../../base/waits/deadline.js'
import { atMost } from '../../base/waits/wait.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { RpcError, StateError } from '../../errors.js'
import type { Clock } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'
import type { AuditReport } from '../../scan/auditing/follower.js'
import { type PollReport, poll, type Unread } from '../../scan/poll.js'
import type { PollConfig, PollPorts } from '../../scan/pollSession.js'
import { freshStatus, type PollerStatus, type TickResult } from './pollerStatus.js'
import { behindInWords, isFarBehind, LASTING_MS, newsOf, withRemedy } from './remedy.js'

export type NetworkPoller = ReturnType<typeof createNetworkPoller>

/** With the settings that it was made from. */
export type ConfiguredPoller = NetworkPoller & { readonly network: NetworkSettings }

export interface NetworkPollerOptions {
	readonly config: PollConfig
	readonly ports: PollPorts
	/** Monotonic clock for measuring activity. Default: the clock of the ports. */
	readonly steady?: Clock
	/** Default: 0; health waits a minute at least. */
	readonly quietAfterMs?: number
	readonly observer?: PollObserver | undefined
	/** Why polling must wait, in words; null when it need not. Called before each poll. */
	readonly waitReason?: () => Promise<string | null>
}

/** Receives each event, with the name of the network. */
export interface PollObserver {
	/** After each poll that reached its head. */
	reported(network: string, report: PollReport): void
	/** At the end of each audit, with what it announced. */
	audited(network: string, report: AuditReport): void
	/** When a poll or an audit failed, or a tick was skipped. */
	ended(network: string, result: 'failed' | 'skipped'): void
}

/** Shortest time between log lines for a network without news, which show that polling works. */
const SAYS_EVERY_MS = 3_600_000

/** Polls one network; at most one poll runs at a time, and at most one audit beside it. */
export function createNetworkPoller({
	config,
	ports,
	steady = ports.clock,
	quietAfterMs = 0,
	observer,
	waitReason,
}: NetworkPollerOptions) {
	const { log, clock } = ports
	const { follower } = ports.audit
	const { name } = config.network
	const failures = new Map<Part, Failure>()
	let current = config
	let lastActivityAtMs = steady()
	let waitsFor: string | null = null
	let running: Promise<TickResult> | null = null
	/** Whether a nudge came since the last poll began. */
	let nudged = false
	let saidWellAtMs = Number.NEGATIVE_INFINITY
	let isBackLogged = false
	let lastPoll: TickResult | null = null
	let status = freshStatus(steady())
	follower.onEnd((report) => {
		observer?.audited(name, report)
		if (report.result === 'done') works('auditing')
		else if (report.result !== 'halted') fails('auditing', report.error)
	})

	/** The status is that of polls; where they go well, that of audits. */
	function update(changes: Partial<PollerStatus>): void {
		const audit = failures.get('auditing')
		const { words = null } = failures.get('polling') ?? audit ?? {}
		const lastResult = lastPoll === 'done' ? (audit?.result ?? lastPoll) : lastPoll
		status = { ...status, ...changes, failure: words, lastResult }
	}

	/** Logs a failure only if it differs from the last one of this part. */
	function fails(part: Part, thrown: unknown): TickResult {
		const error = thrown instanceof DeadlinePassed ? stopped(thrown) : thrown
		const words = error instanceof Error ? error.message : String(error)
		const failure = { news: newsOf(error, words), words: withRemedy(error, words), result: resultOf(error) }
		const said = `${FAILED[part]}: ${words}; ${hintOf(error)}`
		if (failures.get(part)?.news !== failure.news) log.error({ err: error }, said)
		failures.set(part, failure)
		update({})
		observer?.ended(name, 'failed')
		return failure.result
	}

	function works(part: Part, facts = {}): void {
		if (failures.delete(part)) log.info(facts, `${part} works again`)
		update({})
	}

	async function pollToTarget(signal: AbortSignal): Promise<TickResult> {
		for (;;) {
			if (signal.aborted) return 'stopped'
			const used = current
			nudged = false
			lastActivityAtMs = steady()
			try {
				if (await mustWait()) return 'backlog'
				const report = await poll(used, ports, signal)
				observer?.reported(name, report)
				noteHead(report)
				const [failed] = report.unread
				if (failed === undefined) {
					succeeded(report)
					if (!report.behind && used === current) return 'done'
				} else {
					const result = fails('polling', fellShort(report, failed))
					// Another backfill still makes progress: poll again at once.
					if (!report.behind || report.blocks === 0n) return result
				}
			} catch (error) {
				return signal.aborted ? 'stopped' : fails('polling', error)
			}
		}
	}

	/** The error of a poll that passed its deadline: the endpoints were too slow. */
	function stopped({ afterMs }: DeadlinePassed): RpcError {
		const words = `${name}: the poll was stopped after ${afterMs / 1_000} s without an answer`
		return new RpcError(words, { kind: 'timeout', endpoint: '' })
	}

	/** Logs when polling begins to wait and when it continues, but not at each poll. */
	async function mustWait(): Promise<boolean> {
		const reason = (await waitReason?.()) ?? null
		if (reason !== null && waitsFor === null) log.warn({}, `polling waits: ${reason}`)
		if (reason === null && waitsFor !== null) log.info({}, 'polling continues')
		waitsFor = reason
		if (reason === null) return false
		failures.set('polling', { news: reason, words: reason, result: 'backlog' })
		update({})
		return true
	}

	/** Notes a poll that only scanned the new blocks. It counts as failed, but not as a stall. */
	function fellShort(lastReport: PollReport, { error }: Unread): RpcError {
		const unread = lastReport.unread.map((each) => {
			const before = status.unread.find(({ look, span }) => look === each.look && span.from === each.span.from)
			return { ...each, sinceMs: before?.sinceMs ?? steady() }
		})
		update({ lastReport, lastDoneAtMs: clock(), wellAtMs: steady(), unread })
		return error
	}

	function noteHead({ head, checkpoint }: PollReport): void {
		const isBackTwice = head < checkpoint && status.backSinceMs !== null
		const backSinceMs = head < checkpoint ? (status.backSinceMs ?? steady()) : null
		const facts = { head, checkpoint }
		const isLong = isBackTwice && steady() - (status.backSinceMs ?? 0) > LASTING_MS
		const isLasting = backSinceMs !== null && (isFarBehind(facts) || isLong)
		if (isLasting && !isBackLogged) log.warn(facts, behindInWords(facts))
		if (backSinceMs === null && isBackLogged) log.info(facts, 'the head has caught up with the checkpoint')
		isBackLogged = backSinceMs !== null && (isBackLogged || isLasting)
		update({ backSinceMs, isBackTwice })
	}

	function succeeded(report: PollReport): void {
		const { head, checkpoint } = report
		works('polling', { checkpoint })
		if (report.behind) {
			const { target, blocks } = report
			log.info({ checkpoint, target, left: target - checkpoint, blocks }, 'catching up')
		} else if (steady() - saidWellAtMs >= SAYS_EVERY_MS) {
			log.info({ checkpoint, head }, 'polling goes well: scanned up to the target')
			saidWellAtMs = steady()
		} else {
			log.debug({ ...report }, 'polled')
		}
		// A poll that ran out of time may not have reached its second look and its backfills.
		const unread = report.behind ? status.unread : []
		update({ lastReport: report, lastDoneAtMs: clock(), wellAtMs: steady(), unread })
	}

	function begin(signal: AbortSignal): Promise<TickResult> {
		running = pollToTarget(signal)
			.then((result) => {
				lastPoll = result
				update({})
				return result
			})
			.finally(() => {
				running = null
				if (nudged && !signal.aborted) void begin(signal)
			})
		return running
	}

	return {
		name,
		/** After this time without a successful poll the network is not well. */
		quietAfterMs,
		/**
		 * Polls until nothing is left below the target. A tick during a running poll is skipped and counted; nothing is
		 * missed, since every poll goes from the checkpoint to the head. Never rejects because of a failing node or disk.
		 */
		tick(signal: AbortSignal): Promise<TickResult> {
			if (running === null) return begin(signal)
			observer?.ended(name, 'skipped')
			return running
		},
		/** Polls now, or once more after the running poll ends. Not counted as a tick or a skip. */
		nudge(signal: AbortSignal): void {
			if (running === null) void begin(signal)
			else nudged = true
		},
		/** Resolves when neither a poll nor an audit is running. Not counted as a tick or a skip. */
		async idle(): Promise<void> {
			while (running !== null) await running
			await follower.idle()
		},
		/**
		 * Waits at most this long for the audit that follows the last poll, and ends it. Resolves to the result with the
		 * audit: 'done' unless the poll or the audit failed. What is not done, the next audit does.
		 */
		async endAudit(withinMs: number): Promise<TickResult> {
			await atMost(follower.idle(), withinMs)
			await follower.halt()
			return status.lastResult ?? 'stopped'
		},
		/** Takes effect at the next poll. A running poll is followed by another one. */
		setWatches(watches: WatchIndex): void {
			current = { ...current, watches }
		},
		status: () => status,
		/** Notes that a request ended, or that a part of an answer arrived: the poll is alive. */
		noteActivity(): void {
			lastActivityAtMs = steady()
		},
		/** False when a poll runs and had no activity for this long. */
		isAlive: (withinMs: number) => running === null || steady() - lastActivityAtMs < withinMs,
	}
}

type Part = keyof typeof FAILED

/** Whole, so that a look for the words of docs/operations.md finds them here. */
const FAILED = { polling: 'polling failed', auditing: 'auditing failed' }

interface Failure {
	/** Identifies the failure; only another one is logged. */
	readonly news: string
	/** With the remedy. */
	readonly words: string
	readonly result: TickResult
}

function resultOf(error: unknown): TickResult {
	if (error instanceof StateError) return 'unwritten'
	if (!(error instanceof RpcError)) return 'broken'
	return error.facts.wrongChainId === undefined ? 'failed' : 'misconfigured'
}

function hintOf(error: unknown): string {
	const expected = error instanceof RpcError || error instanceof StateError
	return expected ? 'nothing is lost, the next poll tries again' : 'this is a fault of tracewatch itself'
}
