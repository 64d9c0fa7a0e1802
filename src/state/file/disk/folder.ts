/** The folder of a state; write access to it is control over the alerts. */

import { chmod, realpath, stat } from 'node:fs/promises'
import { StateError } from '../../../errors.js'
import { diskError } from './diskErrors.js'
import { makeFolder } from './ownFile.js'

const groupWrite = 0o020
const othersWrite = 0o002

/**
 * The folder's real path; it is created if necessary (0700). Removes the group's write permission from a folder of this
 * user. Refuses a folder that everybody may write to, or whose group may write to it if it belongs to another user,
 * because its files could be forged. Throws StateError `disk`.
 */
export async function ownFolder(folder: string): Promise<string> {
	try {
		await makeFolder(folder)
		const real = await realpath(folder)
		const { mode, uid } = await stat(real)
		if ((mode & (groupWrite | othersWrite)) === 0) return real
		if ((mode & othersWrite) !== 0 || uid !== process.geteuid?.()) throw openToOthers(folder, mode)
		await chmod(real, mode & 0o7777 & ~groupWrite)
		return real
	} catch (error) {
		throw diskError('make', folder, error)
	}
}

function openToOthers(folder: string, mode: number): StateError {
	const shown = (mode & 0o777).toString(8).padStart(4, '0')
	return new StateError(
		'disk',
		`other users may write to the state folder ${folder} (${shown}), and so decide which alerts are sent. ` +
			`Look whose files are in it, then: chmod 700 ${folder}; ` +
			`or let \`state:\` name a folder inside of it, which is made for this user only`,
	)
}
