/** Folders of their own for tests of the file store. */

import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
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

/** A state of two steps and one enrolment, with a copy of the snapshot before and of its journal. */
export async function fillFolder(folder: string): Promise<void> {
	const store = await openFileStore(folder, { clock: () => 0, leastJournalBytes: 1 })
	await store.commit(commitOf({ checkpoint: blockOf(1), deliveries: [deliveryOf('a')] }))
	await store.enrol('ethereum', { covered: new Map([[addressOf(1), coverageOf(2)]]), backfills: [] })
	await store.commit(
		commitOf({ checkpoint: blockOf(2), deliveries: [deliveryOf('b', { lastError: 'x'.repeat(3_000) })] }),
	)
	await store.close()
}
