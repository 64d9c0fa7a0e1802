/** Writes results of deliveries: successes always, failures only while this instance has the queue's claim. */

import type { Resolution } from '../../../model/delivery.js'
import type { Ask, Database } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'
import { type Deferral, deleteSplit, updateHeld } from './held.js'
import { keepDelivered } from './historyRows.js'
import { deleteDelivered, type Failure, insertAt, updateFailed } from './outbox.js'

export interface ResolvedBy {
	readonly owner: string
	/** The claim under which a delivery was handed out; null if it was not. */
	readonly claimOf: (id: string) => number | null
	readonly skew: Skew
	/** By this instance's clock. */
	readonly nowMs: number
	readonly keepsHistory: boolean
}

/** `also` runs in the same transaction. */
export async function writeResolutions(
	database: Database,
	all: readonly Resolution[],
	by: ResolvedBy,
	also: ((ask: Ask) => Promise<void>) | null = null,
): Promise<void> {
	if (also === null && all.every(({ result }) => result === 'delivered')) await write(database.ask, all, by)
	else
		await database.transact(async (ask) => {
			for (const group of distinct(all)) await write(ask, group, by)
			await also?.(ask)
		})
}

async function write(
	ask: Ask,
	group: readonly Resolution[],
	{ owner, claimOf, skew, nowMs, keepsHistory }: ResolvedBy,
): Promise<void> {
	const delivered = group.filter((one) => one.result === 'delivered')
	const atMs = skew.toDatabase(nowMs)
	const claimed = <R extends Resolution>(one: R) => ({ ...one, claim: claimOf(one.id) })
	if (keepsHistory) await keepDelivered(ask, delivered, atMs)
	else
		await deleteDelivered(
			ask,
			delivered.map(({ id }) => id),
			atMs,
		)
	await updateFailed(ask, group.filter(isFailure).map(claimed), owner, skew)
	await updateHeld(ask, group.filter(isDeferral).map(claimed), owner, skew)
	for (const one of group) {
		if (one.result !== 'split') continue
		const by = { claim: claimOf(one.id), owner, keptAtMs: keepsHistory ? atMs : null }
		const seq = await deleteSplit(ask, one.id, by)
		if (seq !== null) await insertAt(ask, seq, one.into, skew)
	}
}

function isFailure(one: Resolution): one is Failure {
	return one.result === 'retry' || one.result === 'parked' || one.result === 'dead'
}

function isDeferral(one: Resolution): one is Deferral {
	return one.result === 'held'
}

/** In order, starting a new batch where an id is repeated: one statement can change a row only once. */
function* distinct(all: readonly Resolution[]): Iterable<readonly Resolution[]> {
	let group = new Map<string, Resolution>()
	for (const one of all) {
		if (group.has(one.id)) {
			yield [...group.values()]
			group = new Map()
		}
		group.set(one.id, one)
	}
	if (group.size > 0) yield [...group.values()]
}
