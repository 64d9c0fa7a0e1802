/** Copies one set of watchlists after the other, and says when it begins and when it is done with each. */

import { writeCopies } from '../../../src/state/file/watchlistCopies.js'
import { copySet } from '../copySets.js'

const [, , folder = '', first = '1'] = process.argv

for (let number = Number(first); ; number++) {
	console.log(`begins ${number}`)
	await writeCopies(folder, copySet(number))
	console.log(`copied ${number}`)
}
