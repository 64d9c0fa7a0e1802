/**
 * A receiver may refuse one message (a firewall reads it) or every message (its secret is wrong, a quota is full). So
 * within one pass over a queue, 3 retried deliveries and 3 new ones are tried before the receiver is taken to refuse
 * everything. An accepted delivery shows that it does not.
 */

import { isReread } from '../../core/outbox/retriedDeadLetters.js'
import type { Delivery, Outcome, ReasonCode } from '../../model/delivery.js'

export type Refusal = Outcome & { readonly result: 'parked' }

export interface RefusalSampling {
	/** The refusal of a delivery that need not be tried; null: try it. */
	presumed(delivery: Delivery): Refusal | null
	note(delivery: Delivery, refusal: Refusal): void
	/** The receiver accepted a delivery: all that follow are tried. */
	reset(): void
	/** Whether the receiver refuses everything. */
	refusesAll(): boolean
	/** Refused in this pass and not recorded yet: it is not known whether the receiver refuses them alone. */
	readonly refused: { readonly delivery: Delivery; readonly refusal: Refusal }[]
	/** Parked deliveries of a receiver that rests since an earlier pass; empty: it does not. */
	readonly resting: readonly Delivery[]
}

/** After this many consecutive refusals the receiver is taken to refuse everything. */
export const sampleSize = 3

/**
 * The same for what an accepted message has freed: the receiver accepts some, and what it refuses for ever may stand
 * before the others.
 */
const mostFreed = 12

/**
 * Refusals of a mail server before it sees a message. They count for all messages, because many failed logins lock an
 * account.
 */
const beforeMessage = new Set<ReasonCode | undefined>([
	'login-refused',
	'login-wanted',
	'no-login',
	'no-tls',
	'not-served',
])

/** Whether the failure is of all recipients of a mail server. */
export function isOfAll({ recipient, lastErrorCode }: Pick<Delivery, 'recipient' | 'lastErrorCode'>): boolean {
	return recipient !== null && beforeMessage.has(lastErrorCode)
}

export interface Before {
	/** Parked deliveries of a receiver that rests. */
	readonly resting: readonly Delivery[]
	/** Different messages refused since the last accepted one. */
	readonly inRow: number
	/** Whether the queue accepted a message just now. */
	readonly worksNow: boolean
}

export function createRefusalSampling(before: Before): RefusalSampling {
	const refused: { delivery: Delivery; refusal: Refusal }[] = []
	let { resting } = before
	const [words] = resting.slice(-1)
	let last: Refusal | null =
		words === undefined
			? null
			: { result: 'parked', code: words.lastErrorCode ?? 'message-refused', reason: words.lastError ?? '' }
	/** Consecutive refusals of deliveries that were tried or parked before, and of new ones. */
	const inRow = { old: 0, fresh: Math.min(before.inRow, sampleSize - 1) }
	const most = { old: before.worksNow ? mostFreed : sampleSize, fresh: sampleSize }
	const kindOf = (delivery: Delivery) => (delivery.attempts > 0 || isReread(delivery) ? 'old' : 'fresh')

	return {
		refused,
		get resting() {
			return resting
		},
		presumed(delivery) {
			// During a rest only what was made due by the probe or by the operator is tried, up to the first refusal.
			if (resting.length > 0) return refused.length > 0 || !isReread(delivery) ? last : null
			return inRow[kindOf(delivery)] < most[kindOf(delivery)] ? null : last
		},
		note(delivery, refusal) {
			refused.push({ delivery, refusal })
			last = refusal
			inRow[kindOf(delivery)] += 1
			if (isOfAll({ ...delivery, lastErrorCode: refusal.code })) inRow.fresh = sampleSize
			if (inRow.fresh >= sampleSize) inRow.old = most.old
		},
		reset() {
			resting = []
			inRow.old = 0
			inRow.fresh = 0
		},
		refusesAll: () => resting.length > 0 || inRow.fresh >= sampleSize || (!before.worksNow && inRow.old >= sampleSize),
	}
}
