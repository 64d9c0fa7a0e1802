/** Alerts of one watch that its first alert stands for, because too many deliveries to the receiver are pending. */
export interface FoldedAlerts {
	/** Number of alerts besides the one that carries this. */
	readonly count: number
	/** First and last block of those alerts, both included. */
	readonly fromBlock: number
	readonly toBlock: number
	/** Amounts summed by direction and asset. All tokens that the operator has not named share one sum. */
	readonly sums: readonly FoldedSum[]
}

export interface FoldedSum {
	readonly direction: 'in' | 'out' | 'self'
	/** Null for unknown tokens, and for alerts without an amount. */
	readonly asset: string | null
	/** Contract of a known token; absent for the network's coin and for unknown tokens. */
	readonly contract?: string
	readonly count: number
	/** Decimal text in the smallest unit; null where `asset` is null. */
	readonly amountRaw: string | null
	/** In whole coins or tokens; null where `asset` is null, and for tokens with ids. */
	readonly amount: string | null
}
