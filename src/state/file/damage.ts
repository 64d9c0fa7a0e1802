/** What a person reads when a file of the state cannot be believed: what happened, and each way out with its price. */

import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { StateError } from '../../errors.js'

/** Name of the copy before the last write. */
export function previousOf(path: string): string {
	return `${path}.prev`
}

/** `what` completes the sentence "state.json is damaged: …". `isWhole` says whether a file can be read and believed. */
export async function damagedError(
	path: string,
	what: string,
	isWhole: (path: string) => Promise<boolean>,
	cause?: unknown,
): Promise<StateError> {
	const message =
		`${path} is damaged: ${what}. Nothing was changed. ` + `${await wayBack(path, isWhole)} ${anew(dirname(path))}`
	return new StateError('damaged', message, { cause })
}

async function wayBack(path: string, isWhole: (path: string) => Promise<boolean>): Promise<string> {
	const previous = previousOf(path)
	if (!(await isWhole(previous))) {
		return (
			`There is no whole copy of the write before (${previous}); ` +
			'if you have a backup of the folder, put that back.'
		)
	}
	const { mtime } = await stat(previous)
	const price = basename(path).startsWith('coverage.')
		? 'watches added since then are taken as new, from the head on'
		: 'blocks since then are scanned again, and some alerts may come a second time under the same id'
	return (
		`The copy before the last write, of ${mtime.toISOString()}, is whole; to take it: ` +
		`cp -p ${shellQuoted(previous)} ${shellQuoted(path)} (${price}).`
	)
}

function anew(folder: string): string {
	const files = ['state.json', 'coverage.json', 'coverage.changes.json']
		.map((name) => `${shellQuoted(join(folder, name))}*`)
		.join(' ')
	return (
		`To start anew: rm -f ${files} (everything is forgotten: pending deliveries are lost, ` +
		'and watching begins at the head).'
	)
}

/** For a shell, if it needs to be. */
function shellQuoted(text: string): string {
	return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
