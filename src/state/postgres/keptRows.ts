/**
 * What is kept beside the state: the last good watchlists and address files. A row lists the files; the text of each
 * is in rows of at most 256 KiB, named by its SHA-256 and their number.
 */

import { StateError } from '../../errors.js'
import type { Fence } from '../../model/ports.js'
import type { WatchlistCopies } from '../../model/state.js'
import { type Ask, type Database, openDatabase } from './database.js'
import { hasTables, prepareTables } from './schema.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const options = { connections: 1, standstillMs: 30_000 }
const INDEX = 'copies'
const rowOf = (digest: string, number: number) => `copy ${digest} ${number}`
const SELECT = 'select content from tracewatch.kept where name = $1 and key = $2'
/** Only while the instance has the right to write ($4 and $5; null: anyone may). */
const INSERT = `
	with ours as (select from tracewatch.head where name = $1 and owner = $4 and epoch = $5::bigint for share)
	insert into tracewatch.kept (name, key, content)
	select $1, $2, $3::json where $4::text is null or exists (select from ours)
	on conflict (name, key) do update set content = excluded.content
	returning key`

/** Throws StateError `lost` when another instance has taken over. */
async function insert(ask: Ask, [name, key, content]: readonly [string, string, unknown], fence: Fence | null) {
	const written = await ask(INSERT, [name, key, JSON.stringify(content), fence?.owner ?? null, fence?.epoch ?? null])
	if (written.length === 0)
		throw new StateError('lost', 'another instance has taken over the state: nothing was written')
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
	const database = openDatabase(url, options)
	try {
		return await work(database)
	} finally {
		await database.close()
	}
}

/** Writes nothing if these copies are there already. Throws StateError. */
export async function writeCopyRows(url: string, copies: WatchlistCopies, fence: Fence | null): Promise<void> {
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
					await insert(ask, [name, rowOf(digest, number), text], null)
					number += 1
				}
			}
			// Not before: the fence holds up the lines of the journal until the transaction ends.
			await insert(ask, [name, INDEX, { revision, watchlists, files } satisfies Index], fence)
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
