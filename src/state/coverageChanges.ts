/** Changes of coverage and backfills, without any I/O; `changes.ts` has the other changes. */

import { coverageTableOf } from '../core/packed/coverageTable.js'
import type { Enrolment } from '../model/state.js'
import type { Backfill } from '../model/watch.js'
import type { Draft } from './changes.js'
import { type BackfillRecord, mustHave, type NetworkRecord } from './document.js'

/** An enrolment as it is stored. */
export interface Enrolled {
	readonly network: string
	readonly covered: Enrolment['covered']
	/** Without addresses: those of the backfill that has this id already. */
	readonly backfills: readonly (Omit<Backfill, 'addresses'> & Partial<Pick<Backfill, 'addresses'>>)[] | null
}

/** Leaves out addresses that the record has: there may be a million. */
export function enrolledIn(record: NetworkRecord, network: string, { covered, backfills }: Enrolment): Enrolled {
	const given = backfills?.map(({ addresses, ...rest }) => {
		const isKnown = record.backfills.some((known) => known.id === rest.id && known.addresses === addresses)
		return isKnown ? rest : { ...rest, addresses }
	})
	return { network, covered, backfills: given ?? null }
}

export function applyEnrolment(draft: Draft, { network, covered, backfills }: Enrolled): void {
	const record = mustHave(network, draft.networks.get(network))
	if (covered.size === 0 && backfills === null) return
	const after = backfills?.map((one) => continued(one, record)).filter(({ next, span }) => next <= span.to)
	draft.networks.set(network, {
		...record,
		covered: merged(record.covered, covered),
		backfills: after ?? record.backfills,
	})
	draft.changed = true
}

/** A merged copy; `before` is not modified. */
function merged(before: NetworkRecord['covered'], changed: Enrolment['covered']): NetworkRecord['covered'] {
	if (changed.size === 0) return before
	if (before.size === 0) return coverageTableOf(changed)
	const table = coverageTableOf(before).copy()
	for (const [address, one] of changed) table.set(address, one)
	return table
}

/** It continues a backfill of this id if all that was scanned for that one was scanned for its addresses, too. */
function continued(
	{ id, span, addresses }: NonNullable<Enrolled['backfills']>[number],
	{ backfills }: NetworkRecord,
): BackfillRecord {
	const known = backfills.find((one) => one.id === id)
	const wanted = addresses ?? known?.addresses
	if (wanted === undefined) throw new Error('a backfill of no addresses')
	const scanned = addresses && new Set(known?.addresses)
	const continues = known && span.from >= known.span.from && wanted.every((one) => scanned?.has(one) ?? true)
	return { id, span, addresses: wanted, next: continues && known.next > span.from ? known.next : span.from }
}
