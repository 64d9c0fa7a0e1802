/** The folder of a state: who may write to it decides what is told. */

import { chmod, mkdir, realpath, stat } from 'node:fs/promises'
import { StateError } from '../../errors.js'
import { diskError } from './diskErrors.js'

const groupWrite = 0o020
const othersWrite = 0o002

/**
 * The folder by its real name, made if it is not there (0700). One of this user that its group may write to is closed
 * to the group; one that everybody may write to, or a group of somebody else's folder, is refused: what stands in it
 * may be anybody's. Throws StateError `disk`.
 */
export async function ownFolder(folder: string): Promise<string> {
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 })
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
		`other users may write to the state folder ${folder} (${shown}), and so decide what is told. ` +
			`Look whose files are in it, then: chmod 700 ${folder}; ` +
			`or let \`state:\` name a folder inside of it, which is made for this user only`,
	)
}
