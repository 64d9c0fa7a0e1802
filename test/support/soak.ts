/**
 * What only `npm run soak` tries or measures, before a release: random kills by the hundred, fuzzers by time, floods,
 * and bounds on time, processor and memory, which a busy machine may break. A file that imports this one runs there.
 */
import { expect, test } from 'vitest'

const isSoak = process.env.TRACEWATCH_SOAK === '1'

/** The first in `npm test` and `npm run test:long`, the second in `npm run soak`. */
export function soaked<T>(usual: T, soak: T): T {
	return isSoak ? soak : usual
}

/** A test that only the soak has. */
export const testInSoak: typeof test = isSoak ? test : (((): void => {}) as unknown as typeof test)

/** Seconds of each fuzzer in the soak: TRACEWATCH_FUZZ_SECONDS, else 600. Null elsewhere: it tries a fixed number. */
export const fuzzSeconds = soaked(null, Number(process.env.TRACEWATCH_FUZZ_SECONDS ?? 600))

/** Holds a measured time or size below its bound. */
export function expectBelow(measured: number, bound: number, what?: string): void {
	if (isSoak) expect(measured, what).toBeLessThan(bound)
}

/**
 * Holds that the work was done in slices: its longest turn of the event loop is a small part of it. Both are times of
 * the processor, in ms. Turns below half a second pass on a slow machine too; `npm run bench` measures them.
 */
export function expectShortTurns(longestMs: number, workMs: number): void {
	expectBelow(longestMs, Math.max(500, workMs / 4))
}
