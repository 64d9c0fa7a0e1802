/**
 * What is kept beside the state: open troubles in one row, and the last good watchlists and address files. A row lists
 * the files; the text of each is in rows of at most 256 KiB, named by its SHA-256 and their number.
 */

import type { WatchlistCopies } from '../../model/state.js'
import type { Troubles } from '../../model/trouble.js'
import { type Database, openDatabase } from './database.js'
import { hasTables, prepareTables } from './schema.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const options = { connections: 1, standstillMs: 30_000 }
const INDEX = 'copies'
const TROUBLES = 'troubles'
const rowOf = (digest: string, number: number) => `copy ${digest} ${number}`
const SELECT = 'select content from tracewatch.kept where name = $1 and key = $2'
const INSERT = `insert into tracewatch.kept (name, key, content) values ($1, $2, $3::json)
	on conflict (name, key) do update set content = excluded.content`

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
	const database = openDatabase(url, options)
	try {
		return await work(database)
	} finally {
		await database.close()
	}
}

/** Null where there were none yet. Throws StateError. */
export async function readTroubleRow(url: string): Promise<Troubles | null> {
	return await withDatabase(url, async ({ ask, host, name }) => {
		if (!(await hasTables(ask, host))) return null
		return (await ask<{ content: Troubles }>(SELECT, [name, TROUBLES]))[0]?.content ?? null
	})
}

/** Throws StateError. */
export async function writeTroubleRow(url: string, troubles: Troubles): Promise<void> {
	await withDatabase(url, async (database) => {
		await prepareTables(database)
		await database.ask(INSERT, [database.name, TROUBLES, JSON.stringify(troubles)])
	})
}

/** Writes nothing if these copies are there already. Throws StateError. */
export async function writeCopyRows(url: string, copies: WatchlistCopies): Promise<void> {
	const { revision, watchlists, files } = copies
	await withDatabase(url, async (database) => {
		const { name } = database
		await prepareTables(database)
		const [index] = await database.ask<{ content: Index }>(SELECT, [name, INDEX])
		if (index?.content.revision === revision) return
		await database.transact(async (ask) => {
			// One at a time, so that the copies that were found still exist at the commit.
			await ask('lock table tracewatch.kept in share row exclusive mode')
			const rows = await ask<{ key: string }>(
				`select key from tracewatch.kept where name = $1 and key like 'copy % 0'`,
				[name],
			)
			const present = new Set(rows.map(({ key }) => key))
			for (const { path, digest } of files) {
				if (present.has(rowOf(digest, 0))) continue
				present.add(rowOf(digest, 0))
				let number = 0
				for await (const text of textsOf(copies.chunks(path))) {
					await ask(INSERT, [name, rowOf(digest, number), JSON.stringify(text)])
					number += 1
				}
			}
			await ask(INSERT, [name, INDEX, JSON.stringify({ revision, watchlists, files } satisfies Index)])
			await ask(
				`delete from tracewatch.kept
				where name = $1 and key like 'copy %' and split_part(key, ' ', 2) <> all($2)`,
				[name, files.map(({ digest }) => digest)],
			)
		})
	})
}

/** Good watchlists are valid UTF-8, so their text is their bytes. */
async function* textsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
	for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
}

/** Null where there are none. Throws StateError, also while the bytes are read. */
export async function readCopyRows(url: string): Promise<WatchlistCopies | null> {
	return await withDatabase(url, async ({ ask, host, name }) => {
		if (!(await hasTables(ask, host))) return null
		const [index] = await ask<{ content: Index }>(SELECT, [name, INDEX])
		return index === undefined ? null : { ...index.content, chunks: (path) => chunksOf(url, path, index.content) }
	})
}

async function* chunksOf(url: string, path: string, { files }: Index): AsyncGenerator<Uint8Array> {
	const { digest = '' } = files.find((file) => file.path === path) ?? {}
	const database = openDatabase(url, options)
	try {
		for (let number = 0; ; number++) {
			const [row] = await database.ask<{ content: string }>(SELECT, [database.name, rowOf(digest, number)])
			if (row === undefined) return
			yield Buffer.from(row.content)
		}
	} finally {
		await database.close()
	}
}
