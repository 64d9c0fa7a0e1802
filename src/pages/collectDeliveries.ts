/**
 * Collects deliveries for a page from the outbox and the history, newest first. A search is limited by the amount of
 * data and not by time, so that its result does not depend on how busy the machine is.
 */

import { setImmediate } from 'node:timers/promises'
import { isAbout, rowOfDelivery, rowOfHistory } from '../core/outbox/historyEntries.js'
import type { DeliveryRow, HistoryHole, HistoryQuery } from '../model/history.js'
import type { PageFacts } from './pageData.js'

export interface Gathered {
	readonly rows: readonly (DeliveryRow | HistoryHole)[]
	/** Cursor of the next page; null: there is none. */
	readonly next: string | null
	/**
	 * The search reached its limit before the page was full; older entries were not searched. Only true when the page has
	 * a row.
	 */
	readonly isCut: boolean
}

export interface GatherOptions {
	readonly query: HistoryQuery
	/** Cursor from the previous page; null: start at the newest. `w` and a number: position in the outbox. */
	readonly below: string | null
	/** Only rows with this result or status. */
	readonly status?: string | undefined
	/** Adds a row to the page; false when the page is full. */
	readonly fits: (row: DeliveryRow | HistoryHole) => boolean
}

/**
 * The most stretches of the history (`HistoryReader`) that are searched for one page, up to a second of work. A page
 * without a row is searched further, until its first row.
 */
const mostStretches = 200
/** Rows of the outbox that are searched before the search yields to the event loop. */
const rowsATurn = 512

/** Unsent deliveries come first, whatever their time, because an operator may have to act on them. */
export async function gather(facts: PageFacts, options: GatherOptions): Promise<Gathered> {
	const { query, below, status, fits } = options
	const rows: (DeliveryRow | HistoryHole)[] = []
	const isAsked = (row: DeliveryRow) =>
		(status === undefined || row.result === status) &&
		(query.sinceMs === undefined || row.endedAtMs === null || row.endedAtMs >= query.sinceMs) &&
		isAbout(row.message, row.receiver, query)
	const outbox = (await facts.deliveries()).toReversed()
	const waiting = new Set(outbox.map(({ id }) => id))
	const passed = /^w(\d{1,9})$/.exec(below ?? '')
	if (below === null || passed !== null) {
		for (let at = Number(passed?.[1] ?? 0); at < outbox.length; at++) {
			const delivery = outbox[at]
			if (delivery === undefined) break
			if (at % rowsATurn === rowsATurn - 1) await setImmediate()
			const row = rowOfDelivery(delivery)
			if (!isAsked(row)) continue
			if (!fits(row)) return { rows, next: `w${at}`, isCut: false }
			rows.push(row)
		}
	}
	if (facts.history === null) return { rows, next: null, isCut: false }
	let last = passed === null ? below : null
	let stretches = 0
	for await (const { entry, cursor } of facts.history.read(query, last)) {
		const row = entry === null || 'hole' in entry ? entry : rowOfHistory(entry)
		if (row !== null && ('hole' in row || (isAsked(row) && !waiting.has(row.id)))) {
			if (!fits(row)) return { rows, next: last ?? 'w999999999', isCut: false }
			rows.push(row)
		}
		last = cursor
		if (entry !== null) continue
		stretches += 1
		if (stretches >= mostStretches && rows.some((one) => !('hole' in one))) return { rows, next: cursor, isCut: true }
		await setImmediate()
	}
	return { rows, next: null, isCut: false }
}

/** Reads the filters from the query of a page. */
export function queryOf(params: URLSearchParams): HistoryQuery {
	const given = (name: string) => {
		const value = params.get(name)?.trim() ?? ''
		return value === '' ? undefined : value.slice(0, 200)
	}
	const [address, network, kind, receiver, text] = ['address', 'network', 'kind', 'receiver', 'q'].map(given)
	return {
		...(address !== undefined && { address }),
		...(network !== undefined && { network }),
		...(kind !== undefined && { kind }),
		...(receiver !== undefined && { receiver }),
		...(text !== undefined && { text }),
	}
}
