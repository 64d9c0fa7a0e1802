/** `deliveries --sent`: what has left the outbox, newest first, each with its result. */

import { counted } from '../../base/text/counted.js'
import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import type { StateSettings } from '../../config/load.js'
import { alertOf, isAbout, isHole } from '../../core/outbox/historyEntries.js'
import { addresseeInWords } from '../../core/outbox/queue.js'
import type { HistoryEntry, HistoryHole, HistoryQuery, HistoryRow } from '../../model/history.js'
import { headline } from '../../notify/text/sentence.js'
import { openHistory, peek } from '../../state/open.js'
import type { Io } from '../command.js'
import { whileWaiting } from '../shared/progress.js'
import { isUnread } from '../shared/unread.js'

type Kept = Pick<StateSettings, 'statePlace' | 'historyMs'>

/** Resolves to the number of entries that it printed. */
export async function listSent(state: Kept, query: HistoryQuery, json: boolean, io: Io): Promise<number> {
	let found = 0
	await whileWaiting(
		() => `looking through the history, ${found} found`,
		async () => {
			for await (const entry of sent(state, query)) {
				if (io.signal.aborted || isUnread()) break
				if (json) io.out(JSON.stringify(isHole(entry) ? holeOf(entry) : publicOf(entry)))
				else for (const words of isHole(entry) ? [holeInWords(entry)] : linesOf(entry)) io.out(fitWords(words))
				found++
			}
		},
	)
	return found
}

/** An entry that is written to the history meanwhile is yielded once. */
async function* sent({ statePlace, historyMs }: Kept, query: HistoryQuery): AsyncIterable<HistoryEntry> {
	const unwritten = historyMs === 0 ? [] : ((await peek(statePlace))?.rows ?? [])
	const reader = await openHistory(statePlace, () => unwritten)
	try {
		for await (const { entry } of reader.read(query, null)) {
			if (entry !== null && isAsked(entry, query)) yield entry
		}
	} finally {
		await reader.close()
	}
}

/** Holes always match, since the lost entries may have been about anything. */
function isAsked(entry: HistoryEntry, query: HistoryQuery): boolean {
	if (query.sinceMs !== undefined && entry.endedAtMs < query.sinceMs) return false
	return isHole(entry) || isAbout(entry.message, entry.receiver, query)
}

function publicOf({ id: deliveryId, message, createdAtMs, endedAtMs, ...row }: HistoryRow) {
	const { receiver, recipient, result, attempts, lastError, answer } = row
	const alert = alertOf(message)
	return {
		...{ id: message.data.id, deliveryId, type: message.type },
		kind: alert?.kind ?? message.type.slice(message.type.indexOf('.') + 1),
		network: 'network' in message.data ? message.data.network : null,
		address: alert?.watch.address ?? null,
		label: alert?.watch.label ?? null,
		...{ receiver, recipient, result, attempts },
		...{ toldAt: utc(createdAtMs), endedAt: utc(endedAtMs), lastError, answer, says: headline(message), message },
	}
}

function holeOf({ hole, endedAtMs }: HistoryHole) {
	return { result: 'hole', rows: hole.rows, from: utc(hole.fromMs), to: utc(endedAtMs) }
}

function holeInWords(row: HistoryHole): string {
	const { rows, from, to } = holeOf(row)
	return `HOLE: ${counted(rows, 'row')} could not be kept, ${from} to ${to}; their messages had left the outbox`
}

function* linesOf(row: HistoryRow): Generator<string> {
	yield `${utc(row.endedAtMs)}  ${row.result.padEnd(9)}  ${addresseeInWords(row)}  ${headline(row.message)}`
	if (row.result === 'delivered' && row.attempts === 1) return
	const tries = counted(row.attempts, 'attempt')
	yield `  ${tries} since ${utc(row.createdAtMs)}${row.lastError === null ? '' : `; last failure: ${row.lastError}`}`
}
