import { fileURLToPath } from 'node:url'

/** The environment of a program that loads these files of test/support first: `killAt` for killAt.mjs. */
export function preload(...names: readonly string[]) {
	const files = names.map((name) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url)))
	return { NODE_OPTIONS: files.map((file) => `--import=${file}`).join(' ') }
}

/** The environment of a program with other constants, such as `MOST_PENDING=100`; see smallFigures.mjs. */
export function smallFigures(figures: string) {
	return { ...preload('smallFigures'), SMALL_FIGURES: figures }
}

/** A block that fails is left out after 1 s in place of 10, and after 4 s where nobody answers in place of 25. */
export const soonLeftOut = 'stayedMs=1000,leastMs=1000,longMs=4000,betweenMs=400'
