/** The message for a damaged state file: what happened, and each way to continue with its cost. */

import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StateError } from '../../../errors.js'

/** Name of the copy from before the last write. */
export function previousOf(path: string): string {
	return `${path}.prev`
}

/**
 * `what` ends the sentence "state.json is damaged: …". `isWhole` tells whether a file is valid, or is the text of the
 * recovery.
 */
export async function damagedError(
	path: string,
	what: string,
	isWhole: string | ((path: string) => Promise<boolean>),
	cause?: unknown,
): Promise<StateError> {
	const message =
		`${path} is damaged: ${what}. Nothing was changed. ` +
		`${typeof isWhole === 'string' ? isWhole : await restoreFrom(path, isWhole)} ${anew(dirname(path))}`
	return new StateError('damaged', message, { cause })
}

async function restoreFrom(path: string, isWhole: (path: string) => Promise<boolean>): Promise<string> {
	const previous = previousOf(path)
	if (!(await isWhole(previous))) {
		return (
			`There is no whole copy of the write before (${previous}); ` +
			'if you have a backup of the folder, put that back.'
		)
	}
	return await restoreByCopy(path)
}

/** `then`: a second command to run after the copy. */
export async function restoreByCopy(path: string, then?: string): Promise<string> {
	const previous = previousOf(path)
	const { mtime } = await stat(previous)
	return (
		`The copy before the last write, of ${mtime.toISOString()}, is whole; to take it: ` +
		`cp -p ${shellQuoted(previous)} ${shellQuoted(path)}${then === undefined ? '' : ` && ${then}`} ` +
		'(blocks since then are scanned again, and some alerts may come a second time under the same id).'
	)
}

function anew(folder: string): string {
	const files = ['state.json', 'journal.jsonl'].map((name) => `${shellQuoted(join(folder, name))}*`).join(' ')
	return (
		`To start anew: rm -f ${files} (everything is forgotten: pending deliveries are lost, ` +
		'and watching begins at the head).'
	)
}

/** Quoted for a shell where necessary. */
export function shellQuoted(text: string): string {
	return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
