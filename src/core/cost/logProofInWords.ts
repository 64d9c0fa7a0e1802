import { mostProvedOf } from './cost.js'

interface LogReading {
	readonly isPrivate: boolean
	/** Number of endpoints that can be asked. */
	readonly endpoints: number
}

/** The proof used that no log of a token is missing. */
export function logProofInWords({ isPrivate, endpoints }: LogReading): string {
	const near = 'in polls of up to 3 blocks each is proved by its receipts'
	const most = mostProvedOf(endpoints > 1)
	if (isPrivate || most === Number.POSITIVE_INFINITY) {
		return `${near}${isPrivate ? '' : ', and in longer ones where its header does not rule out one more log'}`
	}
	return (
		`${near}; of others whose headers do not rule out one more log, ${most} of 500 are drawn and proved; ` +
		'a second endpoint must tell the same'
	)
}
