/**
 * `--bom` writes the UTF-8 byte order mark (3 bytes) at the start of a CSV file. Without it, Excel reads the file in an
 * older character set and garbles umlauts. Other programs would read the mark as a part of the first column's name, so
 * it is written on request only.
 */

import { UsageError } from '../../errors.js'
import type { CommandArgs, Io } from '../command.js'

export const bomOption = { bom: { type: 'boolean' } } as const

/** An Io whose first line is marked as UTF-8 when `--bom` is set. Throws UsageError when the format is not CSV. */
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
