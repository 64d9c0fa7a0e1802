/**
 * What receivers were told is wrong and not yet told is right again: incidents stand open there until somebody ends
 * them. Kept beside the state, so that what is fixed while no daemon runs is ended by the next.
 */

export interface Trouble {
	readonly kind: 'stalled' | 'refused'
	readonly network: string
	readonly chainId: number
	/** Names it: its end is told under the same. */
	readonly sinceMs: number
	/** Names of the receivers that are told. */
	readonly receivers: readonly string[]
	/** Decimal; of a stall, the last block scanned before it; null: none was. */
	readonly checkpoint: string | null
	/** False: a kill may have come before it was told. */
	readonly announced: boolean
}

export interface Troubles {
	readonly open: readonly Trouble[]
	/** How often refused watchlists became right: the same edit made once more is news. */
	readonly timesAccepted: number
}

/** The troubles of one state. */
export interface TroubleBook {
	current(): Troubles
	/** One change after the other. Durable when it resolves. Throws StateError; then nothing has changed. */
	change(change: (before: Troubles) => Troubles): Promise<void>
}
