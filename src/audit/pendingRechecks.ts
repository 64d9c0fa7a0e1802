import { isAnnounced, isSeenIn, recordOfEntry } from '../core/reconcile/reconcile.js'
import type { Clock } from '../model/glossary.js'
import type { Announcement, Gap } from '../model/state.js'

/** Settled announcements that no frames or logs judge, checked until answered; after a start, all of them. */
export interface PendingRechecks {
	next(
		announcements: ReadonlyMap<string, Announcement>,
		settled: bigint,
		gaps: ReadonlyMap<bigint, Gap>,
	): readonly Announcement[]
	done(id: string): void
	failed(id: string): void
	/** No endpoint could answer: pause for 15 s. */
	rest(): void
	/** The lowest block of an unexplained balance that waits for its check; null: none waits. */
	oldest(): bigint | null
}

/** Checks per poll. To check an unexplained balance, its block is read again. A last poll checks as many as it can. */
const MOST_AT_ONCE = { unexplained: 3, others: 20 }
const REST_MS = 15_000
/** An announcement this far below the settled block is forgotten even if no endpoint could answer. */
const MOST_BLOCKS = 20_000n

export interface PendingRechecksOptions {
	readonly clock: Clock
	/** For a program that ends after one poll: all wait for it, and the time of the poll is the only limit. */
	readonly runsOnce?: boolean
	readonly random?: () => number
}

export function createPendingRechecks({
	clock,
	runsOnce = false,
	random = Math.random,
}: PendingRechecksOptions): PendingRechecks {
	/** What a run leaves unchecked is another part each time, although nothing is remembered from run to run. */
	const start = runsOnce ? random() : 0
	const answered = new Set<string>()
	const tries = new Map<string, number>()
	let oldest: bigint | null = null
	let restsUntilMs = 0
	return {
		next(announcements, settled, gaps) {
			for (const id of answered) if (!announcements.has(id)) answered.delete(id)
			for (const id of tries.keys()) if (!announcements.has(id)) tries.delete(id)
			oldest = null
			const unexplained: Announcement[] = []
			const others: Announcement[] = []
			for (const entry of announcements.values()) {
				const { id, block } = entry
				if (block.number > settled || answered.has(id) || !isAnnounced(entry)) continue
				if (!isSeenIn(entry, 'state', 'transactions') || recordOfEntry(entry)?.isOfNow !== false) continue
				if (entry.alerts[0]?.data.kind !== 'unexplained') {
					others.push(entry)
					continue
				}
				if (block.number + MOST_BLOCKS > settled && (oldest === null || block.number < oldest)) oldest = block.number
				// In a gap it is judged when the gap is read.
				if (gaps.get(block.number)?.openedAtMs == null) unexplained.push(entry)
			}
			if (clock() < restsUntilMs) return []
			const inTurn = (entries: readonly Announcement[]) => {
				const at = Math.floor(start * entries.length)
				const turned = [...entries.slice(at), ...entries.slice(0, at)]
				return turned.sort((a, b) => (tries.get(a.id) ?? 0) - (tries.get(b.id) ?? 0))
			}
			const [first, second] = [inTurn(unexplained), inTurn(others)]
			const some = [...first.splice(0, MOST_AT_ONCE.unexplained), ...second.splice(0, MOST_AT_ONCE.others)]
			return runsOnce ? [...some, ...first, ...second] : some
		},
		done: (id) => void answered.add(id),
		failed: (id) => void tries.set(id, (tries.get(id) ?? 0) + 1),
		rest() {
			restsUntilMs = clock() + REST_MS
		},
		oldest: () => oldest,
	}
}
