import type { Steps } from '../core/steps.js'

/** Lets everybody else go on. */
export function yieldNow(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve))
}

/** The work to its end, others having a turn at each of its borders. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
		await yieldNow()
	}
}
