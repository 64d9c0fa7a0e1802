/**
 * The right to poll a network: one row per network says who has it and until when, by the database's clock alone. The
 * epoch grows with every change of owner. A change of a network's state checks its epoch in the same transaction, so
 * that an owner that was paused and replaced does no harm when it continues.
 */

import { StateError } from '../../../errors.js'
import type { Ask, Database } from '../connection/database.js'
import { isLocked } from '../connection/failure.js'

export interface Leases {
	/** True: `fence` lets changes pass. An epoch: only after `begin`, since another instance may have had the lease. */
	acquireLease(network: string): Promise<boolean | number>
	begin(network: string, epoch: number): void
	releaseLease(network: string): Promise<void>
	/**
	 * Call it inside a transaction that changes the network: no other instance can take the lease before it ends. Throws
	 * StateError `lost`.
	 */
	fence(ask: Ask, network: string): Promise<void>
	/**
	 * Call it inside a transaction that changes the network without its lease: the owner's changes wait until it ends.
	 */
	standBeside(ask: Ask, network: string): Promise<void>
	/** Renews all held leases. */
	renew(): Promise<void>
	/** Releases all held leases. */
	close(): Promise<void>
}

/** `owner` is unique to this instance. */
export function createLeases(database: Database, owner: string, leaseMs: number): Leases {
	/** Epoch by network. */
	const leases = new Map<string, number>()
	/** The last epoch of each network, also of leases that were lost or released. */
	const epochs = new Map<string, number>()

	async function taken(network: string): Promise<number | null> {
		const [row] = await database.ask<{ epoch: number }>(TAKE, [network, owner, leaseMs])
		return row?.epoch ?? null
	}

	return {
		async acquireLease(network) {
			try {
				const epoch = await taken(network)
				if (epoch !== null && epochs.get(network) === epoch) {
					leases.set(network, epoch)
					return true
				}
				if (epoch !== null) {
					leases.delete(network)
					return epoch
				}
				leases.delete(network)
				await database.ask(WANT, [network, owner])
				return false
			} catch (error) {
				// Another instance is in a transaction under this lease, so it is the owner.
				if (isLocked(error)) return false
				throw error
			}
		},
		begin(network, epoch) {
			leases.set(network, epoch)
			epochs.set(network, epoch)
		},
		async releaseLease(network) {
			const epoch = leases.get(network)
			if (epoch === undefined) return
			leases.delete(network)
			await database.ask(GIVE_BACK, [network, owner, epoch])
		},
		async fence(ask, network) {
			const epoch = leases.get(network)
			const rows = epoch === undefined ? [] : await ask(FENCE, [network, owner, leaseMs, epoch])
			if (rows.length > 0) return
			leases.delete(network)
			throw new StateError(
				'lost',
				epoch === undefined
					? `this instance does not have the right to poll '${network}': nothing was written`
					: `another instance has taken over '${network}' while this one was paused: nothing was written, ` +
							'and the other instance continues',
			)
		},
		async standBeside(ask, network) {
			await ask(BESIDE, [network])
		},
		async renew() {
			if (leases.size === 0) return
			const asked = new Map(leases)
			const rows = await database.ask<{ network: string }>(RENEW, [
				[...asked.keys()],
				[...asked.values()],
				owner,
				leaseMs,
			])
			const kept = new Set(rows.map(({ network }) => network))
			for (const [network, epoch] of asked) {
				if (!kept.has(network) && leases.get(network) === epoch) leases.delete(network)
			}
		},
		async close() {
			leases.clear()
			await database.ask(RELEASE, [owner])
		},
	}
}

const END = (ms: string) => `clock_timestamp() + ${ms} * interval '1 ms'`

/** An instance that released a lease does not take it again while another instance has asked for it. */
const TAKE = `
	insert into tracewatch.lease as l (network, owner, epoch, expires) values ($1, $2, 1, ${END('$3')})
	on conflict (network) do update set
		owner = excluded.owner,
		epoch = l.epoch + (l.owner <> excluded.owner)::int,
		expires = ${END('$3')},
		released = false,
		wanted = false
	where (l.owner = excluded.owner and not (l.released and l.wanted))
		or (l.owner <> excluded.owner and l.expires < clock_timestamp())
	returning epoch`

/** Records that another instance asked for the lease; the owner that released it then gives way once. */
const WANT = `update tracewatch.lease set wanted = (owner <> $2) where network = $1 and wanted <> (owner <> $2)`

const GIVE_BACK = `
	update tracewatch.lease set expires = '-infinity', released = true where network = $1 and owner = $2 and epoch = $3`

const FENCE = `
	update tracewatch.lease set expires = ${END('$3')} where network = $1 and owner = $2 and epoch = $4 returning epoch`

const BESIDE = 'select 1 from tracewatch.lease where network = $1 for update'

const RENEW = `
	update tracewatch.lease l set expires = ${END('$4')}
	from unnest($1::text[], $2::bigint[]) mine (network, epoch)
	where l.network = mine.network and l.epoch = mine.epoch and l.owner = $3
	returning l.network`

const RELEASE = `update tracewatch.lease set expires = '-infinity' where owner = $1`
