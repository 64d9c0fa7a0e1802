import { CsvError, parse } from 'csv-parse'
import type { Place } from '../../yaml/yaml.js'

export interface CsvRecord {
	/** At least one, without the blanks around it. */
	readonly fields: readonly string[]
	/** Where a field begins. */
	readonly placeOf: (index: number) => Place
}

export interface CsvReader {
	/** Null: the end of the file. Rejects with a `CsvFault`, after which nothing more can be read. */
	read(piece: Uint8Array | null): Promise<void>
}

/** Commas or quotes that cannot be read; the message says which. */
export class CsvFault extends Error {
	override readonly name = 'CsvFault'
	readonly place: Place

	constructor(message: string, place: Place) {
		super(message)
		this.place = place
	}
}

/** A longer record means that a quote is never closed, or that the file is no CSV. In bytes. */
const LONGEST_BYTES = 65_536

/** Calls `take` for each record. Lines that are empty or begin with # are none. */
export function createCsvReader(take: (record: CsvRecord) => void): CsvReader {
	/** Line at which the text before the next record begins. */
	let line = 1
	const parser = parse({
		bom: true,
		trim: true,
		comment: '#',
		comment_no_infix: true,
		raw: true,
		record_delimiter: ['\r\n', '\n'],
		relax_column_count: true,
		skip_empty_lines: true,
		max_record_size: LONGEST_BYTES,
		on_record: (read) => {
			// With `raw`, which the types do not know.
			const { record, raw } = read as unknown as { readonly record: readonly string[]; readonly raw: string }
			const begins = line
			take({ fields: record.map((field) => field.trim()), placeOf: (index) => placeIn(raw, begins, index) })
			line += raw.split(lineEnd).length - 1
			return null
		},
	})
	const inWords = (error: unknown) => (error instanceof CsvError ? faultOf(error, line) : error)
	// The call that failed rejects.
	parser.on('error', () => undefined)
	return {
		read: (piece) =>
			new Promise((resolve, reject) => {
				const done = (error?: Error | null) => (error == null ? resolve() : reject(inWords(error)))
				if (piece === null) parser.end(done)
				else parser.write(piece, done)
			}),
	}
}

/** The parser leaves the \n of \r\n out of what it gives back. */
const lineEnd = /\r\n?|\n/

/** Where a field begins. `raw` is the record, and the comments and empty lines before it. */
function placeIn(raw: string, line: number, index: number): Place {
	let at = /^(?:[ \t]*(?:#.*)?(?:\r\n?|\n))*/.exec(raw)?.[0].length ?? 0
	const field = /[ \t]*(?:"(?:[^"]|"")*"?)?[^,]*,?/y
	for (let before = 0; before < index; before++) {
		field.lastIndex = at
		at += field.exec(raw)?.[0].length ?? 0
	}
	at += /^[ \t]*/.exec(raw.slice(at, at + LONGEST_BYTES))?.[0].length ?? 0
	const lines = raw.slice(0, at).split(lineEnd)
	return { line: line + lines.length - 1, column: (lines.at(-1)?.length ?? 0) + 1 }
}

const afterQuote = 'after a closing quote comes a comma or the end of the line'
const neverClosed = 'this quote is never closed'
const words: Partial<Record<CsvError['code'], string>> = {
	INVALID_OPENING_QUOTE: 'a text with quotes in it stands in quotes, each of its own doubled',
	CSV_INVALID_CLOSING_QUOTE: afterQuote,
	CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: afterQuote,
	CSV_QUOTE_NOT_CLOSED: neverClosed,
}

/** At the field that has the fault. */
function faultOf({ code, index, raw }: CsvError, line: number): CsvFault {
	const text = String(raw)
	const tooLong = `this line has more than ${LONGEST_BYTES} characters`
	const message = words[code] ?? (text.includes('"') ? neverClosed : tooLong)
	return new CsvFault(message, placeIn(text, line, Number(index)))
}
