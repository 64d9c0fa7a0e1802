/**
 * What else is kept in a database: the watchlists that were last right, of whichever instance read them. A row `index`
 * names the pieces by their hashes, in order; each has a row of its own, and is written once.
 */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { KeptLists } from '../../model/state.js'
import { openDatabase } from './database.js'
import { prepareSchema, schemaVersion } from './schema.js'

interface Index {
	readonly key: string
	readonly pieces: readonly string[]
}

const options = { connections: 1, standstillMs: 30_000 }
const indexName = 'watchlists index'
const rowOf = (sum: string) => `watchlists ${sum}`
/** Of an earlier version: all of them in one. */
const wholeName = 'watchlists'

/** Nothing is written where the same is kept already. Throws StateError. */
export async function writeKeptRows(url: string, { key, pieces }: KeptLists): Promise<void> {
	const database = openDatabase(url, options)
	try {
		await prepareSchema(database)
		const kept = await database.ask<{ key: string }>(
			`select content->>'key' as key from tracewatch.kept where name = $1`,
			[indexName],
		)
		if (kept[0]?.key === key) return
		await database.transact(async (ask) => {
			// Of two instances one waits: what it found must still be there at its end.
			await ask('lock table tracewatch.kept in share row exclusive mode')
			const rows = await ask<{ name: string }>('select name from tracewatch.kept')
			const known = new Set(rows.map(({ name }) => name))
			const sums: string[] = []
			for (const piece of pieces()) {
				const sum = createHash('sha256').update(piece).digest('base64url')
				sums.push(sum)
				await setImmediate()
				if (known.has(rowOf(sum))) continue
				known.add(rowOf(sum))
				await ask('insert into tracewatch.kept (name, content) values ($1, $2::json)', [rowOf(sum), piece])
			}
			const index: Index = { key, pieces: sums }
			await ask(
				`insert into tracewatch.kept (name, content) values ($1, $2::json)
				on conflict (name) do update set content = excluded.content`,
				[indexName, JSON.stringify(index)],
			)
			await ask('delete from tracewatch.kept where name like $1 and name <> all($2)', [
				'watchlists%',
				[indexName, ...sums.map(rowOf)],
			])
		})
	} finally {
		await database.close()
	}
}

/** Null where none was ever kept. Throws StateError, also as the pieces are taken. */
export async function readKeptRows(url: string): Promise<AsyncIterable<unknown> | null> {
	const database = openDatabase(url, options)
	try {
		if ((await schemaVersion(database.ask, database.host)) === null) return null
		await prepareSchema(database)
		const rows = await database.ask<{ name: string; content: unknown }>(
			'select name, content from tracewatch.kept where name in ($1, $2) order by name desc',
			[indexName, wholeName],
		)
		const [found] = rows
		if (found === undefined) return null
		return found.name === indexName ? piecesOf(url, found.content as Index) : wholeOf(found.content)
	} finally {
		await database.close()
	}
}

async function* wholeOf(content: unknown): AsyncGenerator<unknown> {
	yield content
}

async function* piecesOf(url: string, { pieces }: Index): AsyncGenerator<unknown> {
	const database = openDatabase(url, options)
	try {
		for (const sum of pieces) {
			const rows = await database.ask<{ content: unknown }>('select content from tracewatch.kept where name = $1', [
				rowOf(sum),
			])
			if (rows[0] === undefined) throw new Error('another instance keeps other watchlists by now')
			yield rows[0].content
		}
	} finally {
		await database.close()
	}
}
