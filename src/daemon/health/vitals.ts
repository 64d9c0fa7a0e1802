import { counted } from '../../base/text/counted.js'
import { systemDeliveries } from '../../core/outbox/system.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { NetworkSummary } from '../../model/state.js'
import type { NetworkTrouble } from '../../model/trouble.js'
import type { TroubleBook } from '../../notify/delivery/troubles.js'
import type { PollReport } from '../../scan/poll.js'
import type { ConfiguredPoller } from '../polling/networkPoller.js'
import { isStalled, networkNow, type Progress } from './networkNow.js'

export type Vitals = ReturnType<typeof createVitals>

export interface VitalsOptions {
	readonly pollers: readonly ConfiguredPoller[]
	readonly receiversOf: (network: string) => readonly string[]
	/** Includes stalls that an earlier run announced and did not end. */
	readonly troubles: TroubleBook
	/** The networks of the state at the start: their checkpoints are shown until a poll succeeds. */
	readonly known: ReadonlyMap<string, Pick<NetworkSummary, 'checkpoint'>>
	readonly clock: Clock
	/** Monotonic clock for measuring silence. Default: `clock`. */
	readonly steady?: Clock
	readonly log: Log
	/** Called at once for each network, so that its gauge exists from the start, and at each check. */
	readonly onChange?: (network: string, stalled: boolean) => void
}

/** Watches over the polling itself, so that the absence of alerts means that nothing happened. */
export function createVitals(options: VitalsOptions) {
	const { troubles, known, receiversOf, clock, log, onChange, steady = clock } = options
	const networks = options.pollers.map((poller): Progress => {
		const stall = troubles.open('stalled').find(({ network }) => network === poller.name)
		return {
			poller,
			checkpoint: known.get(poller.name)?.checkpoint.number ?? null,
			head: null,
			movedAtMs: stall?.sinceMs ?? clock(),
			movedAtSteadyMs: stall === undefined ? steady() : Number.NEGATIVE_INFINITY,
		}
	})
	const progressOf = (network: string) => networks.find(({ poller }) => poller.name === network)
	const now = (progress: Progress) => networkNow(progress, { nowMs: clock(), steadyMs: steady() })

	/** Checks every network. Posts a notice when a stall begins or ends, once the state can be written. */
	function check(): Promise<void> {
		const stalled = networks.filter((progress) => isStalled(progress, steady()))
		for (const progress of networks) onChange?.(progress.poller.name, stalled.includes(progress))
		return troubles.reconcile('stalled', stalled.map(stallOf), (trouble, isOver) =>
			systemDeliveries({ ...trouble, ...wordsOf(trouble, isOver) }, trouble.receivers, troubles.posting()),
		)
	}

	function stallOf({ poller, checkpoint, movedAtMs: sinceMs }: Progress): NetworkTrouble {
		const { name: network, chainId } = poller.network
		const at = checkpoint === null ? null : String(checkpoint)
		const of = { network, chainId, sinceMs, receivers: receiversOf(network) }
		return { kind: 'stalled', ...of, checkpoint: at }
	}

	function wordsOf({ network, sinceMs }: NetworkTrouble, isOver: boolean) {
		const progress = progressOf(network)
		const checkpoint = progress?.checkpoint ?? null
		const head = progress?.head ?? null
		const words = progress && (isOver ? recoveryReason(progress, sinceMs, clock()) : now(progress).reason)
		const reason = words ?? `${network} is no longer configured: it is not scanned`
		if (isOver) log.info({ network, checkpoint, head }, `recovered: ${reason}`)
		else log.error({ network, checkpoint, head }, `stalled: ${reason}`)
		return { type: isOver ? 'system.recovered' : 'system.stalled', checkpoint, head, reason } as const
	}

	function moved(progress: Progress): void {
		progress.movedAtMs = clock()
		progress.movedAtSteadyMs = steady()
	}

	// At once: ends the stalls of networks that are no longer configured.
	void check()
	return {
		check,
		reported(network: string, report: PollReport): void {
			const progress = progressOf(network)
			if (progress === undefined) return
			// Blocks scanned a second time or for a backfill are progress, too.
			if (progress.checkpoint !== report.checkpoint || report.blocks > 0n) moved(progress)
			progress.checkpoint = report.checkpoint
			progress.head = report.head
		},
		/** A poll that still runs, and may still fail, has scanned up to this block. */
		scanned(network: string, checkpoint: bigint, head: bigint): void {
			const progress = progressOf(network)
			// Blocks scanned again after a reorganisation are no progress.
			if (progress === undefined || (progress.checkpoint !== null && checkpoint <= progress.checkpoint)) return
			moved(progress)
			Object.assign(progress, { checkpoint, head })
		},
		networks: () => networks.map(now),
	}
}

function recoveryReason({ poller, checkpoint }: Progress, sinceMs: number, nowMs: number): string {
	const minutes = Math.max(1, Math.round((nowMs - sinceMs) / 60_000))
	return (
		`${poller.name} is scanned again, to block ${checkpoint}, after ${counted(minutes, 'minute')}; ` +
		'what happened meanwhile is sent late'
	)
}
