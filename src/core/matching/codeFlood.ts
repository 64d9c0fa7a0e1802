import type { CodeRuns } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'

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

/** The first 20 of 24 h are reported, then one a day with the count of the others. `atS`: timestamp of the block. */
export function codeTurn(before: readonly CodeRuns[], code: Address, atS: number): CodeTurn {
	const isOver = ({ sinceS }: CodeRuns) => atS >= sinceS + DAY_S
	// What was not seen for a day begins anew, unless something of it was held back.
	const others = before.filter((one) => one.code !== code && !(isOver(one) && one.held === 0))
	const own = before.find((one) => one.code === code) ?? { code, sinceS: atS, reported: 0, held: 0 }
	if (!isOver(own)) {
		const isReported = own.reported < MOST_REPORTED
		const next = isReported ? { ...own, reported: own.reported + 1 } : { ...own, held: own.held + 1 }
		return { runs: [...others, next], isReported }
	}
	if (own.held === 0) return { runs: [...others, { code, sinceS: atS, reported: 1, held: 0 }], isReported: true }
	const next = { code, sinceS: atS, reported: MOST_REPORTED, held: 0 }
	return { runs: [...others, next], isReported: true, count: own.held + 1 }
}
