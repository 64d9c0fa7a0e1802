/** Deliveries for a page: from the outbox and the history, newest first, for a bounded time. */

import { rowOfDelivery, rowOfHistory, tellsOf } from '../core/history.js'
import type { DeliveryRow, HistoryHole, HistoryQuery } from '../model/history.js'
import type { PageFacts } from './facts.js'

export interface Gathered {
	readonly rows: readonly (DeliveryRow | HistoryHole)[]
	/** Where to go on; null: there is no more. */
	readonly next: string | null
	/** The time was over before the page was full: what is older was not looked at yet. */
	readonly isCut: boolean
}

export interface GatherOptions {
	readonly query: HistoryQuery
	/** Of a page before; null: from the newest. `w` and a number: so many of the outbox were seen. */
	readonly below: string | null
	/** Only those with this result or status. */
	readonly status?: string | undefined
	/** Takes a row onto the page; false when it is too much for it. */
	readonly fits: (row: DeliveryRow | HistoryHole) => boolean
	readonly budgetMs?: number
}

/** What is still to be sent stands first, whenever it was told: it is what somebody may have to do something about. */
export async function gather(facts: PageFacts, options: GatherOptions): Promise<Gathered> {
	const { query, below, status, fits, budgetMs = 10 } = options
	const endMs = performance.now() + budgetMs
	const rows: (DeliveryRow | HistoryHole)[] = []
	const isAsked = (row: DeliveryRow) =>
		(status === undefined || row.result === status) &&
		(query.sinceMs === undefined || row.endedAtMs === null || row.endedAtMs >= query.sinceMs) &&
		tellsOf(row.message, row.receiver, query)
	const outbox = (await facts.deliveries()).toReversed()
	const waiting = new Set(outbox.map(({ id }) => id))
	const passed = /^w(\d{1,9})$/.exec(below ?? '')
	if (below === null || passed !== null) {
		for (let at = Number(passed?.[1] ?? 0); at < outbox.length; at++) {
			const delivery = outbox[at]
			if (delivery === undefined) break
			if (at % 64 === 63 && performance.now() > endMs) return { rows, next: `w${at}`, isCut: true }
			const row = rowOfDelivery(delivery)
			if (!isAsked(row)) continue
			if (!fits(row)) return { rows, next: `w${at}`, isCut: false }
			rows.push(row)
		}
	}
	if (facts.history === null) return { rows, next: null, isCut: false }
	let last = passed === null ? below : null
	for await (const { entry, cursor } of facts.history.read(query, last)) {
		const row = entry === null || 'hole' in entry ? entry : rowOfHistory(entry)
		if (row !== null && ('hole' in row || (isAsked(row) && !waiting.has(row.id)))) {
			if (!fits(row)) return { rows, next: last ?? 'w999999999', isCut: false }
			rows.push(row)
		}
		last = cursor
		// What has been fetched is looked through: it costs less than to fetch it again for the next page.
		if (entry === null && performance.now() > endMs) return { rows, next: cursor, isCut: true }
	}
	return { rows, next: null, isCut: false }
}

/** What a page's own address asks for. */
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
