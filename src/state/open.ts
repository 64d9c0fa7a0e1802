/** The state wherever it is kept. */

import type { Clock, Log, StatePlace, Store } from '../model.js'
import { openFileStore } from './file.js'
import { lockState } from './lock.js'
import { type Peek, peekState } from './peek.js'
import { peekPostgres } from './postgres/visit.js'
import { openPostgresStore } from './postgres.js'

export interface OpenStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/** With a database: after this time without a sign of life from an instance, others take over what it had. */
	readonly leaseMs: number
}

/**
 * Opens the state, making it if it is not there. A folder is locked until the store is closed. Throws StateError `locked` (a folder that
 * another process has), `damaged`, `newer` or `disk`.
 */
export async function openStore(place: StatePlace, { clock, log, leaseMs }: OpenStoreOptions): Promise<Store> {
	const told = log === undefined ? {} : { log }
	if (place.kind === 'postgres') return await openPostgresStore(place.url, { clock, leaseMs, ...told })
	const unlock = await lockState(place.dir)
	try {
		const store = await openFileStore(place.dir, { clock, ...told })
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

/** A look beside whoever has it open: takes nothing, writes nothing. Null when nothing was ever stored there. */
export async function peek(place: StatePlace, clock: Clock): Promise<Peek | null> {
	return place.kind === 'postgres' ? await peekPostgres(place.url, clock) : await peekState(place.dir)
}
