import type { Store } from '../../model/ports.js'
import { openStoreOn, type StoreOptions } from '../store.js'
import { folderJournal } from './folderJournal.js'

/** Opens the state of a folder, and creates both if necessary. Throws StateError. */
export function openFileStore(folder: string, options: StoreOptions): Promise<Store> {
	return openStoreOn(folderJournal(folder), options)
}
