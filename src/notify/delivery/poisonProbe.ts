/**
 * Tells a failing message from a failing receiver. A receiver may answer 5xx to one message and accept others, because
 * of a firewall or a fault in its parser. So once the first delivery of a queue has failed for minutes, the deliveries
 * behind it are tried. If the receiver accepts one, those that failed are quarantined. If it accepts none, the receiver
 * fails, and the queue stays as it is.
 */

import type { Delivery, Outcome } from '../../model/delivery.js'

export type Failed = Outcome & { readonly result: 'retry' }

export interface Suspect {
	readonly delivery: Delivery
	readonly outcome: Failed
}

export interface PoisonProbe {
	/** Records a failed delivery; returns whether to try the next one. */
	failed(delivery: Delivery, outcome: Failed): boolean
	/** Failed deliveries without a verdict, in order; the queue waits for the first. */
	readonly suspects: readonly Suspect[]
	/** The receiver accepted a delivery behind them: returns the suspects, to be quarantined, and clears them. */
	acquitReceiver(): readonly Suspect[]
}

/** Failed attempts of the first delivery before others are tried: 3 minutes on average. */
const attemptsBeforeProbe = 5
/** The same while the queue has quarantined deliveries: 3 s. An attacker who caused one such message causes more. */
const attemptsWhileQuarantined = 2

/** Deliveries tried behind the first; mail servers count the mails that they refuse. */
const most = { webhook: 99, mail: 12 }
/**
 * Limit after an answer that asks to wait: 1 at first, 1 more with each attempt of the first delivery, at most this
 * many.
 */
const mostWhenAsked = { webhook: 12, mail: 3 }
/** Time limit for trying others. */
const mostMs = 60_000

/** For one pass over a queue. `steady` is a monotonic clock. */
export function createPoisonProbe(isAnyQuarantined: boolean, steady: () => number): PoisonProbe {
	const firstProbe = isAnyQuarantined ? attemptsWhileQuarantined : attemptsBeforeProbe
	let suspects: Suspect[] = []
	let untilMs = Number.POSITIVE_INFINITY
	let mayFail = 0
	/** How many times the deliveries behind the first were tried before. */
	let extraAttempts = 0
	return {
		failed(delivery, outcome) {
			const sort = delivery.recipient === null ? 'webhook' : 'mail'
			if (suspects.length === 0) {
				extraAttempts = delivery.attempts - firstProbe
				mayFail = extraAttempts < 0 ? 0 : most[sort]
				untilMs = steady() + mostMs
			}
			if (outcome.afterMs !== undefined) mayFail = Math.min(mayFail, mostWhenAsked[sort], extraAttempts + 1)
			suspects.push({ delivery, outcome })
			return suspects.length <= mayFail && steady() < untilMs
		},
		get suspects() {
			return suspects
		},
		acquitReceiver() {
			const judged = suspects
			suspects = []
			return judged
		},
	}
}

/** The outcome of the first, with the longest wait that any of the answers asked for. */
export function withLongestWait(all: readonly Suspect[], first: Failed): Failed {
	const asked = all.flatMap(({ outcome }) => outcome.afterMs ?? [])
	return asked.length === 0 ? first : { ...first, afterMs: Math.max(...asked) }
}
