/** Folders of their own for tests of the file store. */

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FORMAT } from '../../../src/state/stateFormat.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { addressOf, blockOf, commitOf, coverageOf, deliveryOf } from '../samples.js'

export async function makeFolder(): Promise<string> {
	return temporaryFolder()
}

/** Sooner than at the end of the file. */
export async function removeFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true })
}

/** A file as the format describes it, made here from the description and not by the code. */
export function fileOf(data: unknown, format = FORMAT, text = JSON.stringify(data)): string {
	const body = `{"v":${format},"data":${text}`
	return `${body},"sum":"${createHash('sha256').update(body).digest('hex')}"}\n`
}

/** The files of the journal, oldest first. */
export function segmentFiles(folder: string): readonly string[] {
	const names = readdirSync(folder).filter((name) => /^journal\.\d+\.jsonl$/.test(name))
	return names.sort().map((name) => join(folder, name))
}

/** The file that the journal is continued in. */
export function newestSegment(folder: string): string {
	return segmentFiles(folder).at(-1) ?? join(folder, 'there is no journal')
}

/** A state of two steps and one enrolment, with the snapshot before. */
export async function fillFolder(folder: string): Promise<void> {
	const store = await openFileStore(folder, { clock: () => 0, leastJournalBytes: 1 })
	await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a')] }))
	await store.enrol('ethereum', { covered: new Map([[addressOf(1), coverageOf(2)]]), backfills: [] })
	await store.commit(
		commitOf({ checkpoint: blockOf(2), deliveries: [deliveryOf('b', { lastError: 'x'.repeat(3_000) })] }),
	)
	await store.close()
}
