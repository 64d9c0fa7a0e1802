import { CsvError, parse } from 'csv-parse'
import type { Place } from '../../yaml/yaml.js'

export interface CsvRecord {
	/** At least one, without the blanks around it. */
	readonly fields: readonly string[]
	/** Where a field begins. */
	readonly placeOf: (index: number) => Place
}

/** Why the rest of the file cannot be read. */
export interface CsvFault {
	readonly place: Place
	readonly message: string
}

/** A longer record means that a quote is never closed, or that the file is no CSV. In bytes. */
const LONGEST_BYTES = 65_536

/**
 * Returns what reads the pieces of a file (null: its end), and calls `take` for each record. Lines that are empty or
 * begin with # are none. After a fault nothing more can be read.
 */
export function createCsvReader(
	take: (record: CsvRecord) => void,
): (piece: Uint8Array | null) => Promise<CsvFault | null> {
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
	// The call that failed has the error too.
	parser.on('error', () => undefined)
	const decoder = new TextDecoder('utf-8', { fatal: true })
	return async (piece) => {
		try {
			decoder.decode(piece ?? undefined, { stream: piece !== null })
			await new Promise<void>((resolve, reject) => {
				const done = (error?: Error | null) => (error == null ? resolve() : reject(error))
				if (piece === null) parser.end(done)
				else parser.write(piece, done)
			})
			return null
		} catch (error) {
			if (error instanceof CsvError) return faultOf(error, line)
			if (!(error instanceof TypeError && 'code' in error)) throw error
			return { place: { line: 1, column: 1 }, message: 'the file is not text in UTF-8: save it in that encoding' }
		}
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
	INVALID_OPENING_QUOTE: 'quote a text that contains quotes, and double each quote inside',
	CSV_INVALID_CLOSING_QUOTE: afterQuote,
	CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: afterQuote,
	CSV_QUOTE_NOT_CLOSED: neverClosed,
}

/** At the field that has the fault. */
function faultOf({ code, index, raw }: CsvError, line: number): CsvFault {
	const text = String(raw)
	const tooLong = `this line has more than ${LONGEST_BYTES} characters`
	const message = words[code] ?? (text.includes('"') ? neverClosed : tooLong)
	return { place: placeIn(text, line, Number(index)), message }
}
