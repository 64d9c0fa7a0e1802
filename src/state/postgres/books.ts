/** Books of addresses: rows and back, in pieces of bounded size. */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { bookTableOf } from '../bookTable.js'
import type { Ask } from './database.js'
import { pieces } from './pieces.js'

interface BookRow {
	readonly address: Address
	readonly block: string
	readonly balance: string
	readonly moved: string
	/** Empty: it has none; null: not known. */
	readonly code: string | null
}

export async function readBooks(ask: Ask, network: string): Promise<ReadonlyMap<Address, Book>> {
	const rows = await ask<BookRow>(
		'select address, block, balance, moved, code from tracewatch.book where network = $1 order by address',
		[network],
	)
	const books = new Map(
		rows.map(({ address, block, balance, moved, code }) => [
			address,
			{
				block: BigInt(block),
				balanceWei: BigInt(balance),
				movedWei: BigInt(moved),
				...(code !== null && { code: code === '' ? null : code }),
			},
		]),
	)
	return books.size === 0 ? books : bookTableOf(books)
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
