/** How the coverage changes, without a disk; `changes.ts` has the rest. */

import { type CoverageTable, coverageTableOf } from '../core/coverageTable.js'
import type { Enrolment } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import type { CoverageDoc, CoverageRecord, Definition, NetworkRecord } from './document.js'
import { remaining } from './document.js'

/**
 * The coverage with the change in it; the same one when there is none. `newToken` gives a text that was never given
 * before.
 */
export function applyEnrolment(
	coverage: CoverageDoc,
	network: string,
	change: Enrolment,
	record: NetworkRecord,
	newToken: () => string,
): CoverageDoc {
	if (change.covered.size === 0 && change.backfills === null) return coverage
	const before = coverage.get(network)
	const covered = merged(before?.covered, change.covered)
	const live = new Set(remaining(record, before).map(({ id }) => id))
	const backfills = change.backfills?.map((backfill) => {
		const known = before?.backfills.find(({ id }) => id === backfill.id && live.has(id))
		return { ...backfill, token: known && continues(backfill, known) ? known.token : newToken() }
	})
	return new Map(coverage).set(network, { covered, backfills: backfills ?? before?.backfills ?? [] })
}

/** What was there stays as it is. */
function merged(before: CoverageRecord['covered'] | undefined, changed: Enrolment['covered']): CoverageTable {
	if (before === undefined || before.size === 0) return coverageTableOf(changed)
	const table = coverageTableOf(before).copy()
	for (const [address, one] of changed) table.set(address, one)
	return table
}

/** Whether what was scanned for the known one, from its beginning to now, was scanned for this one too. */
function continues({ span, addresses }: Backfill, known: Definition): boolean {
	const scanned = new Set(known.addresses)
	return span.from >= known.span.from && addresses.every((address) => scanned.has(address))
}
