import type { Clock } from '../model/glossary.js'
import type { Announcement } from '../model/state.js'

/**
 * Alerts of unexplained changes whose second look could not say for now whether it explains them. They are asked
 * for again until that is answered; after a start, all that are remembered of settled blocks.
 */
export interface Unheard {
	note(id: string): void
	/** The next to be asked for, a few at a time. */
	next(announcements: ReadonlyMap<string, Announcement>, settled: bigint): readonly Announcement[]
	/** It was answered, or cannot be any more. */
	done(id: string): void
	/** Nobody could tell: not again at once. */
	rest(): void
}

/** In one poll: each takes a block read once more. */
const MOST_AT_ONCE = 3
const REST_MS = 15_000

export function createUnheard({ clock }: { readonly clock: Clock }): Unheard {
	const ids = new Set<string>()
	let isStart = true
	let restsUntilMs = 0
	return {
		note: (id) => void ids.add(id),
		next(announcements, settled) {
			if (isStart) {
				for (const { id, block, alerts, status } of announcements.values()) {
					const isUnexplained = alerts[0]?.data.kind === 'unexplained' && status === 'announced'
					if (isUnexplained && block.number <= settled) ids.add(id)
				}
			}
			isStart = false
			const found: Announcement[] = []
			if (clock() < restsUntilMs) return found
			for (const id of ids) {
				const entry = announcements.get(id)
				// Forgotten, or taken back.
				if (entry === undefined || entry.status !== 'announced') ids.delete(id)
				else if (found.push(entry) === MOST_AT_ONCE) break
			}
			return found
		},
		done: (id) => void ids.delete(id),
		rest() {
			restsUntilMs = clock() + REST_MS
		},
	}
}
