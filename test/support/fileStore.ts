import type { Store } from '../../src/model/ports.js'
import { ownFolder } from '../../src/state/file/disk/folder.js'
import type { Hold } from '../../src/state/file/disk/hold.js'
import { folderJournal } from '../../src/state/file/folderJournal.js'
import { createSegment, segmentsIn } from '../../src/state/file/segments.js'
import { openStoreOn, type StoreOptions } from '../../src/state/store.js'

/**
 * The state of a folder as a process opens it that does not see the one before: a test leaves it as a kill does, and
 * opens it again.
 */
export function openFileStore(folder: string, options: StoreOptions): Promise<Store> {
	return openStoreOn(folderJournal(folder, options.log, unseen), options)
}

async function unseen(folder: string): Promise<Hold> {
	const real = await ownFolder(folder)
	const segment = ((await segmentsIn(real)).at(-1) ?? 0) + 1
	if (!(await createSegment(real, segment))) throw new Error(`segment ${segment} exists already`)
	return { segment, release: async () => undefined }
}
