/**
 * Collects deliveries for a page from the outbox and the history, newest first. A search is limited by the amount of
 * data and not by time, so that its result does not depend on how busy the machine is.
 */

import { setImmediate } from 'node:timers/promises'
import { iso } from '../base/utc.js'
import { isAbout, rowOfDelivery } from '../core/outbox/historyEntries.js'
import type { DeliveryRow, HistoryHole, HistoryQuery } from '../model/history.js'
import type { PageFacts } from './pageData.js'

/** What a page has room for. */
export interface Room {
	/** Deliveries and holes. */
	readonly rows: number
	/** Messages, whatever the number of their receivers. Absent: any number. */
	readonly messages?: number
}

/**
 * The most stretches of the history (`HistoryReader`) that are searched for one page, up to a second of work. A page
 * without a row is searched further, until its first row.
 */
const MOST_STRETCHES = 200
/** Rows of the outbox that are searched before the search yields to the event loop. */
const ROWS_A_TURN = 512
/** A cursor behind all of the outbox. */
const ALL_WAITING = 'w999999999'

/** `next`: cursor of the next page; null: there is none. `cut`: the search ended before the page was full. */
export async function gather(facts: PageFacts, params: URLSearchParams, room: Room) {
	const rows: DeliveryRow[] = []
	const holes: { readonly rows: number; readonly from: string; readonly to: string }[] = []
	const messages = new Set<string>()
	let stretches = 0
	for await (const { row, from } of matching(facts, params)) {
		if (row === null) {
			stretches += 1
			if (stretches >= MOST_STRETCHES && rows.length > 0) return { rows, holes, next: from, cut: true }
			continue
		}
		if (rows.length + holes.length === room.rows) return { rows, holes, next: from, cut: false }
		if ('hole' in row) {
			holes.push({ rows: row.hole.rows, from: iso(row.hole.fromMs), to: iso(row.endedAtMs) })
			continue
		}
		messages.add(messageOf(row))
		if (room.messages !== undefined && messages.size > room.messages) return { rows, holes, next: from, cut: false }
		rows.push(row)
	}
	return { rows, holes, next: null, cut: false }
}

export type Gathered = Awaited<ReturnType<typeof gather>>

/** Equal for the deliveries of one message. */
export function messageOf({ message }: DeliveryRow): string {
	return `${message.data.id} ${message.type}`
}

/**
 * What matches, each with the cursor from which it is found again; null after each stretch of the history. Unsent
 * deliveries come first, whatever their time, because an operator may have to act on them.
 */
async function* matching(
	facts: PageFacts,
	params: URLSearchParams,
): AsyncGenerator<{ readonly row: DeliveryRow | HistoryHole | null; readonly from: string }> {
	const [query, status, below] = [queryOf(params), params.get('status') ?? '', params.get('before')]
	const isAsked = (row: DeliveryRow) =>
		(status === '' || row.result === status) && isAbout(row.message, row.receiver, query)
	const outbox = (await facts.deliveries()).toReversed()
	// `w` and a number: a position in the outbox. Any other cursor is one of the history.
	const passed = /^w(\d{1,9})$/.exec(below ?? 'w0')?.[1]
	const start = passed === undefined ? outbox.length : Number(passed)
	for (const [at, delivery] of outbox.entries()) {
		if (at < start) continue
		if (at % ROWS_A_TURN === ROWS_A_TURN - 1) await setImmediate()
		const row = rowOfDelivery(delivery)
		if (isAsked(row)) yield { row, from: `w${at}` }
	}
	if (facts.history === null) return
	const waiting = new Set(outbox.map(({ id }) => id))
	let last = passed === undefined ? below : null
	for await (const { entry, cursor } of facts.history.read(query, last)) {
		if (entry === null) {
			yield { row: null, from: cursor }
			await setImmediate()
		} else {
			const isShown = 'hole' in entry || (isAsked(entry) && !waiting.has(entry.id))
			if (isShown) yield { row: entry, from: last ?? ALL_WAITING }
		}
		last = cursor
	}
}

const filterOf = { address: 'address', network: 'network', kind: 'kind', receiver: 'receiver', q: 'text' } as const

function queryOf(params: URLSearchParams): Omit<HistoryQuery, 'sinceMs'> {
	return Object.fromEntries(
		Object.entries(filterOf).flatMap(([name, field]) => {
			const value = params.get(name)?.trim().slice(0, 200) ?? ''
			return value === '' ? [] : [[field, value]]
		}),
	)
}
