/**
 * A receiver may refuse one message (a firewall reads it) or every message (its secret is wrong). So within one pass
 * over a queue, 3 retried deliveries and 3 new ones are tried before the rest is parked untried. An accepted delivery
 * shows that the receiver works.
 */

import type { Delivery, Outcome, ReasonCode } from '../../model/delivery.js'

export interface RefusalSampling {
	/** The outcome of a delivery that need not be tried; null: try it. */
	presumed(delivery: Delivery): Outcome | null
	note(delivery: Delivery, refused: Outcome & { readonly result: 'parked' }): void
	/** The receiver accepted a delivery: all that follow are tried. */
	reset(): void
	/** Ids that were refused in this pass, tried or not. */
	readonly refused: ReadonlySet<string>
}

/** After this many consecutive refusals the receiver is taken to refuse everything. */
export const sampleSize = 3

/**
 * Refusals of a mail server before it sees a message. They count for all messages, because many failed logins lock an
 * account.
 */
const beforeMessage = new Set<ReasonCode>(['login-refused', 'login-wanted', 'no-login', 'no-tls', 'not-served'])

export function createRefusalSampling(): RefusalSampling {
	const refused = new Set<string>()
	let last: Outcome | null = null
	/** Consecutive refusals of deliveries that were tried before, and of new ones. */
	const inRow = { old: 0, fresh: 0 }
	const kindOf = ({ attempts }: Delivery) => (attempts === 0 ? 'fresh' : 'old')

	return {
		refused,
		presumed: (delivery) => (inRow[kindOf(delivery)] < sampleSize ? null : last),
		note(delivery, outcome) {
			refused.add(delivery.id)
			last = outcome
			const isOfAll = delivery.recipient !== null && beforeMessage.has(outcome.code)
			inRow[kindOf(delivery)] += isOfAll ? sampleSize : 1
		},
		reset() {
			inRow.old = 0
			inRow.fresh = 0
		},
	}
}
