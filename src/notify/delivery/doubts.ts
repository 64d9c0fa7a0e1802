/**
 * One message may draw 5xx for ever from a receiver that works otherwise: a firewall that chokes on it, a fault in the
 * receiver's parser. So once the first of a queue has failed for minutes, some of those behind it are tried. When one
 * is taken it was the messages: those that failed are set aside. When none is, it was the receiver, and nothing has
 * changed.
 */

import type { Delivery, Outcome } from '../../model/delivery.js'

export type Failed = Outcome & { readonly result: 'retry' }

export interface Doubted {
	readonly delivery: Delivery
	readonly outcome: Failed
}

export interface Doubts {
	/** Notes that it failed; whether the one behind it is to be tried all the same. */
	failed(delivery: Delivery, outcome: Failed): boolean
	/** What failed and is not judged yet, in order; the first is what the queue waits for. */
	readonly open: readonly Doubted[]
	/** One behind them was taken: gives them over to be set aside. */
	taken(): readonly Doubted[]
}

/** Attempts that the first of a queue has behind it: by then it was tried for three minutes, on average. */
const patience = 5
/** Where others are set aside already: three seconds. Whoever made one such message can make more. */
const shortPatience = 2

/** How many in a row are tried behind it, at most; mail servers count what they refuse. */
const fewest = { webhook: 12, mail: 3 }
const most = { webhook: 99, mail: 12 }
/** For as long as that, where each fails slowly. */
const mostMs = 60_000

/** For one pass over a queue; `steady` is a clock that nobody sets. */
export function createDoubts(isAnyAside: boolean, steady: () => number): Doubts {
	const firstDoubt = isAnyAside ? shortPatience : patience
	let open: Doubted[] = []
	let untilMs = Number.POSITIVE_INFINITY
	let mayFail = 0
	/** How often the first was in doubt before. */
	let rounds = 0
	return {
		failed(delivery, outcome) {
			const sort = delivery.recipient === null ? 'webhook' : 'mail'
			if (open.length === 0) {
				rounds = delivery.attempts - firstDoubt
				mayFail = rounds < 0 ? 0 : Math.min(most[sort], fewest[sort] * 2 ** Math.min(rounds, 10))
				untilMs = steady() + mostMs
			}
			// Who asks to be left alone mostly is: one is tried behind it, and one more each time.
			if (outcome.afterMs !== undefined) mayFail = Math.min(mayFail, fewest[sort], rounds + 1)
			open.push({ delivery, outcome })
			return open.length <= mayFail && steady() < untilMs
		},
		get open() {
			return open
		},
		taken() {
			const judged = open
			open = []
			return judged
		},
	}
}

/** The outcome of the first, with the longest wait that any of them asked for. */
export function asPatientAs(all: readonly Doubted[], first: Failed): Failed {
	const asked = all.flatMap(({ outcome }) => outcome.afterMs ?? [])
	return asked.length === 0 ? first : { ...first, afterMs: Math.max(...asked) }
}
