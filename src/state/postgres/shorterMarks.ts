/**
 * The step that brings sheets of 60 books with marks of 8 bytes into sheets of fewer books with shorter marks. All of
 * it is one transaction: a kill leaves the sheets as they were.
 */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { packBooks } from '../bookFormat.js'
import { freshKey } from '../codeMark.js'
import { unpackOldBooks } from '../oldBooks.js'
import type { Ask } from './database.js'

const AT_ONCE = 200
const PER_SHEET = 57

/** An older program that goes on running comes upon the words of the view, as in `bookSheets.ts`. */
const BEFORE = `
	lock table tracewatch.network, tracewatch.book_sheet in access exclusive mode;
	create table tracewatch.sheet (
		network text not null,
		sheet int not null,
		-- As src/state/bookFormat.ts packs them.
		books bytea not null,
		primary key (network, sheet)
	);
	-- They do not get smaller by it.
	alter table tracewatch.sheet alter column books set storage external;
	declare sheets_of_books no scroll cursor for
		select network, books from tracewatch.book_sheet order by network, sheet`
const AFTER = `
	close sheets_of_books;
	drop table tracewatch.book_sheet;
	create function tracewatch.brought_up_to_date_again()
		returns table (network text, sheet int, books bytea)
		language plpgsql as $$ begin
			raise exception 'its tables were brought up to date by a newer tracewatch: install that one here too';
		end $$;
	create view tracewatch.book_sheet as select * from tracewatch.brought_up_to_date_again();
	update tracewatch.network set revision = revision + 1`
const INSERT =
	'insert into tracewatch.sheet (network, sheet, books) select * from unnest($1::text[], $2::int[], $3::bytea[])'

/** Inside a transaction. */
export async function toShorterMarks(ask: Ask): Promise<void> {
	await ask(BEFORE)
	let open = new Map<Address, Book>()
	let [network, sheet, key] = ['', 0, freshKey()]
	for (let isEnd = false; !isEnd; ) {
		const rows = await ask<{ network: string; books: Buffer }>(`fetch ${AT_ONCE} from sheets_of_books`)
		isEnd = rows.length === 0
		const full: { readonly network: string; readonly sheet: number; readonly books: Buffer }[] = []
		const close = () => {
			if (open.size > 0) full.push({ network, sheet: ++sheet, books: packBooks(open, key) })
			open = new Map()
		}
		for (const row of rows) {
			if (row.network !== network) {
				close()
				;[network, sheet, key] = [row.network, 0, freshKey()]
			}
			for (const [address, book] of unpackOldBooks(row.books)) {
				open.set(address, book)
				if (open.size === PER_SHEET) close()
			}
		}
		if (isEnd) close()
		if (full.length === 0) continue
		await ask(INSERT, [full.map((one) => one.network), full.map((one) => one.sheet), full.map((one) => one.books)])
	}
	await ask(AFTER)
}
