/** Open troubles as one row, which all instances share. */

import type { Troubles } from '../../model/trouble.js'
import { type Ask, openDatabase } from './connection/database.js'
import { hasTables, prepareTables } from './connection/tables.js'

const options = { connections: 1, standstillMs: 30_000 }
const name = 'troubles'
const read = 'select content from tracewatch.kept where name = $1'

interface Row {
	readonly content: Troubles
}

/** Null where there were none yet. */
export async function readTroubleRow(ask: Ask): Promise<Troubles | null> {
	return (await ask<Row>(read, [name]))[0]?.content ?? null
}

export async function writeTroubleRow(ask: Ask, troubles: Troubles): Promise<void> {
	await ask(
		`insert into tracewatch.kept (name, content) values ($1, $2::json)
		on conflict (name) do update set content = excluded.content`,
		[name, JSON.stringify(troubles)],
	)
}

/** Connects to nothing yet. All methods throw StateError. */
export function troubleRow(url: string, none: Troubles) {
	const database = openDatabase(url, options)
	return {
		async read(): Promise<Troubles | null> {
			if (!(await hasTables(database.ask, database.host))) return null
			return await readTroubleRow(database.ask)
		},
		/** One instance at a time; each changes what the one before it wrote. */
		async change(change: (before: Troubles) => Troubles): Promise<Troubles> {
			await prepareTables(database)
			return await database.transact(async (ask) => {
				await ask('insert into tracewatch.kept (name, content) values ($1, $2::json) on conflict do nothing', [
					name,
					JSON.stringify(none),
				])
				const [row] = await ask<Row>(`${read} for update`, [name])
				const next = change(row?.content ?? none)
				await writeTroubleRow(ask, next)
				return next
			})
		},
		close: () => database.close(),
	}
}
