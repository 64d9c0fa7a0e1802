/** Changes of the coverage, without any I/O; `changes.ts` has the other changes. */

import { type CoverageTable, coverageTableOf } from '../core/packed/coverageTable.js'
import type { Enrolment } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import type { CoverageDoc, CoverageRecord, Definition, GivenDefinition, NetworkRecord } from './document.js'
import { remaining } from './document.js'

/** Stored form of an enrolment's backfills; null: unchanged. `newToken` returns a unique text. */
export function definitionsOf(
	{ backfills }: Enrolment,
	before: CoverageRecord | undefined,
	record: NetworkRecord,
	newToken: () => string,
): readonly GivenDefinition[] | null {
	const live = new Set(remaining(record, before).map(({ id }) => id))
	const definitions = backfills?.map((backfill): GivenDefinition => {
		const known = before?.backfills.find(({ id }) => id === backfill.id && live.has(id))
		if (known === undefined || !continues(backfill, known)) return { ...backfill, token: newToken() }
		const { addresses, ...rest } = backfill
		return { ...rest, token: known.token, ...(addresses !== known.addresses && { addresses }) }
	})
	return definitions ?? null
}

/** The coverage after an enrolment; the same object where nothing changes. */
export function withCovered(
	coverage: CoverageDoc,
	network: string,
	covered: Enrolment['covered'],
	given: readonly GivenDefinition[] | null,
): CoverageDoc {
	if (covered.size === 0 && given === null) return coverage
	const before = coverage.get(network)
	const known = new Map(before?.backfills.map(({ token, addresses }) => [token, addresses]))
	const definitions = given?.map((one): Definition => {
		const addresses = one.addresses ?? known.get(one.token)
		if (addresses === undefined) throw new Error('a backfill of no addresses')
		return { ...one, addresses }
	})
	const after = { covered: merged(before?.covered, covered), backfills: definitions ?? before?.backfills ?? [] }
	return new Map(coverage).set(network, after)
}

/** A merged copy; `before` is not modified. */
function merged(before: CoverageRecord['covered'] | undefined, changed: Enrolment['covered']): CoverageTable {
	if (before === undefined || before.size === 0) return coverageTableOf(changed)
	const table = coverageTableOf(before).copy()
	for (const [address, one] of changed) table.set(address, one)
	return table
}

/** Whether everything scanned so far for the known backfill was scanned for all addresses of this one, too. */
function continues({ span, addresses }: Backfill, known: Definition): boolean {
	const scanned = new Set(known.addresses)
	return span.from >= known.span.from && addresses.every((address) => scanned.has(address))
}
