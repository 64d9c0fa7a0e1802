/**
 * Books of addresses in sheets: a row holds up to 57 of them as `packBooks` makes them, 34 bytes each at most as a
 * rule, where a row of its own takes 180. A sheet is a run of places in the table in memory, whose order is that of the
 * sheets: what has its turn together stands together, and a step writes the sheets that it touches.
 */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { type BookTable, createBookGatherer } from '../bookTable.js'
import type { Ask } from './database.js'
import { pieces } from './pieces.js'

/**
 * Books a sheet. An account with code and some coins takes 34 bytes, and four rows of these fill a page of the
 * database. A row that is larger is kept apart in pieces, and three of them fill a page.
 */
export const PER_SHEET = 57
/** Sheets of one question or statement: about a megabyte. */
const AT_ONCE = 500

/** Which places of the table stand in which sheets; of the places after those that were read it follows by itself. */
export interface SheetPlan {
	/** First place of each, in order. */
	readonly starts: readonly number[]
	/** Of each the row that holds it, and those after it that hold what is too little for a row of its own. */
	readonly rows: readonly (readonly number[])[]
}

export const noSheets: SheetPlan = { starts: [], rows: [] }

interface SheetRow {
	readonly sheet: number
	readonly books: Buffer
}

export interface ReadBooks {
	readonly books: ReadonlyMap<Address, Book>
	readonly sheets: SheetPlan
}

/** Some at a time, and packed: there may be a million. */
export async function readBooks(ask: Ask, network: string): Promise<ReadBooks> {
	const [{ count } = { count: 0 }] = await ask<{ readonly count: number }>(
		'select count(*)::int as count from tracewatch.sheet where network = $1',
		[network],
	)
	const gatherer = createBookGatherer(count * PER_SHEET)
	const starts: number[] = []
	const rows: number[][] = []
	for (let after = 0; ; ) {
		const found = await ask<SheetRow>(
			`select sheet, books from tracewatch.sheet
			where network = $1 and sheet > $2 order by sheet limit ${AT_ONCE}`,
			[network, after],
		)
		for (const { sheet, books } of found) {
			const start = gatherer.size()
			gatherer.add(books)
			const before = rows.at(-1)
			if (before !== undefined && gatherer.size() - (starts.at(-1) ?? 0) <= PER_SHEET) before.push(sheet)
			else {
				starts.push(start)
				rows.push([sheet])
			}
		}
		after = found.at(-1)?.sheet ?? 0
		if (found.length < AT_ONCE) break
	}
	return rows.length === 0
		? { books: new Map(), sheets: noSheets }
		: { books: gatherer.done(), sheets: { starts, rows } }
}

/** Writes the sheets that hold, or held, the books of these; gives how many. */
export async function writeBooks(
	ask: Ask,
	network: string,
	books: BookTable,
	plan: SheetPlan,
	changed: Iterable<Address>,
): Promise<number> {
	const touched = new Set<number>()
	for (const address of changed) {
		const place = books.placeOf(address)
		if (place !== -1) touched.add(sheetOf(plan, place))
	}
	for (const some of pieces([...touched].sort(ascending), AT_ONCE)) {
		const [gone, sheets, packed]: [number[], number[], Buffer[]] = [[], [], []]
		for (const index of some) {
			const { from, to, rows } = boundsOf(plan, index)
			const [first = 0, ...others] = rows
			const bytes = books.packed(from, to)
			gone.push(...others)
			if (bytes === null) gone.push(first)
			else {
				sheets.push(first)
				packed.push(bytes)
			}
		}
		if (gone.length > 0) {
			await ask('delete from tracewatch.sheet where network = $1 and sheet = any($2)', [network, gone])
		}
		if (sheets.length > 0) await ask(INSERT, [network, sheets, packed])
	}
	return touched.size
}

const INSERT = `
	insert into tracewatch.sheet (network, sheet, books) select $1, * from unnest($2::int[], $3::bytea[])
	on conflict (network, sheet) do update set books = excluded.books`

function sheetOf({ starts }: SheetPlan, place: number): number {
	const last = starts.length - 1
	const end = (starts[last] ?? 0) + (last === -1 ? 0 : PER_SHEET)
	if (place >= end) return starts.length + Math.floor((place - end) / PER_SHEET)
	let [low, high] = [0, last]
	while (low < high) {
		const middle = Math.ceil((low + high) / 2)
		if ((starts[middle] ?? 0) <= place) low = middle
		else high = middle - 1
	}
	return low
}

/** Its places (`to` is not among them) and its rows. */
function boundsOf({ starts, rows }: SheetPlan, index: number) {
	const last = starts.length - 1
	if (index <= last) {
		const from = starts[index] ?? 0
		return { from, to: index === last ? from + PER_SHEET : (starts[index + 1] ?? 0), rows: rows[index] ?? [] }
	}
	const beyond = index - starts.length
	const from = (starts[last] ?? 0) + (last === -1 ? 0 : PER_SHEET) + beyond * PER_SHEET
	return { from, to: from + PER_SHEET, rows: [(rows.at(-1)?.at(-1) ?? 0) + 1 + beyond] }
}

function ascending(one: number, other: number): number {
	return one - other
}
