/** Open troubles, in a folder or a database. */

import type { Log, Store } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { TroubleBook, Troubles } from '../model/trouble.js'
import { readTroubles, writeTroubles } from './file/troubleFile.js'

const noTroubles: Troubles = { open: [], timesAccepted: 0 }

/**
 * Opens the troubles of earlier runs, limited to receivers that are still configured. Troubles that
 * cannot be read are logged and discarded, because alerts must not wait for them. `fence`: of the store beside them.
 */
export async function openTroubles(
	place: StatePlace,
	configured: readonly string[],
	log: Log,
	fence: Store['fence'] = () => null,
): Promise<TroubleBook> {
	const kept = await troublesAt(place, fence)
	const found = await kept.read().catch((error: unknown) => {
		log.warn({ err: error }, 'the list of open troubles cannot be read: receivers may not be notified when one ends')
		return null
	})
	return troubleBook(found ?? noTroubles, kept, configured)
}

interface KeptTroubles {
	read(): Promise<Troubles | null>
	write(troubles: Troubles): Promise<void>
}

async function troublesAt(place: StatePlace, fence: Store['fence']): Promise<KeptTroubles> {
	if (place.kind === 'folder') {
		return { read: () => readTroubles(place.dir), write: (troubles) => writeTroubles(place.dir, troubles) }
	}
	const { readTroubleRow, writeTroubleRow } = await import('./postgres/keptRows.js')
	return { read: () => readTroubleRow(place.url), write: (troubles) => writeTroubleRow(place.url, troubles, fence()) }
}

const inMemory: KeptTroubles = { read: async () => null, write: async () => undefined }

/** `kept`: where to store; default: nowhere. `configured`: receivers to notify; default: all. */
export function troubleBook(
	first: Troubles = noTroubles,
	kept: KeptTroubles = inMemory,
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
	return {
		current: () => ours(current),
		change(change) {
			const result = before.then(async () => {
				const next = change(current)
				await kept.write(next)
				current = next
			})
			before = result.catch(() => undefined)
			return result
		},
		async close() {
			await before
		},
	}
}
