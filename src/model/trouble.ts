/**
 * Troubles that receivers were notified of and that have not ended yet: incident services keep an incident open until
 * it is resolved. Kept in the state, so that the next daemon can end what was repaired while no daemon ran.
 */

import type { UndeliveredData } from './alert.js'

export type Trouble = NetworkTrouble | UndeliveredTrouble

export interface NetworkTrouble extends Common {
	readonly kind: 'stalled' | 'refused'
	readonly network: string
	readonly chainId: number
	/** Decimal text. For a stall: the last block scanned before it; null: none was scanned. */
	readonly checkpoint: string | null
}

/** A receiver fails, refuses messages, or gave some up; its fallback is notified. */
export interface UndeliveredTrouble extends Common {
	readonly kind: 'undelivered'
	/** The receiver in trouble; its fallback is among `receivers`. */
	readonly receiver: string
	/** The mail address of the delivery that failed first; null where the receiver has no recipients. */
	readonly recipient: string | null
	/** `parked` becomes `dead`; `failing` is a trouble of its own. */
	readonly state: UndeliveredData['state']
	/** False: it is too short so far, or the process was killed before the message was posted. */
	readonly announced: boolean
}

interface Common {
	/** Identifies the trouble: the message that ends it has the same value. */
	readonly sinceMs: number
	/** Names of the notified receivers. */
	readonly receivers: readonly string[]
}

export interface Troubles {
	readonly open: readonly Trouble[]
	/** How often refused watchlists became valid again: it makes a repeated mistake a new trouble. */
	readonly timesAccepted: number
}

/** Blocks at which a second look or a backfill has been stuck for a minute; these are no gaps. */
export interface StuckLook {
	readonly network: string
	readonly look: 'second' | 'backfill'
	readonly fromBlock: number
	/** Inclusive. */
	readonly toBlock: number
	/** One sentence. */
	readonly reason: string
}

/** Health of one network, as shown to operators. */
export interface NetworkHealth {
	readonly network: string
	readonly ok: boolean
	/** Why the network is not well, in a sentence; null while it is. */
	readonly reason: string | null
	readonly checkpoint: number | null
	/** Null while it is unknown. */
	readonly head: number | null
	/** ISO 8601: present while no poll has shown the head for too long, or since the start. */
	readonly headUnknownSince?: string
	/** Present: a poll has found the head below the checkpoint. */
	readonly isBehindCheckpoint?: true
	/** ISO 8601; null before the first successful poll. */
	readonly lastPollAt: string | null
}

/** The health of the program, for load balancers, pages and people. */
export interface Health {
	/** False while an event may go unreported, or a notice may not reach all its receivers. */
	readonly ok: boolean
	/** The most severe trouble in one word; default: `ok` or `stalled`. */
	readonly status?: HealthStatus
	/** The reason in one sentence, also of what is no fault; null while there is nothing to say. */
	readonly reason: string | null
	/** The same reasons, one by one. */
	readonly reasons?: readonly string[]
	readonly networks: readonly NetworkHealth[]
	/** Default: none. */
	readonly stuck?: readonly StuckLook[]
	/** Networks whose last poll failed: no trouble yet, but the heartbeat waits. Default: none. */
	readonly failing?: readonly string[]
	/** Of each of them, why. */
	readonly failures?: readonly string[]
}

/**
 * Most severe first: a network is not scanned, or the state cannot be read; no poll has succeeded for a minute; blocks
 * cannot be read; a receiver refuses messages or fails; the edited watchlists are invalid.
 */
export type HealthStatus = 'stalled' | 'degraded' | 'gap' | 'undelivered' | 'refused' | 'ok' | 'standing by'
