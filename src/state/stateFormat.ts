/** The version of what is stored. State of another version is refused, and nothing is written into it. */

import { StateError } from '../errors.js'

/**
 * Of the files of a folder and of the tables of a database. Raise it with every change after which other programs would
 * misread what this one wrote, or this one what they wrote.
 */
export const FORMAT = 29

/** `where`: a file, or "the database at HOST". `home`: what to name instead, "folder" or "database". */
export function otherFormat(where: string, found: number | string, home: 'folder' | 'database'): StateError {
	// The unit lets the service write nowhere else.
	const below = home === 'folder' ? ' (a systemd service: one below its old folder)' : ''
	return new StateError(
		'format',
		`${where} holds state of another version of tracewatch (format ${found}, this one reads ${FORMAT}), and nothing ` +
			`was changed: keep it, and name a new ${home} in \`state\`${below}; watching then starts at the head, and ` +
			'`from_block` of a watch fetches what is missing',
	)
}
