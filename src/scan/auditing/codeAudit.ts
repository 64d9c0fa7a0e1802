import { type CodeGate, createCodeGate } from '../../core/matching/codeGate.js'
import type { CodeReader } from '../../model/contract.js'
import type { RanInTransaction } from '../../model/state.js'

/** What the auditor of one network keeps in memory about foreign code. */
export interface CodeAudit {
	readonly reader: CodeReader
	readonly gate: CodeGate
	/** Whether these frames of a transaction were judged in this block before. */
	wasJudged(one: RanInTransaction, places: readonly string[]): boolean
	/** It was judged with all frames in these places; the next commit removes it from the queue. */
	done(one: RanInTransaction, places: readonly string[]): void
	/** The commit with its alerts failed: it is judged again. */
	undo(one: RanInTransaction): void
	isDone(one: RanInTransaction): boolean
	/** Another failed try; resolves to their number. */
	failed(one: RanInTransaction): number
	tries(one: RanInTransaction): number
	/** What a commit left in the queue. */
	committed(left: readonly RanInTransaction[]): void
}

/** Transactions whose places are kept. */
const MOST_KEPT = 10_000

export function createCodeAudit(reader: CodeReader): CodeAudit {
	const judged = new Map<string, ReadonlySet<string>>()
	const finished = new Set<string>()
	const tries = new Map<string, number>()
	const triesOf = (one: RanInTransaction) => tries.get(keyOf(one)) ?? one.tries ?? 0
	return {
		reader,
		gate: createCodeGate(),
		wasJudged(one, places) {
			const known = judged.get(keyOf(one))
			return known !== undefined && places.every((place) => known.has(place))
		},
		done(one, places) {
			const key = keyOf(one)
			finished.add(key)
			tries.delete(key)
			const [oldest] = judged.keys()
			if (judged.size >= MOST_KEPT && oldest !== undefined) judged.delete(oldest)
			judged.set(key, new Set(places))
		},
		undo(one) {
			finished.delete(keyOf(one))
			judged.delete(keyOf(one))
		},
		isDone: (one) => finished.has(keyOf(one)),
		failed(one) {
			const count = triesOf(one) + 1
			tries.set(keyOf(one), count)
			return count
		},
		tries: triesOf,
		committed(left) {
			if (finished.size === 0) return
			const waiting = new Set(left.map(keyOf))
			for (const key of finished) if (!waiting.has(key)) finished.delete(key)
		},
	}
}

function keyOf({ hash, txHash, contract = '0x' }: RanInTransaction): string {
	return `${hash}:${txHash}:${contract}`
}
