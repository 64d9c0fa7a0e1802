/** Yields the event loop: long work pauses once the current turn has lasted 5 ms, whichever work used the time. */

import { setImmediate } from 'node:timers'

const sliceMs = 5
/** Small items between two readings of the clock. */
const perLook = 32
let items = 0
/** Time of the first check in this turn of the event loop; null: not checked yet. */
let beganMs: number | null = null

/**
 * Whether this turn of the event loop has lasted 5 ms. Cheap enough to be called for each row of an answer; larger
 * items count as several.
 */
export function isSliceOver(size = 1): boolean {
	items += size
	if (items < perLook) return false
	items = 0
	if (beganMs !== null) return performance.now() - beganMs > sliceMs
	beganMs = performance.now()
	setImmediate(() => {
		beganMs = null
	})
	return false
}

/** Lets other work run. */
export function nextSlice(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve))
}

/** Runs work of the pure core, whose steps are some milliseconds at most, to its end. */
export async function inSteps<T>(steps: Generator<undefined, T>): Promise<T> {
	for (let step = steps.next(); ; step = steps.next()) {
		if (step.done === true) return step.value
		if (isSliceOver(perLook)) await nextSlice()
	}
}
