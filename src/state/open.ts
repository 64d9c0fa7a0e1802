/** The state wherever it is kept. The driver of the database is loaded only where there is one. */

import { setTimeout as pause } from 'node:timers/promises'
import { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { HistoryReader } from '../model/history.js'
import type { Log, Store } from '../model/ports.js'
import type { KeptLists, StatePlace } from '../model/state.js'
import type { TroubleBook, Troubles } from '../model/trouble.js'
import { openHistoryFiles } from './file/history/reader.js'
import { readKept, writeKept } from './file/kept.js'
import { lockState } from './file/lock.js'
import { type Peek, peekState } from './file/peek.js'
import { openFileStore } from './file/store.js'
import { readTroubles, writeTroubles } from './file/troubles.js'

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

const noTroubles: Troubles = { open: [], timesAccepted: 0 }

/**
 * Those that an earlier run or another instance has left, for those of their receivers that are configured still. What
 * cannot be read is logged, and begun anew: no alert waits for it.
 */
export async function openTroubles(place: StatePlace, configured: readonly string[], log: Log): Promise<TroubleBook> {
	const kept = await troublesAt(place)
	const found = await kept.read().catch((error: unknown) => {
		log.warn({ err: error }, 'what receivers were told is wrong cannot be read: its end may not be told')
		return null
	})
	return troubleBook(found ?? noTroubles, kept, configured)
}

interface KeptTroubles {
	read(): Promise<Troubles | null>
	/** Resolves to what it made of what was kept; `known` is what we know of it. */
	change(change: (before: Troubles) => Troubles, known: Troubles): Promise<Troubles>
	close(): Promise<void>
}

async function troublesAt(place: StatePlace): Promise<KeptTroubles & { readonly isShared: boolean }> {
	if (place.kind === 'folder') {
		return {
			isShared: false,
			read: () => readTroubles(place.dir),
			async change(change, known) {
				const next = change(known)
				await writeTroubles(place.dir, next)
				return next
			},
			close: async () => undefined,
		}
	}
	const { troubleRow } = await import('./postgres/troubles.js')
	return { isShared: true, ...troubleRow(place.url, noTroubles) }
}

const inMemory: KeptTroubles = {
	read: async () => null,
	change: async (change, known) => change(known),
	close: async () => undefined,
}

/** `kept`: where; default: nowhere. `configured`: others are told nothing; default: all are. */
export function troubleBook(
	first: Troubles = noTroubles,
	kept: KeptTroubles & { readonly isShared?: boolean } = inMemory,
	configured?: readonly string[],
): TroubleBook {
	const ours = ({ open, timesAccepted }: Troubles): Troubles => ({
		timesAccepted,
		open: open.map((trouble) => ({
			...trouble,
			receivers: trouble.receivers.filter((name) => configured?.includes(name) ?? true),
		})),
	})
	let current = first
	let before: Promise<unknown> = Promise.resolve()
	const inTurn = (act: () => Promise<Troubles>) => {
		const result = before.then(async () => {
			current = await act()
		})
		before = result.catch(() => undefined)
		return result
	}
	return {
		current: () => ours(current),
		change: (change) => inTurn(() => kept.change(change, current)),
		refresh: () => (kept.isShared === true ? inTurn(async () => (await kept.read()) ?? noTroubles) : Promise.resolve()),
		async close() {
			await before
			await kept.close()
		},
	}
}
