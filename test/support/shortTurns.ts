import { expect } from 'vitest'

/**
 * Holds that the work was done in slices: its longest turn of the event loop is a small part of it. Both are times of
 * the processor, in ms. Turns below half a second pass on a slow machine too; `npm run bench` measures them.
 */
export function expectShortTurns(longestMs: number, workMs: number): void {
	expect(longestMs).toBeLessThan(Math.max(500, workMs / 4))
}
