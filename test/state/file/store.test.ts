import { join } from 'node:path'
import { openFileStore } from '../../support/fileStore.js'
import { storeContract } from '../contract.js'
import { makeFolder, removeFolder } from './folder.js'

storeContract('file store', async () => {
	const folder = await makeFolder()
	return {
		open: (clock) => openFileStore(join(folder, 'state'), { clock }),
		remove: () => removeFolder(folder),
	}
})
