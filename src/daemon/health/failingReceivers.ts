/**
 * Finds receivers whose every attempt has failed for five minutes while messages wait, for example a mail server that
 * is down. Health reports them, with or without a fallback; `notify/delivery/fallback.ts` notifies the fallback.
 */

import type { Outcome } from '../../model/delivery.js'
import type { Clock } from '../../model/glossary.js'
import type { StateSummary } from '../../model/state.js'
import { OUTAGE_ATTEMPTS, OUTAGE_MS } from '../../notify/delivery/fallback.js'

export interface FailingReceivers {
	/** Notes the result of an attempt. */
	attempted(receiver: string, outcome: Outcome): void
	/** One sentence for each receiver that has failed for that long while messages wait. */
	reasons(summary: StateSummary): readonly string[]
}

/** Failed attempts of an earlier run that show an outage of minutes: three on average. */
const earlierAttempts = 6
const toDo = 'To do: see whether it runs and can be reached; what waits is retried without your help'

/** `steady`: a monotonic clock. */
export function createFailingReceivers(clock: Clock, steady: Clock): FailingReceivers {
	const failing = new Map<string, { readonly since: string; readonly steadyMs: number; readonly words: string }>()
	return {
		attempted(receiver, outcome) {
			// A parked or dead delivery is reported elsewhere, and shows that the receiver answers.
			if (outcome.result !== 'retry') failing.delete(receiver)
			else {
				const before = failing.get(receiver)
				const since = before?.since ?? new Date(clock()).toISOString()
				failing.set(receiver, { since, steadyMs: before?.steadyMs ?? steady(), words: outcome.reason })
			}
		},
		reasons({ receivers }) {
			return [...receivers].flatMap(([name, { pending, aside = 0, failedAttempts = 0 }]) => {
				const wait = pending - aside
				if (wait === 0) return []
				const known = failing.get(name)
				if (known === undefined) {
					if (failedAttempts < earlierAttempts) return []
					return [`${name} failed at each of its last ${failedAttempts} attempts (${wait} wait). ${toDo}`]
				}
				if (steady() - known.steadyMs < OUTAGE_MS && failedAttempts < OUTAGE_ATTEMPTS) return []
				return [`${name} has accepted no message since ${known.since} (${wait} wait): ${known.words}. ${toDo}`]
			})
		},
	}
}
