/** Reads one record after the other of a CSV file: RFC 4180, with CRLF or LF, and blanks around fields dropped. */

export interface Field {
	readonly text: string
	/** Where it begins, both from 1. */
	readonly line: number
	readonly column: number
}

export interface CsvRecord {
	/** At least one. */
	readonly fields: readonly Field[]
	/** What is wrong with it, and where. */
	readonly fault: { readonly line: number; readonly column: number; readonly message: string } | null
}

/** The records, but for lines that are empty or begin with #. After a quote that is never closed there are no more. */
export function* readRecords(text: string): Generator<CsvRecord, void> {
	let [offset, line, start] = [0, 1, 0]
	while (offset < text.length) {
		;[start] = [offset]
		let end = text.indexOf('\n', offset)
		if (end === -1) end = text.length
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
				if (stop === -1) {
					fault ??= { ...at, message: 'this quote is never closed' }
					yield { fields: [...fields, { ...at, text: '' }], fault }
					return
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
		yield { fields, fault }
		;[offset, line] = [offset + 1, line + 1]
	}
}

function plainFields(line: string, number: number): readonly Field[] {
	let offset = 0
	return line.split(',').map((part) => {
		const column = offset + (part.length - part.trimStart().length) + 1
		offset += part.length + 1
		return { text: part.trim(), line: number, column }
	})
}

/** The comma or line break that ends a field without quotes, or the end of the text. */
function endOfField(text: string, from: number): number {
	for (let at = from; at < text.length; at++) if (text[at] === ',' || text[at] === '\n') return at
	return text.length
}

/** -1: there is none. */
function closingQuote(text: string, open: number): number {
	for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
		if (text[at + 1] !== '"') return at
	}
	return -1
}
