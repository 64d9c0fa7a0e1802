/** Open troubles, in a folder or a database. */

import type { Log } from '../model/ports.js'
import type { StatePlace } from '../model/state.js'
import type { TroubleBook, Troubles } from '../model/trouble.js'
import { readTroubles, writeTroubles } from './file/troubleFile.js'

const noTroubles: Troubles = { open: [], timesAccepted: 0 }

/**
 * Opens the troubles of earlier runs and other instances, limited to receivers that are still configured. Troubles that
 * cannot be read are logged and discarded, because alerts must not wait for them.
 */
export async function openTroubles(place: StatePlace, configured: readonly string[], log: Log): Promise<TroubleBook> {
	const kept = await troublesAt(place)
	const found = await kept.read().catch((error: unknown) => {
		log.warn({ err: error }, 'the list of open troubles cannot be read: receivers may not be notified when one ends')
		return null
	})
	return troubleBook(found ?? noTroubles, kept, configured)
}

interface KeptTroubles {
	read(): Promise<Troubles | null>
	/** Resolves to the stored troubles after the change; `known` is the last known state. */
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
	const { troubleRow } = await import('./postgres/troubleRow.js')
	return { isShared: true, ...troubleRow(place.url, noTroubles) }
}

const inMemory: KeptTroubles = {
	read: async () => null,
	change: async (change, known) => change(known),
	close: async () => undefined,
}

/** `kept`: where to store; default: nowhere. `configured`: receivers to notify; default: all. */
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
