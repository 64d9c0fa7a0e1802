/** Books of addresses: rows and back, in pieces of bounded size. */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { packBooks } from '../bookFormat.js'
import { createBookGatherer } from '../bookTable.js'
import type { Ask } from './database.js'
import { pieces } from './pieces.js'

/** Rows of one question. */
const PAGE = 5_000

interface BookRow {
	readonly address: Address
	readonly block: string
	readonly balance: string
	readonly moved: string
	/** Empty: it has none; null: not known. */
	readonly code: string | null
}

/** A page at a time, and packed: there may be a million. */
export async function readBooks(ask: Ask, network: string): Promise<ReadonlyMap<Address, Book>> {
	const gatherer = createBookGatherer()
	let count = 0
	for (let after = ''; ; ) {
		const rows = await ask<BookRow>(
			`select address, block, balance, moved, code from tracewatch.book
			where network = $1 and address > $2 order by address limit ${PAGE}`,
			[network, after],
		)
		if (rows.length > 0) gatherer.add(packBooks(new Map(rows.map((row) => [row.address, bookOf(row)]))))
		count += rows.length
		after = rows.at(-1)?.address ?? ''
		if (rows.length < PAGE) return count === 0 ? new Map() : gatherer.done()
	}
}

function bookOf({ block, balance, moved, code }: BookRow): Book {
	const mark = code === null ? {} : { code: code === '' ? null : code }
	return { block: BigInt(block), balanceWei: BigInt(balance), movedWei: BigInt(moved), ...mark }
}

/** Writes books that changed; null: gone. */
export async function writeBooks(ask: Ask, network: string, changes: ReadonlyMap<Address, Book | null>): Promise<void> {
	const gone = [...changes].flatMap(([address, book]) => (book === null ? [address] : []))
	if (gone.length > 0) {
		await ask('delete from tracewatch.book where network = $1 and address = any($2)', [network, gone])
	}
	for (const piece of pieces(
		[...changes].flatMap(([address, book]) => (book === null ? [] : [[address, book] as const])),
	)) {
		await ask(
			`insert into tracewatch.book (network, address, block, balance, moved, code)
			select $1, * from unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::text[])
			on conflict (network, address) do update set
				block = excluded.block, balance = excluded.balance, moved = excluded.moved,
				code = excluded.code`,
			[
				network,
				piece.map(([address]) => address),
				piece.map(([, { block }]) => String(block)),
				piece.map(([, { balanceWei }]) => String(balanceWei)),
				piece.map(([, { movedWei }]) => String(movedWei)),
				piece.map(([, { code }]) => (code === undefined ? null : (code ?? ''))),
			],
		)
	}
}
