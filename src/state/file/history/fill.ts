/** Writes a copied history to the files of a folder that has none. */

import { appendFile, mkdir } from 'node:fs/promises'
import type { HistoryEntry } from '../../../model/history.js'
import { diskError } from '../disk/diskErrors.js'
import { dayOf, daysIn, fileOfDay, historyFolder } from './days.js'

export async function hasHistory(stateFolder: string): Promise<boolean> {
	return (await daysIn(historyFolder(stateFolder))).length > 0
}

/** `pieces`: oldest first. Throws StateError `disk`. */
export async function fillHistory(stateFolder: string, pieces: AsyncIterable<readonly HistoryEntry[]>): Promise<void> {
	const folder = historyFolder(stateFolder)
	let day = ''
	for await (const piece of pieces) {
		const days = new Map<string, string>()
		for (const entry of piece) {
			// The numbers of the entries grow from file to file.
			const own = dayOf(entry.endedAtMs)
			if (own > day) day = own
			days.set(day, `${days.get(day) ?? ''}${JSON.stringify(entry)}\n`)
		}
		try {
			await mkdir(folder, { recursive: true, mode: 0o700 })
			for (const [name, lines] of days) await appendFile(fileOfDay(folder, name), lines, { mode: 0o600, flush: true })
		} catch (error) {
			throw diskError('write', folder, error)
		}
	}
}
