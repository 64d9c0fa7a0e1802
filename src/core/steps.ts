/** Work that an attacker can make long, with a yield after each step. No clock here: a step is a number of items. */
export type Steps<T> = Generator<undefined, T>

/** Items in one step: some milliseconds at most. */
export const stepItems = 500

/** Runs all steps without a pause. */
export function finish<T>(steps: Steps<T>): T {
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
	}
}
