import type { Store } from '../../src/model/ports.js'
import { folderJournal } from '../../src/state/file/folderJournal.js'
import { openStoreOn, type StoreOptions } from '../../src/state/store.js'

/** The state of a folder without its lock, so that a test leaves it as a kill does, and opens it again. */
export function openFileStore(folder: string, options: StoreOptions): Promise<Store> {
	return openStoreOn(folderJournal(folder), options)
}
