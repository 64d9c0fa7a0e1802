/** Reads the history's rows, newest first, while other instances write them, and deletes expired ones. */

import type { Clock } from '../../../model/glossary.js'
import type { HistoryEntry, HistoryFound, HistoryQuery, HistoryReader, HistoryResult } from '../../../model/history.js'
import type { Log } from '../../../model/ports.js'
import { type Ask, type Database, openDatabase } from '../connection/database.js'
import { createSkew, type Skew } from '../connection/skew.js'
import { hasTables } from '../connection/tables.js'
import type { DeliveryRow } from './outbox.js'

const STANDSTILL_MS = 30_000
/** Rows per query. */
const PIECE = 500
/** Places that one query searches for a text; takes some hundredths of a second. */
const STRETCH = 20_000
const FORGET_EVERY_MS = 3_600_000
const FORGET_AT_ONCE = 5_000

interface Row extends Pick<DeliveryRow, 'id' | 'receiver' | 'created_at_ms' | 'attempts' | 'last_error' | 'content'> {
	readonly seq: number
	readonly ended_at_ms: number
	readonly result: HistoryResult
	readonly answer: string | null
}

/** Connects to nothing before the first query. */
export function openHistoryRows(url: string, clock: Clock): HistoryReader {
	let opened: Promise<{ readonly database: Database; readonly skew: Skew } | null> | null = null
	const database = openDatabase(url, { connections: 2, standstillMs: STANDSTILL_MS })

	async function open() {
		if (!(await hasTables(database.ask, database.host))) return null
		const skew = createSkew(database.ask, clock, undefined, null)
		await skew.measure()
		return { database, skew }
	}

	return {
		async *read(query, below) {
			opened ??= open()
			const found = await opened.catch((error: unknown) => {
				opened = null
				throw error
			})
			if (found === null) {
				opened = null
				return
			}
			const { skew } = found
			const needle = needleOf(query)
			let at = Number(/^\d{1,15}$/.exec(below ?? '')?.[0] ?? Number.MAX_SAFE_INTEGER)
			const [newest] = await database.ask<{ seq: number | null }>('select max(seq) as seq from tracewatch.history')
			at = Math.min(at, (newest?.seq ?? 0) + 1)
			const sinceMs = query.sinceMs === undefined ? null : skew.toDatabase(query.sinceMs)
			const [oldest] = await database.ask<{ seq: number | null }>(OLDEST, [sinceMs])
			const end = oldest?.seq ?? at
			while (at > end) {
				const floor = needle === null ? end : Math.max(end, at - STRETCH)
				const rows = await database.ask<Row>(READ, [at, floor, needle, sinceMs, PIECE])
				for (const row of rows) yield foundOf(row, skew)
				at = rows.length === PIECE ? (rows.at(-1)?.seq ?? floor) : floor
				yield { cursor: String(at), entry: null }
			}
		},
		close: () => database.close(),
	}
}

const OLDEST = 'select min(seq) as seq from tracewatch.history where $1::bigint is null or ended_at_ms >= $1'

const READ = `
	select seq, ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, answer, content
	from tracewatch.history
	where seq < $1 and seq >= $2 and ($3::text is null or content::text like $3)
		and ($4::bigint is null or ended_at_ms >= $4)
	order by seq desc limit $5`

function foundOf(row: Row, skew: Skew): HistoryFound {
	const { seq, id, receiver, result, attempts, content, answer } = row
	const { recipient, message } = content
	return {
		cursor: String(seq),
		entry: {
			seq,
			endedAtMs: skew.fromDatabase(row.ended_at_ms),
			result,
			id,
			receiver,
			recipient,
			createdAtMs: skew.fromDatabase(row.created_at_ms),
			attempts,
			lastError: row.last_error,
			answer,
			message,
		},
	}
}

/** A text that every matching row contains. Ids end with the address in lower case. */
function needleOf({ address, network }: HistoryQuery): string | null {
	const text = address?.toLowerCase() ?? (network === undefined ? null : JSON.stringify(network))
	return text === null ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Inserts existing rows, in order. */
export async function insertHistory(ask: Ask, entries: readonly HistoryEntry[], skew: Skew): Promise<void> {
	for (const entry of entries) {
		if ('hole' in entry) continue
		const { endedAtMs, result, id, receiver, recipient, createdAtMs, attempts, lastError, answer, message } = entry
		const json = (value: string | null) => (value === null ? null : JSON.stringify(value))
		await ask(
			`insert into tracewatch.history
				(ended_at_ms, result, id, receiver, created_at_ms, attempts, last_error, answer, content)
			values ($1, $2, $3, $4, $5, $6, $7::json, $8::json, $9::json)`,
			[
				skew.toDatabase(endedAtMs),
				result,
				id,
				receiver,
				skew.toDatabase(createdAtMs),
				attempts,
				json(lastError),
				json(answer),
				JSON.stringify({ recipient, message }),
			],
		)
	}
}

interface Forgetting {
	readonly keepMs: number
	readonly clock: Clock
	readonly skew: Skew
	readonly log: Log | undefined
}

/** Runs now and every hour, in batches; the result stops it. */
export function forgetRows(database: Database, { keepMs, clock, skew, log }: Forgetting): () => Promise<void> {
	let closed = false
	let running: Promise<void> = Promise.resolve()
	async function forget(): Promise<void> {
		try {
			const untilMs = skew.toDatabase(clock() - keepMs)
			for (;;) {
				const gone = closed ? [] : await database.ask<{ seq: number }>(FORGET, [untilMs, FORGET_AT_ONCE])
				if (gone.length < FORGET_AT_ONCE) return
			}
		} catch (error) {
			log?.debug({ err: error }, 'old history could not be forgotten; trying again in an hour')
		}
	}
	const wake = () => {
		running = running.then(forget)
	}
	const timer = setInterval(wake, FORGET_EVERY_MS).unref()
	wake()
	return async () => {
		closed = true
		clearInterval(timer)
		await running
	}
}

const FORGET = `
	delete from tracewatch.history where seq in (
		select seq from tracewatch.history where ended_at_ms < $1 order by ended_at_ms limit $2
	) returning seq`
