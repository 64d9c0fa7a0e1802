import { RpcError, StateError } from '../errors.js'
import type { Log, WatchIndex } from '../model.js'
import { type PollReport, poll } from '../watch/poll.js'
import type { Beat, PollPorts } from '../watch/visit.js'

/** How one network fares; for health, metrics and the log. */
export interface RoundStatus {
	readonly lastReport: PollReport | null
	/** When a poll last ended well; null before the first. */
	readonly lastDoneAtMs: number | null
	/** Why the polls fail now; null while they end well. */
	readonly failure: string | null
	/** Ticks that found a poll running. */
	readonly skipped: number
}

/** `misconfigured`: the endpoints are on another chain than configured, so that trying again cannot help. */
export type RoundResult = 'done' | 'failed' | 'misconfigured' | 'stopped'

/** The polling of one network, never twice at a time. */
export interface Round {
	readonly name: string
	/**
	 * Polls until nothing is left below the target. A tick that finds a poll running is skipped and counted, since a late
	 * tick adds nothing: every poll goes from the checkpoint to the head. Never throws for a node or a disk that fails.
	 */
	tick(signal: AbortSignal): Promise<RoundResult>
	/** Takes effect at the next border; a running poll ends there and another begins. */
	setWatches(watches: WatchIndex): void
	/** Counts a tick that came while a poll was running. */
	skip(): void
	status(): RoundStatus
}

export interface RoundOptions {
	readonly beat: Beat
	readonly ports: PollPorts
	readonly onReport?: (report: PollReport) => void
}

export function createRound({ beat, ports, onReport }: RoundOptions): Round {
	const { log, clock } = ports
	let current = beat
	let running: Promise<RoundResult> | null = null
	let status: RoundStatus = { lastReport: null, lastDoneAtMs: null, failure: null, skipped: 0 }

	async function pollToTarget(signal: AbortSignal): Promise<RoundResult> {
		for (;;) {
			if (signal.aborted) return 'stopped'
			const used = current
			try {
				const report = await poll(used, ports, signal)
				onReport?.(report)
				succeeded(report)
				if (!report.behind && used === current) return 'done'
			} catch (error) {
				if (signal.aborted) return 'stopped'
				failed(error)
				return error instanceof RpcError && error.facts.wrongChainId !== undefined ? 'misconfigured' : 'failed'
			}
		}
	}

	function succeeded(report: PollReport): void {
		if (status.failure !== null) log.info({ checkpoint: report.checkpoint }, 'polling works again')
		if (report.behind) {
			const { checkpoint, target, blocks } = report
			log.info({ checkpoint, target, left: target - checkpoint, blocks }, 'catching up')
		} else {
			log.debug({ ...report }, 'polled')
		}
		status = { ...status, lastReport: report, lastDoneAtMs: clock(), failure: null }
	}

	/** Says a change, not each repetition. */
	function failed(error: unknown): void {
		const words = error instanceof Error ? error.message : String(error)
		if (status.failure !== words) tell(log, error, words)
		status = { ...status, failure: words }
	}

	function skip(): void {
		status = { ...status, skipped: status.skipped + 1 }
		log.debug({ skipped: status.skipped }, 'a poll is still running: this tick is skipped')
	}

	return {
		name: beat.network.name,
		tick(signal) {
			if (running !== null) {
				skip()
				return running
			}
			running = pollToTarget(signal).finally(() => {
				running = null
			})
			return running
		},
		setWatches(watches) {
			current = { ...current, watches }
		},
		skip,
		status: () => status,
	}
}

function tell(log: Log, error: unknown, words: string): void {
	const expected = error instanceof RpcError || error instanceof StateError
	const hint = expected ? 'nothing is lost, the next poll tries again' : 'this is a fault of tracewatch itself'
	log.error({ err: error }, `polling failed: ${words}; ${hint}`)
}
