/** Damaged files of the state: what happened, and each way to continue with its cost. */

import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StateError } from '../../../errors.js'

/** `message` ends the sentence "state.json is damaged: …". `line`: number of the line, from 1; 0: the whole file. */
export class Damage extends Error {
	override readonly name = 'Damage'
	readonly line: number
	constructor(message: string, { line = 0, ...options }: ErrorOptions & { readonly line?: number } = {}) {
		super(message, options)
		this.line = line
	}
}

/** Name of the copy from before the last write. */
export function previousOf(path: string): string {
	return `${path}.prev`
}

/** `then`: the command to run after the copy before was put back, if any; null: there is no whole one. */
export async function damagedError(path: string, { message, cause }: Error, then: string | null): Promise<StateError> {
	const previous = previousOf(path)
	const restore =
		then === null
			? `There is no whole copy of the write before (${previous}); if you have a backup of the folder, put that back.`
			: `The copy before the last write, of ${(await stat(previous)).mtime.toISOString()}, is whole; to take it: ` +
				`cp -p ${shellQuoted(previous)} ${shellQuoted(path)} ${then && `&& ${then} `}` +
				'(blocks since then are scanned again, and some alerts may come a second time under the same id).'
	const files = ['state.json', 'journal.jsonl'].map((name) => `${shellQuoted(join(dirname(path), name))}*`).join(' ')
	const anew =
		`To start anew: rm -f ${files} (everything is forgotten: pending deliveries are lost, ` +
		'and watching begins at the head).'
	const words = `${path} is damaged: ${message}. Nothing was changed. ${restore} ${anew}`
	return new StateError('damaged', words, { cause })
}

/** Quoted for a shell where necessary. */
export function shellQuoted(text: string): string {
	return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
