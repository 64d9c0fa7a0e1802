/**
 * The room is the store in PostgreSQL, for any number of instances at once: each network is polled by the one that has
 * its lease, deliveries are taken by all, queue by queue. All that decides who may do what is in the database, by its
 * clock; an instance that was paused, cut off or killed is replaced when its lease has run out, and what it does late
 * is refused.
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../model/glossary.js'
import type { Log, Store } from '../../model/ports.js'
import { createBookTidying } from './bookTidying.js'
import { createClaims } from './claims.js'
import { type Ask, isInClear, openDatabase } from './database.js'
import { markGaps } from './gapMarks.js'
import { deleteHeld } from './held.js'
import { forgetRows } from './history.js'
import { dropDeliveries } from './historyRows.js'
import { createInFlight } from './inFlight.js'
import { createLeases } from './leases.js'
import { CHANNEL, createListener } from './listen.js'
import { createNetworks } from './networks.js'
import { deleteDeliveries, insertAt, insertDeliveries, readAside, readDeliveries, updateDue } from './outbox.js'
import { readReceivers, readWaiting } from './receivers.js'
import { writeResolutions } from './resolutions.js'
import { prepareSchema } from './schema.js'
import { createSkew } from './skew.js'

export interface PostgresStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/** After this time without a sign of life from an instance, others take over what it had. */
	readonly leaseMs: number
	/** How often that sign is given; default: three times within it. */
	readonly renewEveryMs?: number
	/** Name of this instance for whoever looks into the database; default: host name and process id. */
	readonly owner?: string
	/** How far the database's clock is ahead of `clock`; default: measured, now and then. */
	readonly skewMs?: number
	/** How long what was sent is kept; 0: not at all. Default: nothing is added, and what is there stays. */
	readonly historyMs?: number
}

const CONNECTIONS = 6
const LEAST_STANDSTILL_MS = 500
const GIVE_BACK_MS = 3_000

/** Opens the state, making the tables if they are not there. Throws StateError. */
export async function openPostgresStore(url: string, options: PostgresStoreOptions): Promise<Store> {
	const { clock, log, leaseMs, renewEveryMs = leaseMs / 3, skewMs = null, historyMs } = options
	const keepsHistory = historyMs !== undefined && historyMs > 0
	// Two of the same name must not take each other for themselves.
	const owner = `${options.owner ?? `${hostname()}:${process.pid}`}#${randomBytes(6).toString('hex')}`
	const database = openDatabase(url, {
		connections: CONNECTIONS,
		// A change of one who stands still is undone before his lease has run out: then nobody need wait for it.
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
		await prepareSchema(database)
		await skew.measure()
	} catch (error) {
		await database.close()
		throw error
	}
	const leases = createLeases(database, owner, leaseMs)
	const claims = createClaims({ database, owner, leaseMs, skew, log })
	const networks = createNetworks({ database, leases, skew, nowMs: clock, post })
	const listeners = new Set<() => void>()
	const listening = createListener(url, owner, wakeUp, log)
	const inFlight = createInFlight()
	const tidying = createBookTidying({ ask: database.ask, clock, log })
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

	/** A lease has room for two renewals that fail; so that it is more than two, one is tried again before the next. */
	async function keepUp(): Promise<void> {
		let isKept = true
		for (const part of [leases.renew, claims.renew, skew.measure]) {
			await inFlight.during(part).catch((error: unknown) => {
				isKept = false
				log?.debug({ err: error }, 'a lease could not be kept up; trying again')
			})
		}
		if (!isKept && !isClosing) again ??= setTimeout(() => void keepUpAgain(), renewEveryMs / 10).unref()
	}

	async function keepUpAgain(): Promise<void> {
		again = null
		await keepUp()
	}

	async function giveBack(): Promise<void> {
		await claims.close()
		await leases.close()
	}

	const { during, inTurn } = inFlight
	return {
		acquireLease: (network) => inTurn(network, () => leases.acquireLease(network)),
		releaseLease: (network) => inTurn(network, () => leases.releaseLease(network)),

		network: (name) => during(() => networks.state(name)),
		commit: (change) =>
			inTurn(change.network, async () => {
				const { state, added, sheets } = await networks.commit(change)
				announce(added)
				tidying.note(sheets, state.books.size)
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
		aside: (queue) => during(() => readAside(database.ask, skew, queue)),
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
		markGaps: (network, numbers, mark) => during(() => markGaps(database, leases, network, numbers, mark)),
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
				// A database that is out of reach does not hold up the end.
				await Promise.race([giveBack(), pause(GIVE_BACK_MS, undefined, { ref: false })])
			} catch (error) {
				log?.warn(
					{ err: error },
					'what this instance had could not be given back; others take it over when its lease has run out',
				)
			}
			await database.close()
		},
	}
}
