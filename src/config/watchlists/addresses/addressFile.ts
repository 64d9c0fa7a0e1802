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
import { type CsvRecord, createCsvReader } from './csv.js'

export interface AddressFile {
	/** Hash of the file's contents; null: the file cannot be read. */
	readonly digest: string | null
	/** When there are problems, the rows must not be used. */
	readonly problems: readonly Problem[]
}

/** One line of an address file. Lines with the same tags share the array. */
export interface AddressRow {
	readonly address: Address
	readonly label: string | null
	readonly tags: readonly string[]
	/** Where the address begins. */
	readonly place: Place
}

export interface AddressReading extends Reading {
	/** Folder that paths in messages are relative to. */
	readonly cwd: string
	/** Null: unknown. */
	readonly chainId?: number | null | undefined
}

const columnNames = ['address', 'label', 'tags'] as const
type Column = (typeof columnNames)[number]
type Report = (place: Place, message: string) => void

/** The parser works through a piece at once, while nothing else happens. */
const PIECE_BYTES = 8_192
const firstPlace: Place = { line: 1, column: 1 }

/**
 * Reads an address file, and calls `take` for each line: CSV with the columns address, label and tags, in this order
 * or in the order of a header line. Label and tags are optional; tags are separated by semicolons or spaces. At most
 * 100 problems are reported, and a last one says that there are more.
 */
export async function readAddressFile(
	path: string,
	{ cwd, chainId = null, signal, chunks = readChunks }: AddressReading,
	take: (row: AddressRow) => void,
): Promise<AddressFile> {
	const file = shown(path, cwd)
	const problems: Problem[] = []
	const report: Report = ({ line, column }, message) => void problems.push({ file, line, column, message })
	let rows = 0
	/** Reads on to the end of the file all the same, since the hash of its whole contents identifies it. */
	let isOver = false
	const readRecord = createRecordReader(chainId, report)
	const readCsv = createCsvReader((record) => {
		if (isOver) return
		const row = readRecord(record)
		if (row !== null && row !== 'no CSV') {
			rows += 1
			take(row)
		}
		isOver = row === 'no CSV' || problems.length >= mostProblems
	})
	const hash = createHash('sha256')
	let digest: string | null = null
	const readPiece = async (piece: Uint8Array | null) => {
		const fault = isOver ? null : await readCsv(piece)
		if (fault === null) return
		isOver = true
		report(fault.place, fault.message)
	}
	try {
		for await (const chunk of chunks(path, mostFileBytes, signal)) {
			hash.update(chunk)
			for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
				if (isSliceOver(32)) await nextSlice()
				await readPiece(chunk.subarray(at, at + PIECE_BYTES))
			}
		}
		await readPiece(null)
		digest = hash.digest('hex')
	} catch (error) {
		signal?.throwIfAborted()
		if (!(error instanceof RangeError) && !(error instanceof Error && 'syscall' in error)) throw error
		report(firstPlace, `the file cannot be read: ${reason(error)}`)
	}
	if (rows === 0 && problems.length === 0) report(firstPlace, 'the file holds no address')
	return { digest, problems: atMost(problems) }
}

/**
 * The first record is a header, or a row as the others are. Null: a header, or a row with a problem, which is reported.
 * `no CSV`: reports what all lines have wrong.
 */
function createRecordReader(chainId: number | null, report: Report) {
	const tagLists = new Map<string, readonly string[]>()
	/** The same array for the same text, since most lines of a file share a few lists of tags. */
	const readTags = (text: string) => {
		const words = () => text.split(/[;\s]+/).filter((word) => word !== '')
		const tags = tagLists.get(text) ?? Object.freeze([...new Set(words().map(readLine))])
		tagLists.set(text, tags)
		return tags
	}
	let columns: readonly string[] | null = null

	function readRow({ fields, placeOf }: CsvRecord, names: readonly string[]): AddressRow | null {
		if (fields.length > names.length) {
			const advice = 'take it out, or quote a label with a comma'
			report(placeOf(names.length), `the columns are ${names.join(', ')}, and here is one more: ${advice}`)
			return null
		}
		const read = <Value>(column: Column, reader: (text: string) => Value): Value | undefined => {
			const index = names.indexOf(column)
			try {
				return reader(fields[index] ?? '')
			} catch (error) {
				if (!(error instanceof RangeError)) throw error
				report(placeOf(fields[index] === undefined ? 0 : index), `\`${column}\` ${error.message}`)
				return undefined
			}
		}
		const address = read('address', (text) => readAddress(text, chainId))
		const label = read('label', (text) => (text === '' ? null : readLine(text)))
		const tags = read('tags', readTags)
		if (address === undefined || label === undefined || tags === undefined) return null
		return { address, label, tags, place: placeOf(names.indexOf('address')) }
	}

	return (record: CsvRecord): AddressRow | null | 'no CSV' => {
		const { fields, placeOf } = record
		if (columns === null && fields.some((text) => text.toLowerCase() === 'address')) {
			columns = readHeader(record, report)
			return null
		}
		if (columns === null && /^(?!0x)|^0x[^;|]*[;\t|]/i.test(fields[0] ?? '')) {
			const form = `${columnNames.join(', ')}, separated by commas, in this order or as a header has it`
			report(placeOf(0), `the file must be CSV: ${form}`)
			return 'no CSV'
		}
		columns ??= columnNames
		return readRow(record, columns)
	}
}

function readHeader({ fields, placeOf }: CsvRecord, report: Report): readonly string[] {
	const columns = fields.map((text) => text.toLowerCase())
	for (const [index, name] of columns.entries()) {
		const key = shownKey(fields[index] ?? name)
		if (!columnNames.some((known) => known === name)) {
			const known = `the columns are ${columnNames.join(', ')}`
			report(placeOf(index), `unknown column ${key}${suggestion(name, columnNames)}; ${known}`)
		} else if (columns.indexOf(name) !== index) report(placeOf(index), `the column ${key} is listed twice`)
	}
	return columns
}

function readAddress(text: string, chainId: number | null): Address {
	if (text === '') throw new RangeError('is missing')
	return parseAddress(text, chainId)
}
