import { counted } from '../../base/text/counted.js'
import { iso } from '../../base/utc.js'
import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { NetworkHealth, NetworkTrouble } from '../../model/trouble.js'
import type { PollReport } from '../../scan/poll.js'
import type { ConfiguredPoller } from '../polling/networkPoller.js'
import { behindInWords, reach } from '../polling/remedy.js'
import type { Notices, Words } from './notices.js'

export type Vitals = ReturnType<typeof createVitals>

export interface VitalsOptions {
	readonly pollers: readonly ConfiguredPoller[]
	/** Names of the receivers of a network's watches. */
	readonly receiversOf: (network: string) => readonly string[]
	/** Includes stalls that an earlier run announced and did not end. */
	readonly notices: Notices
	readonly clock: Clock
	/** Monotonic clock for measuring silence. Default: `clock`. */
	readonly steady?: Clock
	readonly log: Log
	/** Called at once for each network, so that its gauge exists from the start, and at each check. */
	readonly onChange?: (network: string, stalled: boolean) => void
}

interface Progress {
	readonly poller: ConfiguredPoller
	checkpoint: bigint | null
	head: bigint | null
	/** When the checkpoint last moved, or watching began; where an earlier run announced a stall, its beginning. */
	movedAtMs: number
	/** The same by the steady clock. */
	movedAtSteadyMs: number
}

/** Watches over the polling itself, so that the absence of alerts means that nothing happened. */
export function createVitals(options: VitalsOptions) {
	const { notices, receiversOf, clock, log, onChange, steady = clock } = options
	const networks = options.pollers.map((poller): Progress => {
		const stall = notices.open('stalled').find(({ network }) => network === poller.name)
		return {
			...{ poller, head: null },
			checkpoint: stall?.checkpoint == null ? null : BigInt(stall.checkpoint),
			movedAtMs: stall?.sinceMs ?? clock(),
			movedAtSteadyMs: stall === undefined ? steady() : Number.NEGATIVE_INFINITY,
		}
	})
	const progressOf = (network: string) => networks.find(({ poller }) => poller.name === network)
	const isStalled = ({ poller, movedAtSteadyMs }: Progress) =>
		steady() - movedAtSteadyMs > (poller.network.stallAfterMs ?? Number.MAX_VALUE)

	/** Checks every network. Posts a notice when a stall begins or ends, once the state can be written. */
	function check(): Promise<void> {
		for (const progress of networks) onChange?.(progress.poller.name, isStalled(progress))
		return notices.reconcile('stalled', networks.filter(isStalled).map(stallOf), wordsOf)
	}

	function stallOf({
		poller: {
			name: network,
			network: { chainId },
		},
		checkpoint,
		movedAtMs: sinceMs,
	}: Progress): NetworkTrouble {
		const at = checkpoint === null ? null : String(checkpoint)
		const of = { network, chainId, sinceMs, receivers: receiversOf(network) }
		return { kind: 'stalled', ...of, checkpoint: at, announced: false }
	}

	function wordsOf({ network, sinceMs }: NetworkTrouble, isOver: boolean): Words {
		const progress = progressOf(network)
		const { checkpoint = null, head = null } = progress ?? {}
		const gone = `${network} is no longer configured: it is not scanned`
		if (isOver) {
			const reason = progress === undefined ? gone : recoveryReason(progress, sinceMs, clock())
			log.info({ network, checkpoint, head }, `recovered: ${reason}`)
			return { type: 'system.recovered', checkpoint, head, reason }
		}
		const reason = progress === undefined ? gone : stallReason(progress, clock())
		log.error({ network, checkpoint, head }, `stalled: ${reason}`)
		return { type: 'system.stalled', checkpoint, head, reason }
	}

	function moved(progress: Progress): void {
		progress.movedAtMs = clock()
		progress.movedAtSteadyMs = steady()
	}

	// At once: announces what a kill prevented, and ends the stalls of networks no longer configured.
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
		scanned(network: string, checkpoint: bigint): void {
			const progress = progressOf(network)
			// Blocks scanned again after a reorganisation are no progress.
			if (progress === undefined || (progress.checkpoint !== null && checkpoint <= progress.checkpoint)) return
			moved(progress)
			progress.checkpoint = checkpoint
		},
		networks: () => networks.map((progress) => vitalsOf(progress, !isStalled(progress), clock())),
	}
}

function vitalsOf(progress: Progress, ok: boolean, nowMs: number): NetworkHealth {
	const { poller, checkpoint, head } = progress
	return {
		network: poller.name,
		ok,
		reason: ok ? null : stallReason(progress, nowMs),
		checkpoint: checkpoint === null ? null : Number(checkpoint),
		head: head === null ? null : Number(head),
		lastPollAt: iso(poller.status().lastDoneAtMs),
	}
}

function stallReason({ poller, checkpoint, head, movedAtMs }: Progress, nowMs: number): string {
	const { name, rpc, stallAfterMs } = poller.network
	const since = `no block of ${name} was scanned since ${iso(movedAtMs)}`
	const { failure, lastDoneAtMs } = poller.status()
	const asked = rpc.map((url) => new URL(url).host).join(' or ')
	const who = `no answer of ${asked}, or only rate limits (429)`
	if (failure !== null) return `${since}: ${failure}`
	if (head === null || checkpoint === null) return `${since}: no poll has ended yet: ${who}. To do: ${reach}`
	if (lastDoneAtMs !== null && nowMs - lastDoneAtMs > (stallAfterMs ?? Number.POSITIVE_INFINITY) / 2) {
		return `${since}, and no poll has ended since ${iso(lastDoneAtMs)}: ${who}. To do: ${reach}`
	}
	if (head < checkpoint) return `${since}: ${behindInWords(head, checkpoint)}`
	const stands = `${since}: polls work, but the head stands at block ${head}`
	return `${stands}. To do: compare with another endpoint, and put it first in \`rpc\` if it is ahead`
}

function recoveryReason({ poller, checkpoint }: Progress, sinceMs: number, nowMs: number): string {
	const minutes = Math.max(1, Math.round((nowMs - sinceMs) / 60_000))
	return (
		`${poller.name} is scanned again, to block ${checkpoint}, after ${counted(minutes, 'minute')}; ` +
		'what happened meanwhile is sent late'
	)
}
