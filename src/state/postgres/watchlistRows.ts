/**
 * The last good watchlists and address files as text in a database, of whichever instance read them. A row lists the
 * files; the text of each is in rows of at most 256 KiB, named by its SHA-256 and their number.
 */

import type { WatchlistCopies } from '../../model/state.js'
import { openDatabase } from './connection/database.js'
import { hasTables, prepareTables } from './connection/tables.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const options = { connections: 1, standstillMs: 30_000 }
const indexName = 'copies'
const rowOf = (digest: string, number: number) => `copy ${digest} ${number}`
const select = 'select content from tracewatch.kept where name = $1'
const insert = `insert into tracewatch.kept (name, content) values ($1, $2::json)
	on conflict (name) do update set content = excluded.content`

/** Writes nothing if these copies are there already. Throws StateError. */
export async function writeCopyRows(url: string, copies: WatchlistCopies): Promise<void> {
	const { revision, watchlists, files } = copies
	const database = openDatabase(url, options)
	try {
		await prepareTables(database)
		const [index] = await database.ask<{ content: Index }>(select, [indexName])
		if (index?.content.revision === revision) return
		await database.transact(async (ask) => {
			// One instance at a time, so that the copies it found still exist when it commits.
			await ask('lock table tracewatch.kept in share row exclusive mode')
			const rows = await ask<{ name: string }>(`select name from tracewatch.kept where name like 'copy % 0'`)
			const present = new Set(rows.map(({ name }) => name))
			for (const { path, digest } of files) {
				if (present.has(rowOf(digest, 0))) continue
				present.add(rowOf(digest, 0))
				let number = 0
				for await (const text of textsOf(copies.chunks(path))) {
					await ask(insert, [rowOf(digest, number), JSON.stringify(text)])
					number += 1
				}
			}
			await ask(insert, [indexName, JSON.stringify({ revision, watchlists, files } satisfies Index)])
			await ask(`delete from tracewatch.kept where name like 'copy %' and split_part(name, ' ', 2) <> all($1)`, [
				files.map(({ digest }) => digest),
			])
		})
	} finally {
		await database.close()
	}
}

/** Good watchlists are valid UTF-8, so their text is their bytes. */
async function* textsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
	for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
}

/** Null where there are none. Throws StateError, also while the bytes are read. */
export async function readCopyRows(url: string): Promise<WatchlistCopies | null> {
	const database = openDatabase(url, options)
	try {
		if (!(await hasTables(database.ask, database.host))) return null
		const [index] = await database.ask<{ content: Index }>(select, [indexName])
		return index === undefined ? null : { ...index.content, chunks: (path) => chunksOf(url, path, index.content) }
	} finally {
		await database.close()
	}
}

async function* chunksOf(url: string, path: string, { files }: Index): AsyncGenerator<Uint8Array> {
	const { digest = '' } = files.find((file) => file.path === path) ?? {}
	const database = openDatabase(url, options)
	try {
		for (let number = 0; ; number++) {
			const [row] = await database.ask<{ content: string }>(select, [rowOf(digest, number)])
			if (row === undefined) return
			yield Buffer.from(row.content)
		}
	} finally {
		await database.close()
	}
}
