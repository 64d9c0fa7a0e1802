/** A state that cannot be read: what happened, and each way to continue with its cost. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StateError } from '../../errors.js'
import { type Damage, previousOf } from './disk/damage.js'
import { segmentPath, segmentsIn } from './segments.js'

const PRICE =
	'blocks since then are scanned again, some alerts may come a second time under the same id, and watches that were ' +
	'added since then are taken as new'

/**
 * What to do about a state that cannot be read. `previous`: what is wrong with the snapshot before, or with the journal
 * that follows it; null: there is none.
 */
export async function damagedError(folder: string, found: Damage, previous: Damage | null): Promise<StateError> {
	const { path, message, cause } = found
	const state = join(folder, 'state.json')
	const copy = previousOf(state)
	let restore = `There is no whole copy of the write before (${copy}); put a backup of the folder back if there is one.`
	if (path !== state) restore = `To keep the writes before it: ${await cut(folder, found)} (${PRICE}).`
	else if (previous !== null && previous.path !== copy)
		restore =
			`The copy before the last write, of ${(await stat(copy)).mtime.toISOString()}, is whole; to take it: ` +
			`cp -p ${shellQuoted(copy)} ${shellQuoted(state)} && ${await cut(folder, previous)} (${PRICE}).`
	const files = ['state.json', 'journal.'].map((name) => `${shellQuoted(join(folder, name))}*`).join(' ')
	const anew =
		`To start anew: rm -f ${files} (everything is forgotten: pending deliveries are lost, ` +
		'and watching begins at the head).'
	const words = `${path} is damaged: ${message}. Nothing was changed. ${restore} ${anew}`
	return new StateError('damaged', words, { cause })
}

/** The command that takes the damaged line and all after it out of the journal. */
async function cut(folder: string, { path, line }: Damage): Promise<string> {
	const all = (await segmentsIn(folder)).map((number) => segmentPath(folder, number))
	const later = all.filter((other) => other.localeCompare(path, 'en', { numeric: true }) > 0)
	const own = line === 0 ? `: > ${shellQuoted(path)}` : `sed -i '${line},$d' ${shellQuoted(path)}`
	return later.length === 0 ? own : `${own} && rm -f ${later.map(shellQuoted).join(' ')}`
}

/** Quoted for a shell where necessary. */
function shellQuoted(text: string): string {
	return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
