/** Decides what is wrong with the polling of a network, and says it: notices, /healthz, pages and status repeat it. */

import { iso } from '../../base/utc.js'
import type { NetworkHealth } from '../../model/trouble.js'
import type { ConfiguredPoller } from '../polling/networkPoller.js'
import type { TickResult } from '../polling/pollerStatus.js'
import { behindInWords, isFarBehind, LASTING_MS, reach } from '../polling/remedy.js'

export interface Progress {
	readonly poller: ConfiguredPoller
	checkpoint: bigint | null
	/** Of the poll that moved the checkpoint, or ended last. */
	head: bigint | null
	/** When the checkpoint last moved, or watching began; where an earlier run announced a stall, its beginning. */
	movedAtMs: number
	/** The same by the steady clock. */
	movedAtSteadyMs: number
}

/** `stalled`: events go unreported; `degraded`: no poll has succeeded for a while. */
export interface NetworkNow extends NetworkHealth {
	readonly status: 'ok' | 'stalled' | 'degraded'
}

const lasting: ReadonlySet<TickResult | null> = new Set(['misconfigured', 'unwritten', 'backlog'])

/** Whether nothing was scanned for `stall_after`. Receivers are notified of this alone. */
export function isStalled({ poller, movedAtSteadyMs }: Progress, steadyMs: number): boolean {
	return steadyMs - movedAtSteadyMs > (poller.network.stallAfterMs ?? Number.MAX_VALUE)
}

/**
 * Whatever `stall_after` says, it names failures that do not pass by themselves (an endpoint on another chain, a state
 * that cannot be written, too many waiting deliveries), polls of which none succeeds, and a head below a scanned block.
 */
export function networkNow(progress: Progress, { nowMs, steadyMs }: { nowMs: number; steadyMs: number }): NetworkNow {
	const { poller, checkpoint, movedAtMs } = progress
	const { name: network, quietAfterMs } = poller
	const { rpc, stallAfterMs } = poller.network
	const { lastReport, backSinceMs, isBackTwice, failure, lastDoneAtMs, lastResult, wellAtMs } = poller.status()
	const head = lastReport?.head ?? null
	const quietMs = steadyMs - wellAtMs
	// By the clock of now, which may have been set since.
	const wellAt = new Date(nowMs - quietMs).toISOString()
	const isFirst = lastDoneAtMs === null
	const isQuiet = quietMs > Math.max(LASTING_MS, isFirst ? 0 : quietAfterMs)
	const isUnknown = isQuiet || isFirst
	const behind = head !== null && checkpoint !== null && head < checkpoint ? { head, checkpoint } : null

	function why(): string {
		if (failure !== null) return failure
		if (isUnknown || quietMs > (stallAfterMs ?? Number.POSITIVE_INFINITY) / 2) {
			const hosts = rpc.map((url) => new URL(url).host).join(' or ')
			const yet = isFirst ? ' yet' : ''
			return `no poll has ended${yet}: no answer of ${hosts}, or only rate limits (429). To do: ${reach}`
		}
		if (behind !== null) return behindInWords(behind)
		const remedy = 'compare with another endpoint, and put it first in `rpc` if it is ahead'
		return `polls work, but the head stands at block ${head}. To do: ${remedy}`
	}

	function trouble(): Pick<NetworkNow, 'ok' | 'status' | 'reason'> {
		const ill = (status: NetworkNow['status'], reason: string) => ({ ok: false, status, reason })
		if (isStalled(progress, steadyMs)) {
			return ill('stalled', `no block of ${network} was scanned since ${iso(movedAtMs)}: ${why()}`)
		}
		if (failure !== null && lasting.has(lastResult)) return ill('stalled', `${network} is not scanned: ${failure}`)
		if (isQuiet) return ill('degraded', `${network} is degraded: no poll has succeeded since ${wellAt}: ${why()}`)
		const isLong = backSinceMs !== null && steadyMs - backSinceMs > LASTING_MS
		if (behind !== null && (isFarBehind(behind) ? isLong || isBackTwice : isLong && isBackTwice))
			return ill('stalled', `${network}: ${behindInWords(behind)}`)
		return { ok: true, status: 'ok', reason: null }
	}

	return {
		...{ network, ...trouble() },
		checkpoint: checkpoint === null ? null : Number(checkpoint),
		head: head === null || isUnknown ? null : Number(head),
		...(isUnknown && { headUnknownSince: wellAt }),
		...(!isUnknown && backSinceMs !== null && { isBehindCheckpoint: true }),
		lastPollAt: iso(lastDoneAtMs),
	}
}
