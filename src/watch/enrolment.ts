import { type EnrolmentBasis, enrolmentSteps } from '../core/coverage.js'
import type { Enrolment } from '../model/state.js'
import type { WatchIndex } from '../model/watch.js'
import { inSteps } from './inSteps.js'

/** Step by step: a million watches take a second, and others must not wait for that. */
export function enrolmentOf(basis: EnrolmentBasis, watches: WatchIndex): Promise<Enrolment | null> {
	return inSteps(enrolmentSteps(basis, watches))
}
