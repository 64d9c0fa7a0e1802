/** The store over any journal: the whole state is in memory, and every change becomes durable through the ledger. */

import type { StateError } from '../errors.js'
import type { Addressee } from '../model/delivery.js'
import type { Clock } from '../model/glossary.js'
import type { Log, Store } from '../model/ports.js'
import type { NetworkState } from '../model/state.js'
import type { ActName, Argument, Result } from './acts.js'
import type { Draft } from './changes.js'
import { enrolledIn } from './coverageChanges.js'
import { mustHave, networkState, summarize, waitingOf } from './document.js'
import type { Journal } from './journal.js'
import { openLedger } from './ledger.js'
import { createQueues } from './queues.js'

export interface StoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/**
	 * How long history is kept after a delivery left the outbox; 0: not at all. Default: no rows are added, and existing
	 * ones stay.
	 */
	readonly historyMs?: number
	/** The name under which `summary` counts a delivery. Default: that of its receiver. */
	readonly nameOf?: (addressee: Addressee) => string
	/** Called once when another instance has taken the state over: this one must end. */
	readonly onLost?: (error: StateError) => void
	/** No new snapshot is written while the lines since the last one are shorter. Default: 4 MiB. */
	readonly leastJournalBytes?: number
}

/** Throws what `journal.acquire` throws. */
export async function openStoreOn(journal: Journal, options: StoreOptions): Promise<Store> {
	const { clock, log, historyMs } = options
	let lastRow: number | null = null
	const ledger = await openLedger(journal, {
		...{ log, lastRow: () => lastRow, leastJournalBytes: options.leastJournalBytes },
		onForeign: () => announce(1),
	})
	journal.watch({ behind: () => ledger.catchUp(), lost: (error) => options.onLost?.(error) })
	const state = ledger.current
	if (historyMs !== undefined) lastRow = await journal.keepHistory({ keepMs: historyMs, clock, log })
	const queues = createQueues()
	const listeners = new Set<() => void>()
	let closed = false
	log?.debug({ networks: state().networks.size, deliveries: state().deliveries.size }, 'state opened')

	async function change<K extends ActName>(
		act: K,
		argument: Argument<K> | ((now: Draft) => Argument<K>),
	): Promise<Result<K>> {
		if (closed) throw new Error('the state store is closed')
		const given = typeof argument === 'function' ? argument : () => argument
		return await ledger.change(act, given, clock())
	}

	/** State after the last write. */
	function known(network: string): NetworkState {
		return networkState(mustHave(network, state().networks.get(network)))
	}

	function announce(count: number): void {
		if (count > 0) for (const listener of listeners) queueMicrotask(listener)
	}

	return {
		keepWatchlists: (copies) => journal.keepWatchlists(copies),
		unwritten: () => journal.unwritten?.() ?? [],
		network: async (name) => (state().networks.has(name) ? known(name) : null),
		commit: async (step) => {
			const { record, added } = await change('commit', step)
			announce(added)
			return networkState(record)
		},
		enrol: async (network, enrolment) => {
			await change('enrol', ({ networks }) => enrolledIn(mustHave(network, networks.get(network)), network, enrolment))
			return known(network)
		},

		post: async (deliveries) => announce(await change('post', deliveries)),
		claim: async (options) => queues.claim(state().deliveries, options),
		resolve: async (resolutions, post = []) => {
			const added = await change('resolve', { resolutions, post })
			queues.release(resolutions.map(({ id }) => id))
			announce(added)
		},
		release: async (ids) => queues.release(ids),
		nextDueMs: async () => queues.nextDueMs(state().deliveries),
		onPosted: (listener) => {
			listeners.add(listener)
			return () => listeners.delete(listener)
		},

		deliveries: async (status, queue) =>
			[...state().deliveries.values()].filter(
				(delivery) =>
					(status === undefined || delivery.status === status) &&
					(queue === undefined || (delivery.receiver === queue.receiver && delivery.recipient === queue.recipient)),
			),
		aside: async (queue) => queues.aside(state().deliveries, queue),
		retry: async (ids, atMs) => {
			const found = await change('retry', { ids, atMs })
			announce(found)
			return found
		},
		drop: async (ids) => {
			const found = await change('drop', ids)
			queues.release(ids)
			return found
		},
		markGaps: async (network, numbers, mark) => await change('markGaps', { network, numbers, mark }),
		troubles: () => state().troubles,
		changeTroubles: async (troubles, post = []) => {
			// Changes that are requested in the same tick are one write.
			const [added] = await Promise.all([change('post', post), change('troubles', troubles)])
			announce(added)
		},
		summary: async () => summarize(state(), options.nameOf),
		waiting: async (network) => waitingOf(state(), network),
		close: async () => {
			closed = true
			await ledger.idle()
			await journal.close()
		},
	}
}
