/** The state wherever it is kept. The driver of the database is loaded only where there is one. */

import { setTimeout as pause } from 'node:timers/promises'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { HistoryReader } from '../model/history.js'
import type { Log, Store } from '../model/ports.js'
import type { KeptLists, StatePlace } from '../model/state.js'
import { openHistoryFiles } from './file/history/reader.js'
import { readKept, writeKept } from './file/kept.js'
import { lockState } from './file/lock.js'
import { type Peek, peekState } from './file/peek.js'
import { openFileStore } from './file/store.js'

/** A second and a half in all. */
const lockTries = 16
const lockPauseMs = 100

export interface OpenStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/** With a database: after this time without a sign of life from an instance, others take over what it had. */
	readonly leaseMs: number
	/** How long what was sent is kept; 0: not at all. Default: nothing is added, and what is there stays. */
	readonly historyMs?: number
}

/**
 * Opens the state, making it if it is not there. A folder is locked until the store is closed. Throws StateError
 * `locked` (a folder that another process has), `damaged`, `newer` or `disk`.
 */
export async function openStore(
	place: StatePlace,
	{ clock, log, leaseMs, historyMs }: OpenStoreOptions,
): Promise<Store> {
	const also = { ...(log && { log }), ...(historyMs !== undefined && { historyMs }) }
	if (place.kind === 'postgres') {
		const { openPostgresStore } = await import('./postgres/store.js')
		return await openPostgresStore(place.url, { clock, leaseMs, ...also })
	}
	const unlock = await lockPatiently(place.dir)
	try {
		const store = await openFileStore(place.dir, { clock, ...also })
		return {
			...store,
			async close() {
				try {
					await store.close()
				} finally {
					await unlock()
				}
			},
		}
	} catch (error) {
		await unlock()
		throw error
	}
}

/** A command holds the folder for a moment only: a daemon that starts just then waits for its end. */
async function lockPatiently(dir: string): Promise<() => Promise<void>> {
	for (let tries = 1; ; tries++) {
		try {
			return await lockState(dir)
		} catch (error) {
			if (!(error instanceof StateError) || error.reason !== 'locked' || tries === lockTries) throw error
			await pause(lockPauseMs)
		}
	}
}

/** A look beside whoever has it open: takes nothing, writes nothing. Null when nothing was ever stored there. */
export async function peek(place: StatePlace, clock: Clock): Promise<Peek | null> {
	if (place.kind === 'folder') return await peekState(place.dir)
	const { peekPostgres } = await import('./postgres/peek.js')
	return await peekPostgres(place.url, clock)
}

/** The history of a state, beside whoever writes it. Nothing is contacted yet. */
export async function openHistory(place: StatePlace, clock: Clock): Promise<HistoryReader> {
	if (place.kind === 'folder') return openHistoryFiles(place.dir)
	const { openHistoryRows } = await import('./postgres/history.js')
	return openHistoryRows(place.url, clock)
}

/** Keeps the watchlists that are right now, unless they are kept. Durable when it resolves. Throws StateError. */
export async function keepWatchlists(place: StatePlace, lists: KeptLists): Promise<void> {
	if (place.kind === 'folder') return await writeKept(place.dir, lists)
	const { writeKeptRows } = await import('./postgres/kept.js')
	await writeKeptRows(place.url, lists)
}

/** The pieces of the watchlists that were last right; null where none were ever kept. Throws StateError, later too. */
export async function keptWatchlists(place: StatePlace): Promise<AsyncIterable<unknown> | null> {
	if (place.kind === 'folder') return await readKept(place.dir)
	const { readKeptRows } = await import('./postgres/kept.js')
	return await readKeptRows(place.url)
}
