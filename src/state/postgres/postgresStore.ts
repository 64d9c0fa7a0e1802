/**
 * The room is the store in PostgreSQL, for any number of instances: each network is polled by the instance that holds
 * its lease; all instances claim deliveries, queue by queue. Leases and claims are in the database and expire by its
 * clock. An instance that was paused, disconnected or killed is replaced after its lease has expired, and its late
 * writes are refused.
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'
import { type Ask, isInClear, openDatabase } from './connection/database.js'
import { createInFlight } from './connection/inFlight.js'
import { CHANNEL, createListener } from './connection/listen.js'
import { createSkew } from './connection/skew.js'
import { prepareTables } from './connection/tables.js'
import { createClaims } from './deliveries/claims.js'
import { deleteHeld } from './deliveries/held.js'
import { forgetRows } from './deliveries/historyQueries.js'
import { dropDeliveries, keepFolded } from './deliveries/historyRows.js'
import {
	deleteDeliveries,
	insertAt,
	insertDeliveries,
	readDeliveries,
	readQuarantined,
	updateDue,
} from './deliveries/outbox.js'
import { writeResolutions } from './deliveries/resolutions.js'
import { readReceivers, readWaiting } from './deliveries/waitingCounts.js'
import { markGaps } from './networks/gapMarkRows.js'
import { createLeases } from './networks/leases.js'
import { createNetworks } from './networks/networks.js'

export interface PostgresStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/** Default: `LEASE_MS`. */
	readonly leaseMs?: number
	/** Interval of renewals; default: a third of `leaseMs`. */
	readonly renewEveryMs?: number
	/** Name of this instance in the database; default: host name and process id. */
	readonly owner?: string
	/** How far the database's clock is ahead of `clock`; default: measured from time to time. */
	readonly skewMs?: number
	/** How long history is kept; 0: not at all. Default: no rows are added, and existing ones stay. */
	readonly historyMs?: number
}

const CONNECTIONS = 6
/** Other instances take over after an instance has not renewed its leases for this long. */
const LEASE_MS = 30_000
const LEAST_STANDSTILL_MS = 500
const GIVE_BACK_MS = 3_000

