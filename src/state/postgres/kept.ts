/** What else is kept in a database: the watchlists that were last right, of whichever instance read them. */

import { openDatabase } from './database.js'
import { prepareSchema, schemaVersion } from './schema.js'

const options = { connections: 1, standstillMs: 30_000 }

/** Throws StateError. */
export async function writeKeptRow(url: string, pieces: Iterable<string>): Promise<void> {
	const database = openDatabase(url, options)
	try {
		await prepareSchema(database)
		await database.ask(
			`insert into tracewatch.kept (name, content) values ('watchlists', $1::json)
			on conflict (name) do update set content = excluded.content`,
			[[...pieces].join('')],
		)
	} finally {
		await database.close()
	}
}

/** Null where none was ever kept. Throws StateError. */
export async function readKeptRow(url: string): Promise<unknown> {
	const database = openDatabase(url, options)
	try {
		if ((await schemaVersion(database.ask, database.host)) === null) return null
		await prepareSchema(database)
		const rows = await database.ask<{ content: unknown }>(
			`select content from tracewatch.kept where name = 'watchlists'`,
		)
		return rows[0]?.content ?? null
	} finally {
		await database.close()
	}
}
