/** How one network fares, as operators and people see it. */
export interface NetworkHealth {
	readonly network: string
	readonly ok: boolean
	/** Why not, in a sentence; null while all is well. */
	readonly reason: string | null
	readonly checkpoint: number | null
	readonly head: number | null
	/** ISO 8601; null before the first poll that ended well. */
	readonly lastPollAt: string | null
}
