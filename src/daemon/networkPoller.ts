import type { RpcRequest } from '../chain/rpc/rpc.js'
import { RpcError, StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { Log } from '../model/ports.js'
import type { WatchIndex } from '../model/watch.js'
import { type PollReport, poll } from '../watch/poll.js'
import type { PollConfig, PollPorts } from '../watch/pollSession.js'
import { freshStatus, type PollerStatus, type TickResult } from './pollerStatus.js'
import { newsOf, withRemedy } from './remedy.js'
import { createUnanswered } from './unanswered.js'

/** The polling of one network, never twice at a time. */
export interface NetworkPoller {
	readonly name: string
	/**
	 * Polls until nothing is left below the target. A tick that finds a poll running is skipped and counted, since a late
	 * tick adds nothing: every poll goes from the checkpoint to the head. Never throws for a node or a disk that fails.
	 */
	tick(signal: AbortSignal): Promise<TickResult>
	/**
	 * There may be something new: polls now, or once more when the poll that is running has ended, however it ends. No
	 * tick, so none is skipped.
	 */
	nudge(signal: AbortSignal): void
	/** Resolves when no poll is under way. No tick, so none is skipped. */
	idle(): Promise<void>
	/** Takes effect at the next border; a running poll ends there and another begins. */
	setWatches(watches: WatchIndex): void
	status(): PollerStatus
	/** A request was answered, or failed, or (none is named) a part of an answer came: the poll is alive. */
	noteActivity(request?: Pick<RpcRequest, 'endpoint' | 'result'>): void
	/** False when a poll has run for longer than this without a sign of life. */
	isAlive(withinMs: number): boolean
}

export interface NetworkPollerOptions {
	readonly config: PollConfig
	readonly ports: PollPorts
	/** By which signs of life are measured: the clock may be set. Default: the clock of the ports. */
	readonly steady?: Clock
	readonly onReport?: (report: PollReport) => void
	readonly onFailure?: () => void
	readonly onSkip?: () => void
	/** At each tick at which another instance polls this network. */
	readonly onStandby?: () => void
	/** Why polling must wait, in words; null when it need not. Asked before each poll. */
	readonly waitReason?: () => Promise<string | null>
}

/** Whoever looks into the log of a quiet watcher sees that it works. */
const SAYS_EVERY_MS = 3_600_000

export function createNetworkPoller({
	config,
	ports,
	steady = ports.clock,
	onReport,
	onFailure,
	onSkip,
	onStandby,
	waitReason,
}: NetworkPollerOptions): NetworkPoller {
	const { log, clock, store } = ports
	const { name } = config.network
	const unanswered = createUnanswered()
	let current = config
	let lastActivityAtMs = steady()
	let waitsFor: string | null = null
	let lastLogged = ''
	let standsBy = false
	let running: Promise<TickResult> | null = null
	/** A nudge has come since the last poll began. */
	let nudged = false
	let saidSkipAtMs = Number.NEGATIVE_INFINITY
	let saidWellAtMs = Number.NEGATIVE_INFINITY
	let status = freshStatus

	async function pollToTarget(signal: AbortSignal): Promise<TickResult> {
		for (;;) {
			if (signal.aborted) return 'stopped'
			const used = current
			nudged = false
			lastActivityAtMs = steady()
			try {
				if (!(await store.acquireLease(name))) return standBy('another instance polls this network')
				if (standsBy) log.info({}, 'this instance polls the network now')
				standsBy = false
				if (await mustWait()) return 'crowded'
				const report = await poll(used, ports, signal)
				onReport?.(report)
				succeeded(report)
				if (!report.behind && used === current) return 'done'
			} catch (error) {
				if (signal.aborted) return 'stopped'
				if (error instanceof StateError && error.reason === 'lost') return standBy(error.message)
				failed(error)
				await makeWay(error)
				return resultOf(error)
			}
		}
	}

	function standBy(words: string): TickResult {
		if (!standsBy) log.info({}, `${words}: standing by`)
		standsBy = true
		status = { ...status, failure: null, failingSinceMs: null }
		onStandby?.()
		return 'standby'
	}

	/** Another instance may reach a node that this one cannot. */
	async function makeWay(error: unknown): Promise<void> {
		if (!(error instanceof RpcError) || error.facts.kind === 'unsettled') return
		await store
			.releaseLease(name)
			.catch((cause) => log.debug({ err: cause }, 'the right to poll could not be given back'))
	}

	/** Says that it waits, and that it goes on; not each time. */
	async function mustWait(): Promise<boolean> {
		const reason = (await waitReason?.()) ?? null
		if (reason !== null && waitsFor === null) log.warn({}, `polling waits: ${reason}`)
		if (reason === null && waitsFor !== null) log.info({}, 'polling goes on')
		waitsFor = reason
		status = { ...status, failure: reason ?? status.failure }
		return reason !== null
	}

	function succeeded(report: PollReport): void {
		const { head, checkpoint } = report
		const isBack = head < checkpoint
		if (isBack && status.backSinceMs === null) {
			log.warn(
				{ head, checkpoint },
				'the head stands before a block that was scanned already, and nothing is told until it is passed: ' +
					'the endpoint lags, or its chain began anew and needs a state of its own',
			)
		} else if (status.failure !== null) log.info({ checkpoint }, 'polling works again')
		const backSinceMs = isBack ? (status.backSinceMs ?? steady()) : null
		if (report.behind) {
			const { target, blocks } = report
			log.info({ checkpoint, target, left: target - checkpoint, blocks }, 'catching up')
		} else if (steady() - saidWellAtMs >= SAYS_EVERY_MS) {
			log.info({ checkpoint, head }, 'polling goes well: scanned up to the target')
			saidWellAtMs = steady()
		} else {
			log.debug({ ...report }, 'polled')
		}
		status = { ...status, lastReport: report, lastDoneAtMs: clock(), failure: null, failingSinceMs: null, backSinceMs }
	}

	/** Says a change, not each repetition. */
	function failed(error: unknown): void {
		const words = error instanceof Error ? error.message : String(error)
		const news = newsOf(error, words)
		if (status.failure === null || news !== lastLogged) logFailure(log, error, words)
		lastLogged = news
		status = { ...status, failure: withRemedy(error, words), failingSinceMs: status.failingSinceMs ?? steady() }
		onFailure?.()
	}

	function skip(): void {
		status = { ...status, skipped: status.skipped + 1 }
		onSkip?.()
		// With a schedule of seconds there may be thousands, and an endpoint that hangs makes each poll long.
		if (steady() - saidSkipAtMs < SAYS_EVERY_MS) return
		log.info({ skipped: status.skipped }, 'a poll is still running at its next tick, which is skipped')
		saidSkipAtMs = steady()
	}

	function begin(signal: AbortSignal): Promise<TickResult> {
		running = pollToTarget(signal)
			.then((lastResult) => {
				status = { ...status, lastResult }
				return lastResult
			})
			.finally(() => {
				running = null
				if (nudged && !signal.aborted) void begin(signal)
			})
		return running
	}

	return {
		name,
		tick(signal) {
			if (running === null) return begin(signal)
			skip()
			return running
		},
		nudge(signal) {
			if (running === null) void begin(signal)
			else nudged = true
		},
		async idle() {
			while (running !== null) await running
		},
		setWatches(watches) {
			current = { ...current, watches }
		},
		status: () => status,
		noteActivity(request) {
			lastActivityAtMs = steady()
			if (request && unanswered.ended(request)) status = { ...status, unanswered: unanswered.words() }
		},
		isAlive: (withinMs) => running === null || steady() - lastActivityAtMs < withinMs,
	}
}

function resultOf(error: unknown): TickResult {
	if (error instanceof StateError) return 'unwritten'
	if (!(error instanceof RpcError)) return 'broken'
	return error.facts.wrongChainId === undefined ? 'failed' : 'misconfigured'
}

function logFailure(log: Log, error: unknown, words: string): void {
	const expected = error instanceof RpcError || error instanceof StateError
	const hint = expected ? 'nothing is lost, the next poll tries again' : 'this is a fault of tracewatch itself'
	log.error({ err: error }, `polling failed: ${words}; ${hint}`)
}
