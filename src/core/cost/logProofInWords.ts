import { mostProvedOf } from './cost.js'

interface LogReading {
	readonly isPrivate: boolean
	/** Null: all, or a share if a second endpoint gives the same logs. */
	readonly mostLogProofs: number | null
	/** Number of endpoints that can be asked. */
	readonly endpoints: number
}

/** The proof used that no log of a token is missing. */
export function logProofInWords({ isPrivate, mostLogProofs, endpoints }: LogReading): string {
	const near = 'in polls of up to 3 blocks each is proved by its receipts'
	const most = mostProvedOf(mostLogProofs, endpoints > 1)
	if (isPrivate || most === Number.POSITIVE_INFINITY) {
		return `${near}${isPrivate ? '' : ', and in longer ones where its header does not rule out one more log'}`
	}
	const drawn = `${most} of 500 are drawn and proved`
	const others =
		endpoints > 1
			? 'a second endpoint must tell the same'
			: 'the others are believed: a second endpoint or `log_proof: all` proves them'
	return `${near}; of others whose headers do not rule out one more log, ${drawn}; ${others}`
}
