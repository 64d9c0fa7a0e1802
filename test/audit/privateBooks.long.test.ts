// Books of a private network with the state in a folder; in a database: privateBooks.soak.test.ts.
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { privateBooks } from './privateBooks.js'

privateBooks((clock) => openFileStore(temporaryFolder(), { clock }))
