/** Sets of watchlists by number, each an edit of the one before: a third of the files is new. */

import { createHash } from 'node:crypto'
import type { WatchlistCopies } from '../../src/model/state.js'

const count = 9
const edits = 3

/** A file says by which set it was last changed. */
export function copySet(number: number): WatchlistCopies {
	const texts = Array.from({ length: count }, (_, at) => {
		const changed = number - ((((number - at) % edits) + edits) % edits)
		return `${at}, changed by ${changed} ${String(changed).padEnd(100_000, 'x')}`
	})
	return copiesOf(texts, `set ${number}`)
}

/** Copies of files with these texts. */
export function copiesOf(texts: readonly string[], revision: string): WatchlistCopies {
	const paths = texts.map((_, at) => `/etc/lists/${at}.yaml`)
	return {
		revision,
		watchlists: paths,
		files: paths.map((path, at) => ({ path, digest: sha256(texts[at] ?? '') })),
		async *chunks(path) {
			const bytes = Buffer.from(texts[paths.indexOf(path)] ?? '')
			for (let at = 0; at < bytes.length; at += 40_001) yield bytes.subarray(at, at + 40_001)
		},
	}
}

/** What is copied: the revision, and by path the text, or null where its hash is another one. */
export async function contentOf(copies: WatchlistCopies | null) {
	if (copies === null) return null
	const texts: Record<string, string | null> = {}
	for (const { path, digest } of copies.files) {
		const chunks: Uint8Array[] = []
		for await (const chunk of copies.chunks(path)) chunks.push(chunk)
		const bytes = Buffer.concat(chunks)
		texts[path] = sha256(bytes) === digest ? bytes.toString() : null
	}
	return { revision: copies.revision, watchlists: copies.watchlists, texts }
}

function sha256(content: string | Uint8Array): string {
	return createHash('sha256').update(content).digest('hex')
}
