/**
 * What receivers were told is wrong and not yet told is right again: incidents stand open there until somebody ends
 * them. Kept beside the state, so that what is fixed while no daemon runs is ended by the next.
 */

export type Trouble = NetworkTrouble | UndeliveredTrouble

export interface NetworkTrouble extends Common {
	readonly kind: 'stalled' | 'refused'
	readonly network: string
	readonly chainId: number
	/** Decimal; of a stall, the last block scanned before it; null: none was. */
	readonly checkpoint: string | null
	/** False: a kill may have come before it was told. */
	readonly announced: boolean
}

/** A fallback was told that a receiver takes nothing, or refuses what it is sent. */
export interface UndeliveredTrouble extends Common {
	readonly kind: 'undelivered'
	/** The one that fails; its fallback is among those that are told. */
	readonly receiver: string
}

interface Common {
	/** Names it: its end is told under the same. */
	readonly sinceMs: number
	/** Names of the receivers that are told. */
	readonly receivers: readonly string[]
}

export interface Troubles {
	readonly open: readonly Trouble[]
	/** How often refused watchlists became right: the same edit made once more is news. */
	readonly timesAccepted: number
}

/** The troubles of one state, whichever instance has told of them. */
export interface TroubleBook {
	/** As of the last change or refresh. */
	current(): Troubles
	/**
	 * One change after the other, of several instances too; `change` may be called again. Durable when it resolves.
	 * Throws StateError; then nothing has changed.
	 */
	change(change: (before: Troubles) => Troubles): Promise<void>
	/** Takes in what other instances have changed. Throws StateError. */
	refresh(): Promise<void>
	close(): Promise<void>
}
