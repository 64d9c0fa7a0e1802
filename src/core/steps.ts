/**
 * Work that a stranger can make long, with a border after each step of it: who runs it may let others have a turn
 * there. Here is no clock, so a step is a count.
 */
export type Steps<T> = Generator<undefined, T>

/** Items in one step: some milliseconds at most. */
export const stepItems = 500

/** All of it in one breath. */
export function finish<T>(steps: Steps<T>): T {
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
	}
}
