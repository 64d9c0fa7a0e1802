/** What receivers were told is wrong, as a row beside the tables of the state. */

import type { Troubles } from '../../model/trouble.js'
import { openDatabase } from './database.js'
import { prepareSchema } from './schema.js'

const options = { connections: 1, standstillMs: 30_000 }
const name = 'troubles'

/** Null where there were none yet. Throws StateError. */
export async function readTroubleRow(url: string): Promise<Troubles | null> {
	const database = openDatabase(url, options)
	try {
		await prepareSchema(database)
		const rows = await database.ask<{ content: Troubles }>('select content from tracewatch.kept where name = $1', [
			name,
		])
		return rows[0]?.content ?? null
	} finally {
		await database.close()
	}
}

/** Throws StateError. */
export async function writeTroubleRow(url: string, troubles: Troubles): Promise<void> {
	const database = openDatabase(url, options)
	try {
		await database.ask(
			`insert into tracewatch.kept (name, content) values ($1, $2::json)
			on conflict (name) do update set content = excluded.content`,
			[name, JSON.stringify(troubles)],
		)
	} finally {
		await database.close()
	}
}
