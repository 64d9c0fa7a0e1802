/**
 * `--bom`: three bytes in front of a CSV file that say that it is UTF-8. Excel takes a file without them for that of an
 * older character set, and garbles umlauts. Programs would take them for part of the first column's name, so that they
 * are written only where somebody asks for them.
 */

import { UsageError } from '../errors.js'
import type { CommandArgs, Io } from './command.js'

export const bomOption = { bom: { type: 'boolean' } } as const

/** The same, whose first line bears the mark where it is asked for. Throws UsageError where the format has none. */
export function withBom({ values: { bom, format } }: CommandArgs, io: Io): Io {
	if (bom !== true) return io
	if (format !== 'csv') throw new UsageError('--bom is for --format csv: it says to spreadsheets that it is UTF-8')
	let isFirst = true
	return {
		...io,
		out(line, end = '\n') {
			io.out(line, end, isFirst)
			isFirst = false
		},
	}
}
