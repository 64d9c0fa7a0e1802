/** Reads the history's rows, newest first, while an instance writes them, and deletes expired ones. */

import type { HistoryEntry, HistoryQuery, HistoryReader } from '../../model/history.js'
import type { HistoryOptions } from '../journal.js'
import { type Database, openDatabase } from './database.js'
import { hasTables } from './schema.js'

const STANDSTILL_MS = 30_000
/** Rows per query. */
const PIECE = 500
/** Rows that one query searches for a text; takes some hundredths of a second. */
const STRETCH = 20_000
const FORGET_EVERY_MS = 60_000
const FORGET_AT_ONCE = 5_000

interface Row {
	readonly seq: number
	readonly row: string
}

/** Connects to nothing before the first query. */
export function openHistoryRows(url: string): HistoryReader {
	const database = openDatabase(url, { connections: 2, standstillMs: STANDSTILL_MS })
	const { ask, host, name } = database
	return {
		async *read(query, below) {
			if (!(await hasTables(ask, host))) return
			const needle = needleOf(query)
			const sinceMs = query.sinceMs ?? null
			const [found] = await ask<{ newest: number | null; oldest: number | null }>(ENDS, [name, sinceMs])
			const end = found?.oldest ?? 1
			let at = Math.min(
				Number(/^\d{1,15}$/.exec(below ?? '')?.[0] ?? Number.MAX_SAFE_INTEGER),
				(found?.newest ?? 0) + 1,
			)
			while (at > end) {
				const floor = needle === null ? end : Math.max(end, at - STRETCH)
				const rows = await ask<Row>(READ, [name, at, floor, needle, sinceMs, PIECE])
				for (const { seq, row } of rows) yield { cursor: String(seq), entry: JSON.parse(row) as HistoryEntry }
				at = rows.length === PIECE ? (rows.at(-1)?.seq ?? floor) : floor
				yield { cursor: String(at), entry: null }
			}
		},
		close: () => database.close(),
	}
}

const ENDS = `
	select max(seq) as newest, min(seq) filter (where $2::bigint is null or ended_at_ms >= $2) as oldest
	from tracewatch.history where name = $1`

const READ = `
	select seq, row from tracewatch.history
	where name = $1 and seq < $2 and seq >= $3 and ($4::text is null or row like $4 or row like '%"hole":{%')
		and ($5::bigint is null or ended_at_ms >= $5)
	order by seq desc limit $6`

/** A text that every matching row contains. Ids end with the address in lower case. */
function needleOf({ address, network }: HistoryQuery): string | null {
	const text = address?.toLowerCase() ?? (network === undefined ? null : JSON.stringify(network))
	return text === null ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Inserts existing rows. It may run twice, as every statement whose answer is lost. */
export async function insertHistory({ ask, name }: Database, entries: readonly HistoryEntry[]): Promise<void> {
	await ask(
		`insert into tracewatch.history (name, seq, ended_at_ms, row) select $1, * from ${UNNESTED('$2', '$3', '$4')}
		on conflict do nothing`,
		[name, ...columnsOf(entries)],
	)
}

export function columnsOf(entries: readonly HistoryEntry[]) {
	const texts = entries.map((entry) => JSON.stringify(entry))
	return [entries.map(({ seq }) => seq), entries.map(({ endedAtMs }) => endedAtMs), texts] as const
}

/** The columns `seq`, `ended_at_ms` and `row` of the values of `columnsOf`. */
export function UNNESTED(seq: string, endedAtMs: string, row: string): string {
	return `unnest(${seq}::bigint[], ${endedAtMs}::bigint[], ${row}::text[]) entry (seq, ended_at_ms, row)`
}

/** Deletes rows that ended more than `keepMs` ago (0: all), some now and some every minute; the result stops it. */
export function forgetRows({ ask, name }: Database, { keepMs, clock, log }: HistoryOptions): () => void {
	async function forget(): Promise<void> {
		const untilMs = keepMs === 0 ? Number.MAX_SAFE_INTEGER : clock() - keepMs
		await ask(FORGET, [name, untilMs, FORGET_AT_ONCE]).catch((error: unknown) => {
			log?.debug({ err: error }, 'old history could not be forgotten; trying again in a minute')
		})
	}
	void forget()
	const timer = setInterval(() => void forget(), FORGET_EVERY_MS).unref()
	return () => clearInterval(timer)
}

const FORGET = `
	delete from tracewatch.history where name = $1 and seq in (
		select seq from tracewatch.history where name = $1 and ended_at_ms < $2 order by ended_at_ms limit $3
	)`
