/**
 * What is kept beside the state: the last good watchlists and address files. A row lists the files; the text of each
 * is in rows of at most 256 KiB, named by its SHA-256 and their number.
 */

import { StateError } from '../../errors.js'
import type { Fence } from '../../model/ports.js'
import type { WatchlistCopies } from '../../model/state.js'
import { type Database, openDatabase } from './database.js'
import { hasTables, prepareTables } from './schema.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const options = { connections: 1, standstillMs: 30_000 }
const INDEX = 'copies'
/** First half of an advisory lock; an arbitrary number. */
const LOCK = 1_693_722_410
const rowOf = (digest: string, number: number) => `copy ${digest} ${number}`
const SELECT = 'select content from tracewatch.kept where name = $1 and key = $2'
const INSERT = 'insert into tracewatch.kept (name, key, content) values ($1, $2, $3) on conflict do nothing'
const REMOVE = `
	delete from tracewatch.kept
	where name = $1 and (key = '${INDEX}' or (key like 'copy %' and split_part(key, ' ', 2) <> all($2)))`
const IS_OURS = 'select from tracewatch.head where name = $1 and owner = $2 and epoch = $3 for share'

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
	const database = openDatabase(url, options)
	try {
		return await work(database)
	} finally {
		await database.close()
	}
}

/** Writes nothing if these copies are there already. Throws StateError, `lost` when another instance has taken over. */
export async function writeCopyRows(url: string, copies: WatchlistCopies, fence: Fence | null): Promise<void> {
	const { revision, watchlists, files } = copies
	await withDatabase(url, async (database) => {
		const { name } = database
		await prepareTables(database)
		const [index] = await database.ask<{ content: Index }>(SELECT, [name, INDEX])
		if (index?.content.revision === revision) return
		await database.transact(async (ask) => {
			const insert = (key: string, content: unknown) => ask(INSERT, [name, key, JSON.stringify(content)])
			// One at a time of a name, so that the copies that were found still exist at the commit.
			await ask('select pg_advisory_xact_lock($1, hashtext($2))', [LOCK, name])
			for (const { path, digest } of files) {
				if ((await ask(SELECT, [name, rowOf(digest, 0)])).length > 0) continue
				let number = 0
				for await (const text of textsOf(copies.chunks(path))) await insert(rowOf(digest, number++), text)
			}
			// Not before: the fence holds up the lines of the journal until the transaction ends.
			if (fence !== null && (await ask(IS_OURS, [name, fence.owner, fence.epoch])).length === 0)
				throw new StateError('lost', 'another instance has taken over the state: nothing was written')
			await ask(REMOVE, [name, files.map(({ digest }) => digest)])
			await insert(INDEX, { revision, watchlists, files } satisfies Index)
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
