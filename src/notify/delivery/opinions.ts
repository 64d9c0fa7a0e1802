/**
 * What a receiver refuses until somebody has fixed it, within one pass over a queue. It may be the message that is
 * refused (a firewall that reads it) and not the receiver that is broken: so a few are tried before the rest is parked
 * untried, and what is new a few times by itself. One that is taken shows that the receiver works.
 */

import type { Delivery, Outcome, ReasonCode } from '../../model/delivery.js'

export interface Opinions {
	/** What is known of this one untried; null: it is to be tried. */
	known(delivery: Delivery): Outcome | null
	note(delivery: Delivery, refused: Outcome & { readonly result: 'parked' }): void
	/** One was taken: each that follows is judged by itself. */
	end(): void
	/** Of those that were refused in this pass, tried or not. */
	readonly ids: ReadonlySet<string>
}

/** So many refused in a row are the receiver's. */
export const mostOpinions = 3

/** What a mail server says before it has seen any message; many logins that fail lock an account. */
const unseen = new Set<ReasonCode>(['login-refused', 'login-wanted', 'no-login', 'no-tls', 'not-served'])

export function createOpinions(): Opinions {
	const ids = new Set<string>()
	let last: Outcome | null = null
	/** In a row, of what was tried before, and of what is new. */
	const inRow = { old: 0, fresh: 0 }
	const kindOf = ({ attempts }: Delivery) => (attempts === 0 ? 'fresh' : 'old')

	return {
		ids,
		known: (delivery) => (inRow[kindOf(delivery)] < mostOpinions ? null : last),
		note(delivery, refused) {
			ids.add(delivery.id)
			last = refused
			const isAll = delivery.recipient !== null && unseen.has(refused.code)
			inRow[kindOf(delivery)] += isAll ? mostOpinions : 1
		},
		end() {
			inRow.old = 0
			inRow.fresh = 0
		},
	}
}
