/**
 * Receivers that have taken nothing for a quarter of an hour, though they were asked: a mail server that is down. What
 * waits is tried for 72 hours, and until then nobody else is told; so health says it.
 */

import type { Outcome } from '../model/delivery.js'
import type { Clock } from '../model/glossary.js'
import type { StateSummary } from '../model/state.js'

export interface FailingReceivers {
	/** An attempt has ended. */
	attempted(receiver: string, outcome: Outcome): void
	/** A sentence for each that is failing for long, and for which something waits. */
	reasons(summary: StateSummary): readonly string[]
}

const longMs = 15 * 60_000

/** `steady`: nobody sets it. */
export function createFailingReceivers(clock: Clock, steady: Clock): FailingReceivers {
	const failing = new Map<string, { readonly since: string; readonly steadyMs: number; readonly words: string }>()
	return {
		attempted(receiver, outcome) {
			// What is parked or dead is said elsewhere, and shows that somebody answers.
			if (outcome.result !== 'retry') failing.delete(receiver)
			else {
				const before = failing.get(receiver)
				const since = before?.since ?? new Date(clock()).toISOString()
				failing.set(receiver, { since, steadyMs: before?.steadyMs ?? steady(), words: outcome.reason })
			}
		},
		reasons({ receivers }) {
			return [...failing].flatMap(([name, { since, steadyMs, words }]) => {
				const { pending = 0, aside = 0 } = receivers.get(name) ?? {}
				if (pending - aside === 0 || steady() - steadyMs < longMs) return []
				return [
					`${name} has taken nothing since ${since} (${pending} wait): ${words}. ` +
						'To do: see whether it runs; what waits is tried again by itself',
				]
			})
		},
	}
}
