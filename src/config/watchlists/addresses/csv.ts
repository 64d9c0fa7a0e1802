/** Reads CSV files record by record: RFC 4180, with CRLF or LF, and without the blanks around fields. */

export interface Field {
	readonly text: string
	/** Where the field begins; line and column start at 1. */
	readonly line: number
	readonly column: number
}

export interface CsvRecord {
	/** At least one field. */
	readonly fields: readonly Field[]
	/** The first fault of the record, and its place. */
	readonly fault: { readonly line: number; readonly column: number; readonly message: string } | null
}

/** Where reading of a piece of text stopped. */
export interface CsvRest {
	/** Where the incomplete record begins. */
	readonly offset: number
	/** The line of that record. */
	readonly line: number
}

/** A longer record means that a quote is never closed, or that the file is no CSV. In characters. */
const longest = 65_536

/**
 * Yields the records; skips lines that are empty or begin with #. Stops at a quote that is never closed. When `isEnd`
 * is false, it yields only the complete records; the caller puts the rest in front of the next piece.
 */
export function* readRecords(text: string, firstLine = 1, isEnd = true): Generator<CsvRecord, CsvRest> {
	let [offset, line, start] = [0, firstLine, 0]
	while (offset < text.length) {
		const rest = { offset, line }
		const isWhole = isEnd || text.length - offset > longest
		;[start] = [offset]
		let end = text.indexOf('\n', offset)
		if (end === -1 && !isWhole) return rest
		if (end === -1) end = text.length
		if (end - offset > longest) {
			yield { fields: [{ text: '', line, column: 1 }], fault: { line, column: 1, message: tooLong } }
			return { offset: text.length, line }
		}
		const whole = text.slice(offset, end)
		if (whole.trim() === '' || whole.startsWith('#')) {
			;[offset, line] = [end + 1, line + 1]
			continue
		}
		if (!whole.includes('"')) {
			yield { fields: plainFields(whole, line), fault: null }
			;[offset, line] = [end + 1, line + 1]
			continue
		}
		const fields: Field[] = []
		let fault: CsvRecord['fault'] = null
		for (;;) {
			const column = () => offset - start + 1
			while (text[offset] === ' ' || text[offset] === '\t') offset++
			const at = { line, column: column() }
			if (text[offset] !== '"') {
				const stop = endOfField(text, offset)
				const plain = text.slice(offset, stop)
				if (plain.includes('"'))
					fault ??= { ...at, message: 'a text with quotes in it stands in quotes, each of its own doubled' }
				fields.push({ ...at, text: plain.trim() })
				offset = stop
			} else {
				const stop = closingQuote(text, offset)
				if (stop === -1 || stop - offset > longest) {
					if (!isWhole) return rest
					fault ??= { ...at, message: 'this quote is never closed' }
					yield { fields: [...fields, { ...at, text: '' }], fault }
					return { offset: text.length, line }
				}
				const inside = text.slice(offset + 1, stop)
				fields.push({ ...at, text: inside.replaceAll('""', '"').trim() })
				for (let next = inside.indexOf('\n'); next !== -1; next = inside.indexOf('\n', next + 1)) {
					;[line, start] = [line + 1, offset + 1 + next + 1]
				}
				offset = endOfField(text, stop + 1)
				if (text.slice(stop + 1, offset).trim() !== '')
					fault ??= {
						line,
						column: stop - start + 2,
						message: 'after a closing quote comes a comma or the end of the line',
					}
			}
			if (text[offset] !== ',') break
			offset++
		}
		// The next piece may continue this record with a second quote, or with the end of its line.
		if (offset >= text.length && !isWhole) return rest
		yield { fields, fault }
		;[offset, line] = [offset + 1, line + 1]
	}
	return { offset: text.length, line }
}

const tooLong = `this line has more than ${longest} characters`

function plainFields(line: string, number: number): readonly Field[] {
	let offset = 0
	return line.split(',').map((part) => {
		const column = offset + (part.length - part.trimStart().length) + 1
		offset += part.length + 1
		return { text: part.trim(), line: number, column }
	})
}

/** Index of the comma or line break that ends an unquoted field, or the end of the text. */
function endOfField(text: string, from: number): number {
	for (let at = from; at < text.length; at++) if (text[at] === ',' || text[at] === '\n') return at
	return text.length
}

/** -1 when there is none. */
function closingQuote(text: string, open: number): number {
	for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
		if (text[at + 1] !== '"') return at
	}
	return -1
}
