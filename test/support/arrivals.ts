/** Waits for what others send, event by event. A wait that fails says what it waited for and what came instead. */
import { sized } from './longRun.js'
import { soaked } from './soak.js'

/** Nothing comes for so long: it will not come. Several times what a busy machine needs. */
const SILENCE_MS = soaked(sized(30_000, 120_000), 600_000)
/** Other things come for so long: it is not among them. */
const WAIT_MS = soaked(sized(90_000, 300_000), 1_100_000)
/** Characters that a failure shows of what came, from its end. */
const SHOWN = 4_000

/** Before a test replaces it by a virtual clock. */
const { setTimeout, clearTimeout } = globalThis

export interface Arrivals {
	/** Something came: every wait looks again. */
	changed(): void
	/** Resolves with what `look` finds, at once or after a change; undefined: not yet. Fails as `look` does. */
	wait<T>(look: () => T | undefined, waitedFor: unknown): Promise<T>
}

/** `came` is what a failure shows. */
export function createArrivals(came: () => string): Arrivals {
	const waiting = new Set<() => void>()
	return {
		changed() {
			for (const check of waiting) check()
		},
		wait(look, waitedFor) {
			const failure = new Error()
			const waited = new Promise<NonNullable<ReturnType<typeof look>>>((resolve, reject) => {
				const giveUp = (why: string) => () => {
					failure.message = `${why} while this was waited for: ${waitedFor}\nWhat came:\n${came().slice(-SHOWN)}`
					end()
					reject(failure)
				}
				const silent = giveUp(`Nothing came for ${SILENCE_MS / 1_000} s`)
				let silence = setTimeout(silent, SILENCE_MS)
				const limit = setTimeout(giveUp(`Only other things came for ${WAIT_MS / 1_000} s`), WAIT_MS)
				const end = () => {
					waiting.delete(check)
					clearTimeout(silence)
					clearTimeout(limit)
				}
				const check = () => {
					try {
						const found = look()
						clearTimeout(silence)
						silence = setTimeout(silent, SILENCE_MS)
						if (found === undefined || found === null) return
						end()
						resolve(found)
					} catch (error) {
						end()
						reject(error)
					}
				}
				waiting.add(check)
				check()
			})
			// A test may end without it: then it is not a failure of the next one.
			waited.catch(() => {})
			return waited
		},
	}
}

/** For `until`: so many have come, or `done` says so. */
export function enough<T>(items: readonly T[], done: number | ((items: readonly T[]) => boolean)) {
	return () => ((typeof done === 'number' ? items.length >= done : done(items)) ? items : undefined)
}
