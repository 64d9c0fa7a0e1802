/**
 * The last good watchlists and address files, as plain copies in the folder `last-good` of the state. Each copy is
 * named by its SHA-256, so an edit copies only the files that it changed; `index.json` says which path each copy had.
 */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StateError } from '../../errors.js'
import type { WatchlistCopies } from '../../model/state.js'
import { Damage } from './disk/damage.js'
import { diskError } from './disk/diskErrors.js'
import { durableFile, type Format, writeDurably } from './disk/durable.js'
import { makeFolder, openOwnFile } from './disk/ownFile.js'

type Index = Omit<WatchlistCopies, 'chunks'>

const copiesIn = (stateFolder: string) => join(stateFolder, 'last-good')
const format: Format<Index> = {
	*encode({ revision, watchlists, files }) {
		yield `[\n${JSON.stringify({ revision, watchlists, files })}\n]`
	},
	decodeLines: async ([line = '']) => JSON.parse(line),
}
const indexFile = (folder: string) => durableFile(join(folder, 'index.json'), format)
const copyName = /^[0-9a-f]{64}(?:\.tmp)?$/

/** Durable when it resolves; writes nothing if these copies are there already. Throws StateError `disk`. */
export async function writeCopies(stateFolder: string, copies: WatchlistCopies): Promise<void> {
	const folder = copiesIn(stateFolder)
	const present = await namesIn(folder)
	const missing = new Map(copies.files.filter(({ digest }) => !present.has(digest)).map((file) => [file.digest, file]))
	if (missing.size === 0 && (await indexFile(folder).read().catch(unlessDisk))?.revision === copies.revision) return
	for (const { path, digest } of missing.values()) await writeDurably(join(folder, digest), copies.chunks(path))
	await indexFile(folder).write(copies)
	const used = new Set(copies.files.map(({ digest }) => digest))
	await removeAll(folder, (name) => copyName.test(name) && !used.has(name))
}

/** Makes the folder if it is missing. */
async function namesIn(folder: string): Promise<ReadonlySet<string>> {
	try {
		await makeFolder(folder)
		return new Set(await readdir(folder))
	} catch (error) {
		throw diskError('write', folder, error)
	}
}

/** One that cannot be understood is written anew. */
function unlessDisk(error: unknown): null {
	if (error instanceof StateError && error.reason === 'disk') throw error
	return null
}

async function removeAll(folder: string, isUnused: (name: string) => boolean): Promise<void> {
	const names = await readdir(folder).catch(() => [])
	for (const name of names.filter(isUnused)) await rm(join(folder, name), { force: true }).catch(() => undefined)
}

/**
 * Null where there are none. Throws StateError `damaged`, `format` or `disk`. The caller checks the hash of each copy.
 */
export async function readCopies(stateFolder: string): Promise<WatchlistCopies | null> {
	const folder = copiesIn(stateFolder)
	const index = await indexFile(folder)
		.read()
		.catch((cause: unknown) => {
			if (!(cause instanceof Damage)) throw cause
			throw new StateError('damaged', `the index of ${folder} is damaged: ${cause.message}`, { cause })
		})
	if (index === null) return null
	return {
		...index,
		async *chunks(path) {
			const { digest = '' } = index.files.find((file) => file.path === path) ?? {}
			if (!copyName.test(digest)) throw new StateError('damaged', `${folder} has no copy of ${path}`)
			const file = await openOwnFile(join(folder, digest))
			yield* file.createReadStream()
		},
	}
}
