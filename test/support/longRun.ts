/**
 * How much is tried. `npm test` takes two minutes: the ordinary way of each part, its errors, and the whole program's
 * main paths. `npm run test:long` tries in full what takes long: every dialect with every source, attacks, kills,
 * faults of nodes. Random kills by the hundred, floods and measures: test/support/soak.ts.
 *
 * - `x.test.ts` runs in `npm test` only, `x.long.test.ts` in `npm run test:long` only.
 * - `x.sized.test.ts` runs in both, and asks here how much it is to try. What `npm test` tries in the same way is not
 *   repeated: `.ci/run` runs it a minute earlier.
 */
import { describe, test } from 'vitest'

const isLong = process.env.TRACEWATCH_LONG === '1'

/** The first in `npm test`, the second in `npm run test:long`. */
export function sized<T>(short: T, long: T): T {
	return isLong ? long : short
}

/**
 * Where properties and fuzzers begin: the same place each time, so that a red test is red for everybody, and again.
 * With TRACEWATCH_FUZZ_SEED a number they begin elsewhere, with `random` somewhere (null), which a failure then prints.
 */
export const fuzzSeed = seedOf(process.env.TRACEWATCH_FUZZ_SEED ?? '20261122')

function seedOf(text: string): number | null {
	if (text === 'random') return null
	if (/^\d{1,9}$/.test(text)) return Number(text)
	throw new Error(`TRACEWATCH_FUZZ_SEED is a number of up to nine digits or \`random\`, and not \`${text}\``)
}

/** Of a table: `npm test` tries the rows for which `isShort` holds, the long run the others. Together they try each. */
export function divided<T>(rows: readonly T[], isShort: (row: T, at: number) => boolean): readonly T[] {
	return rows.filter((row, at) => isShort(row, at) !== isLong)
}

/** Tests that only the long run has, among others. */
export function inFull(register: () => void): void {
	if (isLong) register()
}

/** One test, or with `each` a table of them, that only the long run has. */
export const testInFull: Pick<typeof test, 'each'> & ((name: string, run: () => unknown) => void) = isLong
	? test
	: Object.assign((): void => {}, { each: (() => (): void => {}) as unknown as typeof test.each })

/** A test that has no size: `npm test` tries it, and the long run does not repeat it. */
export const testOnce: typeof test = isLong ? unheard() : test

/** The same for several tests. */
export const describeOnce: typeof describe = isLong ? unheard() : describe

function unheard(): never {
	const stub = (): void => {}
	const table = () => stub
	return Object.assign(stub, { each: table, for: table, runIf: () => unheard(), skipIf: () => unheard() }) as never
}
