/** Keeps one set of watchlists after the other, and says when it begins and when it is done with each. */

import { writeKept } from '../../../src/state/file/kept.js'
import { keySince, piecesOf } from '../keptSets.js'

const [, , folder = '', first = '1'] = process.argv

for (let number = Number(first); ; number++) {
	console.log(`begins ${number}`)
	await writeKept(folder, { key: keySince(number), pieces: () => piecesOf(number) })
	console.log(`kept ${number}`)
}
