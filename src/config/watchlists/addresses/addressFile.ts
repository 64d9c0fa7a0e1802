/** The room reads address files: CSV, one address a line. */

import { createHash } from 'node:crypto'
import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { Problem } from '../../../errors.js'
import type { Address } from '../../../model/glossary.js'
import { parseAddress } from '../../address.js'
import { readLine } from '../../values.js'
import { mostProblems, shownKey, suggestion } from '../../words.js'
import { type Reading, readChunks } from '../../yaml/openFile.js'
import { atMost, reason, shown } from '../../yaml/sourceFile.js'
import type { Place } from '../../yaml/yaml.js'
import { mostFileBytes } from '../revision.js'
import { type AddressRow, type AddressRows, createAddressRows } from './addressRows.js'
import { type CsvRecord, type Field, readRecords } from './csv.js'

export interface AddressFile {
	/** The path as messages show it. */
	readonly file: string
	/** Hash of the file's contents; null: the file cannot be read. */
	readonly digest: string | null
	readonly rows: AddressRows
	/** When there are problems, the rows must not be used. */
	readonly problems: readonly Problem[]
}

const columnNames = ['address', 'label', 'tags'] as const
type Column = (typeof columnNames)[number]
type Report = (field: Pick<Field, 'line' | 'column'>, message: string) => void

/**
 * Reads an address file: CSV with the columns address, label and tags, in this order or in the order of a header line.
 * Label and tags are optional; tags are separated by semicolons or spaces. At most 100 problems are reported, and a
 * last one says that there are more.
 */
export async function readAddressFile(path: string, cwd: string, reading: Reading = {}): Promise<AddressFile> {
	const { signal, chunks = readChunks } = reading
	const file = shown(path, cwd)
	const problems: Problem[] = []
	const report: Report = ({ line, column }, message) => void problems.push({ file, line, column, message })
	const rows = createAddressRows()
	const readTags = createTagReader()
	let columns: readonly string[] | null = null
	let isForeign = false
	const take = ({ fields, fault }: CsvRecord) => {
		if (isForeign) return
		const separator = foreignSeparator(fields)
		if (separator !== null) {
			// All lines have the same mistake, so it is reported once.
			isForeign = true
			report(separator, 'the columns are separated by commas here, not by this: save the file as CSV with commas')
		} else if (fault !== null) report(fault, fault.message)
		else if (columns === null && isHeader(fields)) columns = readHeader(fields, report)
		else if (columns === null && isForeignHeader(fields)) {
			isForeign = true
			const [first = { line: 1, column: 1 }] = fields
			report(first, 'no address in the first line: where it names the columns, their names are address, label, tags')
		} else {
			columns ??= columnNames
			const row = readRow(fields, columns, readTags, report)
			if (row !== null) rows.push(row)
		}
	}
	const hash = createHash('sha256')
	const decoder = new TextDecoder('utf-8', { fatal: true })
	let [text, line, isText] = ['', 1, true]
	let digest: string | null = null
	try {
		for await (const chunk of ended(chunks(path, mostFileBytes, signal))) {
			if (chunk !== null) hash.update(chunk)
			// Reads on to the end, because the file is identified by the hash of its whole contents.
			if (problems.length >= mostProblems || !isText) continue
			try {
				text += chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true })
			} catch {
				isText = false
				continue
			}
			const records = readRecords(text, line, chunk === null)
			let next = records.next()
			for (; next.done !== true; next = records.next()) {
				if (isSliceOver()) await nextSlice()
				if (problems.length >= mostProblems) break
				take(next.value)
			}
			if (next.done === true) [text, line] = [text.slice(next.value.offset), next.value.line]
		}
		digest = hash.digest('hex')
	} catch (error) {
		signal?.throwIfAborted()
		if (!(error instanceof RangeError) && !(error instanceof Error && 'syscall' in error)) throw error
		report({ line: 1, column: 1 }, `the file cannot be read: ${reason(error)}`)
	}
	if (!isText) report({ line: 1, column: 1 }, 'the file is not text in UTF-8')
	if (rows.length === 0 && problems.length === 0) report({ line: 1, column: 1 }, 'the file holds no address')
	return { file, digest, rows, problems: atMost(problems) }
}

/** The chunks, then null. */
async function* ended<T>(pieces: AsyncIterable<T>): AsyncGenerator<T | null> {
	yield* pieces
	yield null
}

/**
 * The place of a separator other than a comma between the columns, in a line that has only one field; null: there is
 * none.
 */
function foreignSeparator([field, ...others]: readonly Field[]): Place | null {
	if (field === undefined || others.length > 0) return null
	const found = /^(?:0x[0-9a-fA-F]{40}|address|(?=.*[;\t|]address))[^;\t|]*[;\t|]/i.exec(field.text)?.[0]
	return found === undefined ? null : { line: field.line, column: field.column + found.length - 1 }
}

function isHeader(fields: readonly Field[]): boolean {
	return fields.some(({ text }) => text.toLowerCase() === 'address')
}

/** Column names in another language or of another program. */
function isForeignHeader(fields: readonly Field[]): boolean {
	return fields.every(({ text }) => !/0x|[0-9a-f]{16}/i.test(text) && /\p{L}/u.test(text))
}

function readHeader(fields: readonly Field[], report: Report): readonly string[] {
	const columns = fields.map(({ text }) => text.toLowerCase())
	for (const [index, name] of columns.entries()) {
		const field = fields[index]
		if (field === undefined) continue
		if (!columnNames.some((known) => known === name)) {
			report(
				field,
				`unknown column ${shownKey(field.text)}${suggestion(name, columnNames)}; ` +
					`only ${columnNames.join(', ')} may stand in the file`,
			)
		} else if (columns.indexOf(name) !== index) report(field, `the column ${shownKey(field.text)} stands twice`)
	}
	return columns
}

/** Null when the row has a problem; it was reported through `report`. */
function readRow(
	fields: readonly Field[],
	columns: readonly string[],
	readTags: (text: string) => readonly string[],
	report: Report,
): AddressRow | null {
	const surplus = fields[columns.length]
	if (surplus !== undefined) {
		report(
			surplus,
			`the columns are ${columns.join(', ')}, and here is one more: take it out, or quote a label with a comma`,
		)
		return null
	}
	let isRight = true
	const read = <T>(column: Column, reader: (text: string) => T, fallback: T): T => {
		const field = fields[columns.indexOf(column)]
		try {
			return reader(field?.text ?? '')
		} catch (error) {
			const place = field ?? fields[0]
			if (!(error instanceof RangeError) || place === undefined) throw error
			report(place, `\`${column}\` ${error.message}`)
			isRight = false
			return fallback
		}
	}
	const address = read('address', readAddress, '0x')
	const label = read('label', (text) => (text === '' ? null : readLine(text)), null)
	const tags = read('tags', readTags, [])
	const { line, column } = fields[columns.indexOf('address')] ?? { line: 0, column: 0 }
	return isRight ? { address, label, tags, line, column } : null
}

function readAddress(text: string): Address {
	if (text === '') throw new RangeError('is missing')
	return parseAddress(text)
}

/** Returns the same array for the same text, since most lines of a file share a few lists of tags. */
function createTagReader(): (text: string) => readonly string[] {
	const known = new Map<string, readonly string[]>()
	return (text) => {
		const before = known.get(text)
		if (before !== undefined) return before
		const words = text.split(/[;\s]+/).filter((word) => word !== '')
		const tags = Object.freeze([...new Set(words.map(readLine))])
		known.set(text, tags)
		return tags
	}
}
