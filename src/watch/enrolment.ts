import { type EnrolmentBasis, enrolmentSteps } from '../core/coverage.js'
import type { Enrolment } from '../model/state.js'
import type { WatchIndex } from '../model/watch.js'

/** Step by step: a million watches take a second, and others must not wait for that. */
export async function enrolmentOf(basis: EnrolmentBasis, watches: WatchIndex): Promise<Enrolment | null> {
	const steps = enrolmentSteps(basis, watches)
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
		await new Promise((resolve) => setImmediate(resolve))
	}
}
