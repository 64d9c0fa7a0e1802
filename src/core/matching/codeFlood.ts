import type { CodeRuns } from '../../model/contract.js'
import type { Address, Hash } from '../../model/glossary.js'

/** Alerts for one code in 24 h. */
const MOST_REPORTED = 20
const DAY_S = 24 * 3_600

/** What becomes of one more run of foreign code: reported, with the count since the last alert, or held back. */
export interface CodeTurn {
	readonly runs: readonly CodeRuns[]
	readonly isReported: boolean
	/** Absent: none was held back before. */
	readonly count?: number
}

/**
 * At most 20 are reported at once, and one more for each day that passes, with the count of the others: code that a
 * public router runs all day is not reported 20 times each day. `atS`: timestamp of the block.
 */
export function codeTurn(
	before: readonly CodeRuns[],
	{ code, codeHash }: { readonly code: Address; readonly codeHash: Hash | null },
	atS: number,
): CodeTurn {
	const now = before.map((one) => later(one, atS))
	const isOwn = (one: CodeRuns) => one.code === code && one.codeHash === codeHash
	const own = now.find(isOwn) ?? { code, codeHash, sinceS: atS, reported: 0, held: 0 }
	const others = now.filter((one) => !isOwn(one) && one.reported + one.held > 0)
	if (own.reported >= MOST_REPORTED) return { runs: [...others, { ...own, held: own.held + 1 }], isReported: false }
	const runs = [...others, { ...own, reported: own.reported + 1, held: 0 }]
	return { runs, isReported: true, ...(own.held > 0 && { count: own.held + 1 }) }
}

function later(one: CodeRuns, atS: number): CodeRuns {
	const days = Math.max(0, Math.floor((atS - one.sinceS) / DAY_S))
	return { ...one, sinceS: one.sinceS + days * DAY_S, reported: Math.max(0, one.reported - days) }
}
