/**
 * What is kept beside the state: the last good watchlists and address files. A row lists the files; the text of each
 * is in rows of at most 256 KiB, named by its SHA-256 and their number.
 */

import { StateError } from '../../errors.js'
import type { WatchlistCopies } from '../../model/state.js'
import { type Database, openDatabase } from './database.js'
import { hasTables } from './schema.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const options = { connections: 1, standstillMs: 30_000 }
const INDEX = 'copies'
const rowOf = (digest: string, number: number) => `copy ${digest} ${number}`
const SELECT = 'select content from tracewatch.kept where name = $1 and key = $2'
/** $1 to $3: name, owner and epoch. An instance that another has replaced writes nothing. */
const OURS = 'with ours as (select name from tracewatch.head where name = $1 and owner = $2 and epoch = $3 for share)'
/** What a copy that was interrupted has left: its file may have changed meanwhile. */
const CLEAR = `
	${OURS} delete from tracewatch.kept using ours where kept.name = ours.name and key like 'copy ' || $4::text || ' %'`
const INSERT = `
	${OURS} insert into tracewatch.kept (name, key, content) select name, $4::text, $5::json from ours
	on conflict do nothing`
const SWITCH = `
	${OURS}, unused as (
		delete from tracewatch.kept using ours
		where kept.name = ours.name and key like 'copy %' and split_part(key, ' ', 2) <> all($4::text[])
	)
	insert into tracewatch.kept (name, key, content) select name, '${INDEX}', $5::json from ours
	on conflict (name, key) do update set content = excluded.content
	returning key`

/** Writes nothing if these copies are there already. Throws StateError, `lost` when another instance has taken over. */
export async function writeCopyRows(
	{ ask, name }: Database,
	{ owner, epoch }: { readonly owner: string; readonly epoch: number },
	copies: WatchlistCopies,
): Promise<void> {
	const { revision, watchlists, files } = copies
	const [index] = await ask<{ content: Index }>(SELECT, [name, INDEX])
	if (index?.content.revision === revision) return
	const present = new Set(index?.content.files.map(({ digest }) => digest))
	const ours = [name, owner, epoch]
	for (const { path, digest } of files.filter((file) => !present.has(file.digest))) {
		let number = 0
		await ask(CLEAR, [...ours, digest])
		for await (const text of textsOf(copies.chunks(path)))
			await ask(INSERT, [...ours, rowOf(digest, number++), JSON.stringify(text)])
	}
	const content = JSON.stringify({ revision, watchlists, files } satisfies Index)
	const written = await ask(SWITCH, [...ours, files.map(({ digest }) => digest), content])
	if (written.length === 0) throw new StateError('lost', 'this instance no longer has the state: nothing was written')
}

/** Good watchlists are valid UTF-8, so their text is their bytes. Of others the hash is found to be another one. */
async function* textsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
	for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
}

/** Null where there are none. Throws StateError, also while the bytes are read. */
export async function readCopyRows(url: string): Promise<WatchlistCopies | null> {
	const database = openDatabase(url, options)
	const { ask, host, name } = database
	try {
		if (!(await hasTables(ask, host))) return null
		const [index] = await ask<{ content: Index }>(SELECT, [name, INDEX])
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
			const [row] = await database.ask<{ content: string }>(SELECT, [database.name, rowOf(digest, number)])
			if (row === undefined) return
			yield Buffer.from(row.content)
		}
	} finally {
		await database.close()
	}
}