/** Opens the state, and creates the tables if necessary. Throws StateError. */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<Store> {
	const { clock, log, leaseMs = LEASE_MS, renewEveryMs = leaseMs / 3, skewMs = null, historyMs } = options
	const keepsHistory = historyMs !== undefined && historyMs > 0
	// Two instances with the same name must not share an owner.
	const owner = `${options.owner ?? `${hostname()}:${process.pid}`}#${randomBytes(6).toString('hex')}`
	const database = openDatabase(url, {
		connections: CONNECTIONS,
		// The transaction of a paused instance is rolled back before its lease expires, so that no instance has to wait for
		// it.
		standstillMs: Math.max(LEAST_STANDSTILL_MS, Math.floor(leaseMs / 2)),
	})
	if (isInClear(url))
		log?.warn(
			{ database: database.host },
			'state and password go to the machine of the database without TLS, where others can read and change them: ' +
				'write sslmode=verify-full into the URL of `state` (postgres://…?sslmode=verify-full)',
		)
	const skew = createSkew(database.ask, clock, log, skewMs)
	try {
		await prepareTables(database)
		await skew.measure()
	} catch (error) {
		await database.close()
		throw error
	}
	const leases = createLeases(database, owner, leaseMs)
	const claims = createClaims({ database, owner, leaseMs, skew, log })
	const networks = createNetworks({
		...{ database, leases, skew, nowMs: clock, post },
		keepFolded: async (ask, all) => (keepsHistory ? await keepFolded(ask, all, skew, clock()) : undefined),
	})
	const listeners = new Set<() => void>()
	const listening = createListener(url, owner, wakeUp, log)
	const inFlight = createInFlight()
	const renewal = setInterval(() => void keepUp(), renewEveryMs).unref()
	let again: NodeJS.Timeout | null = null
	let isClosing = false
	const forgetting = historyMs === undefined ? null : forgetRows(database, { keepMs: historyMs, clock, skew, log })
	log?.debug({ database: database.host, owner }, 'state opened')

	async function post(ask: Ask, deliveries: Parameters<Store['post']>[0]): Promise<number> {
		const added = await insertDeliveries(ask, deliveries, skew)
		if (added > 0) await ask('select pg_notify($1, $2)', [CHANNEL, owner])
		return added
	}

	function wakeUp(): void {
		for (const listener of listeners) queueMicrotask(listener)
	}

	function announce(count: number): void {
		if (count > 0) wakeUp()
	}

	/**
	 * A lease survives two failed renewals. After a failure, the renewal is tried once more before the next one is due.
	 */
	async function keepUp(): Promise<void> {
		let isKept = true
		for (const part of [leases.renew, claims.renew, skew.measure]) {
			await inFlight.during(part).catch((error: unknown) => {
				isKept = false
				log?.debug({ err: error }, 'a lease could not be kept up; trying again')
			})
		}
		if (!isKept && !isClosing) again ??= setTimeout(() => void retryRenewal(), renewEveryMs / 10).unref()
	}

	async function retryRenewal(): Promise<void> {
		again = null
		await keepUp()
	}

	async function giveBack(): Promise<void> {
		await claims.close()
		await leases.close()
	}

	const { during, inTurn } = inFlight
	return {
		async acquireLease(network, atNewLease) {
			const lease = await inTurn(network, () => leases.acquireLease(network))
			if (typeof lease === 'boolean') return lease
			// Not in turn: it may wait for a commit, which is refused.
			await atNewLease?.()
			leases.begin(network, lease)
			return true
		},
		releaseLease: (network) => inTurn(network, () => leases.releaseLease(network)),

		network: (name) => during(() => networks.state(name)),
		commit: (change) =>
			inTurn(change.network, async () => {
				const { state, added } = await networks.commit(change)
				announce(added)
				return state
			}),
		enrol: (network, change) => inTurn(network, () => networks.enrol(network, change)),

		post: (deliveries) => during(async () => announce(await database.transact((ask) => post(ask, deliveries)))),
		claim: (options) => during(() => claims.claim(options)),
		resolve: (resolutions, further = []) =>
			during(async () => {
				const by = { owner, claimOf: claims.claimOf, skew, nowMs: clock(), keepsHistory }
				let added = 0
				const also = async (ask: Ask) => {
					added = await post(ask, further)
				}
				await writeResolutions(database, resolutions, by, further.length === 0 ? null : also)
				await claims.letGo(resolutions.map(({ id }) => id))
				announce(added)
			}),
		merge: (ids, digest) =>
			during(async () => {
				const merged = await database.transact(async (ask) => {
					const seq = await deleteHeld(ask, ids)
					if (seq === null) return false
					await insertAt(ask, seq, [digest], skew)
					await ask('select pg_notify($1, $2)', [CHANNEL, owner])
					return true
				})
				announce(merged ? 1 : 0)
				return merged
			}),
		release: (ids) => during(() => claims.letGo(ids)),
		nextDueMs: () => during(() => claims.nextDueMs()),
		onPosted(listener) {
			listeners.add(listener)
			listening.listen()
			return () => listeners.delete(listener)
		},

		deliveries: (status, queue) => during(() => readDeliveries(database.ask, skew, status, queue)),
		quarantined: (queue) => during(() => readQuarantined(database.ask, skew, queue)),
		retry: (ids, atMs) =>
			during(async () => {
				const found = await database.transact(async (ask) => {
					const found = await updateDue(ask, ids, skew.toDatabase(atMs))
					if (found > 0) await ask('select pg_notify($1, $2)', [CHANNEL, owner])
					return found
				})
				announce(found)
				return found
			}),
		drop: (ids) =>
			during(async () => {
				const found = await database.transact((ask) =>
					keepsHistory ? dropDeliveries(ask, ids, skew.toDatabase(clock())) : deleteDeliveries(ask, ids),
				)
				await claims.letGo(ids)
				return found
			}),
		markGaps: (network, numbers, mark) => during(() => markGaps(database, leases, { network, numbers, mark })),
		summary: () =>
			during(async () => ({
				networks: await networks.summaries(),
				receivers: await readReceivers(database.ask, skew),
			})),
		waiting: (network) => during(() => readWaiting(database.ask, network)),
		async close() {
			isClosing = true
			if (!(await inFlight.close())) return
			clearInterval(renewal)
			clearTimeout(again ?? undefined)
			await forgetting?.()
			await listening.close()
			try {
				// An unreachable database must not delay the end.
				await Promise.race([giveBack(), pause(GIVE_BACK_MS, undefined, { ref: false })])
			} catch (error) {
				log?.warn(
					{ err: error },
					'the leases of this instance could not be released; others take it over when its lease has run out',
				)
			}
			await database.close()
		},
	}
}
