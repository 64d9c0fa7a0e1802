/** Books of addresses: rows and back, in pieces of bounded size. */

import type { Book } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import type { Ask } from './database.js'
import { pieces } from './pieces.js'

interface BookRow {
	readonly address: Address
	readonly block: string
	readonly balance: string
	readonly moved: string
}

export async function readBooks(ask: Ask, network: string): Promise<ReadonlyMap<Address, Book>> {
	const rows = await ask<BookRow>(
		'select address, block, balance, moved from tracewatch.book where network = $1 order by address',
		[network],
	)
	return new Map(
		rows.map(({ address, block, balance, moved }) => [
			address,
			{ block: BigInt(block), balanceWei: BigInt(balance), movedWei: BigInt(moved) },
		]),
	)
}

/** Writes what is in `after` and not in `before`, and takes away what is gone. */
export async function writeBooks(
	ask: Ask,
	network: string,
	before: ReadonlyMap<Address, Book>,
	after: ReadonlyMap<Address, Book>,
): Promise<void> {
	if (before === after) return
	const gone = [...before.keys()].filter((address) => !after.has(address))
	if (gone.length > 0) {
		await ask('delete from tracewatch.book where network = $1 and address = any($2)', [network, gone])
	}
	for (const piece of pieces([...after].filter(([address, book]) => before.get(address) !== book))) {
		await ask(
			`insert into tracewatch.book (network, address, block, balance, moved)
			select $1, * from unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[])
			on conflict (network, address) do update set
				block = excluded.block, balance = excluded.balance, moved = excluded.moved`,
			[
				network,
				piece.map(([address]) => address),
				piece.map(([, { block }]) => String(block)),
				piece.map(([, { balanceWei }]) => String(balanceWei)),
				piece.map(([, { movedWei }]) => String(movedWei)),
			],
		)
	}
}
