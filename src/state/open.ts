/** Opens the state in a folder or a database. The database driver is loaded only if it is needed. */

import { setTimeout as pause } from 'node:timers/promises'
import { StateError } from '../errors.js'
import type { Contract } from '../model/contract.js'
import type { Address, Clock } from '../model/glossary.js'
import type { HistoryReader } from '../model/history.js'
import type { Log, Store } from '../model/ports.js'
import type { Announcement, StatePlace, WatchlistCopies } from '../model/state.js'
import { lockState } from './file/disk/lock.js'
import { openFileStore } from './file/fileStore.js'
import { openHistoryFiles } from './file/history/historyReader.js'
import { type Peek, peekState, readBeside } from './file/peek.js'
import { mustBeOurFormat } from './file/readFolder.js'
import { readCopies, writeCopies } from './file/watchlistCopies.js'

/** 16 tries are 1.5 s in all. */
const lockTries = 16
const lockPauseMs = 100

export interface OpenStoreOptions {
	readonly clock: Clock
	readonly log?: Log
	/** How long history is kept; 0: not at all. Default: no rows are added, and existing ones stay. */
	readonly historyMs?: number
}

/**
 * Opens the state, and creates it if necessary. A folder is locked until the store is closed. Throws StateError
 * `locked` (another process has the folder), `damaged`, `format` or `disk`.
 */
export async function openStore(place: StatePlace, { clock, log, historyMs }: OpenStoreOptions): Promise<Store> {
	const also = { ...(log && { log }), ...(historyMs !== undefined && { historyMs }) }
	if (place.kind === 'postgres') {
		const { openPostgresStore } = await import('./postgres/postgresStore.js')
		return await openPostgresStore(place.url, { clock, ...also })
	}
	// Before the lock, which writes into the folder.
	await mustBeOurFormat(place.dir)
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

/** A command locks the folder only briefly, so a daemon that starts at that time waits. */
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

/**
 * Reads the state while another process may have it open: takes no lock, and writes nothing. Null when nothing was ever
 * stored there.
 */
export async function peek(place: StatePlace, clock: Clock): Promise<Peek | null> {
	if (place.kind === 'folder') return await peekState(place.dir)
	const { peekPostgres } = await import('./postgres/peekDatabase.js')
	return await peekPostgres(place.url, clock)
}

/** The contracts that the daemon of a network remembers, read as by `peek`. Throws StateError. */
export async function peekContracts(
	place: StatePlace,
	network: string,
	clock: Clock,
): Promise<ReadonlyMap<Address, Contract>> {
	if (place.kind === 'folder')
		return (await readBeside(place.dir))?.whole.state.networks.get(network)?.contracts ?? new Map()
	const { peekContractRows } = await import('./postgres/peekDatabase.js')
	return await peekContractRows(place.url, network, clock)
}

/** What the daemon of a network has announced and still remembers, read as by `peek`. Throws StateError. */
export async function peekAnnouncements(
	place: StatePlace,
	network: string,
	clock: Clock,
): Promise<ReadonlyMap<string, Announcement>> {
	if (place.kind === 'folder')
		return (await readBeside(place.dir))?.whole.state.networks.get(network)?.announcements ?? new Map()
	const { peekAnnouncementRows } = await import('./postgres/peekDatabase.js')
	return await peekAnnouncementRows(place.url, network, clock)
}

/** Opens the history for reading while another process may write it. Connects to nothing yet. */
export async function openHistory(place: StatePlace, clock: Clock): Promise<HistoryReader> {
	if (place.kind === 'folder') return openHistoryFiles(place.dir)
	const { openHistoryRows } = await import('./postgres/deliveries/historyQueries.js')
	return openHistoryRows(place.url, clock)
}

/** Copies these watchlists, unless these copies are there already. Durable when it resolves. Throws StateError. */
export async function copyWatchlists(place: StatePlace, copies: WatchlistCopies): Promise<void> {
	if (place.kind === 'folder') return await writeCopies(place.dir, copies)
	const { writeCopyRows } = await import('./postgres/watchlistRows.js')
	await writeCopyRows(place.url, copies)
}

/** Null where there are none. Throws StateError, also while the bytes are read. */
export async function openWatchlistCopies(place: StatePlace): Promise<WatchlistCopies | null> {
	if (place.kind === 'folder') return await readCopies(place.dir)
	const { readCopyRows } = await import('./postgres/watchlistRows.js')
	return await readCopyRows(place.url)
}
