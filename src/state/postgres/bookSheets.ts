/**
 * The step that brings books of a row each into sheets. All of it is one transaction: a kill leaves the rows as they
 * were.
 */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { packOldBooks } from '../oldBooks.js'
import type { Ask } from './database.js'

const AT_ONCE = 5_000
const PER_SHEET = 60

/**
 * An older program that goes on running would write what nobody reads, and read what nobody writes: with every commit
 * it reads the network again, since the revision is another, and comes upon these words.
 */
const BEFORE = `
	lock table tracewatch.network, tracewatch.book in access exclusive mode;
	create table tracewatch.book_sheet (
		network text not null,
		sheet int not null,
		-- Up to 60, as src/state/oldBooks.ts packs them.
		books bytea not null,
		primary key (network, sheet)
	);
	-- They do not get smaller by it.
	alter table tracewatch.book_sheet alter column books set storage external;
	declare rows_of_books no scroll cursor for
		select network, address, block, balance, moved, code from tracewatch.book
		order by network, address`
const AFTER = `
	close rows_of_books;
	drop table tracewatch.book;
	create function tracewatch.brought_up_to_date()
		returns table (network text, address text, block numeric, balance numeric, moved numeric, code text)
		language plpgsql as $$ begin
			raise exception 'its tables were brought up to date by a newer tracewatch: install that one here too';
		end $$;
	create view tracewatch.book as select * from tracewatch.brought_up_to_date();
	update tracewatch.network set revision = revision + 1`
const INSERT =
	'insert into tracewatch.book_sheet (network, sheet, books) select * from unnest($1::text[], $2::int[], $3::bytea[])'

interface BookRow {
	readonly network: string
	readonly address: Address
	readonly block: string
	readonly balance: string
	readonly moved: string
	/** Empty: it has none; null: not known. */
	readonly code: string | null
}

/** Inside a transaction. */
export async function rowsToSheets(ask: Ask): Promise<void> {
	await ask(BEFORE)
	let open = new Map<Address, Book>()
	let [network, sheet] = ['', 0]
	for (let isEnd = false; !isEnd; ) {
		const rows = await ask<BookRow>(`fetch ${AT_ONCE} from rows_of_books`)
		isEnd = rows.length === 0
		const full: { readonly network: string; readonly sheet: number; readonly books: Buffer }[] = []
		const close = () => {
			if (open.size > 0) full.push({ network, sheet: ++sheet, books: packOldBooks(open) })
			open = new Map()
		}
		for (const row of rows) {
			if (row.network !== network) {
				close()
				network = row.network
				sheet = 0
			}
			open.set(row.address, bookOf(row))
			if (open.size === PER_SHEET) close()
		}
		if (isEnd) close()
		if (full.length === 0) continue
		await ask(INSERT, [full.map((one) => one.network), full.map((one) => one.sheet), full.map((one) => one.books)])
	}
	await ask(AFTER)
}

function bookOf({ block, balance, moved, code }: BookRow): Book {
	const mark = code === null ? {} : { code: code === '' ? null : code }
	return { block: BigInt(block), balanceWei: BigInt(balance), movedWei: BigInt(moved), ...mark }
}
